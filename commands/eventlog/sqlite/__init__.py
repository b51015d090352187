"""The log in a file: SQLite, which every Python brings along."""
