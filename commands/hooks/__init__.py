"""Hooks: the user's own code around an iteration, recorded as an actor of its own."""
