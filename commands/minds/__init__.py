"""Minds: language models behind one small protocol, chosen by name."""
