"""Agents: drafted by role, spoken to turn by turn, sending out workers; all of it in the log."""
