"""Wishes become events: commands and everything that acts on the outside world."""
