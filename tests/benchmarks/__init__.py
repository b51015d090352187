"""Speed and size of the log, measured beside a floor that SQLite alone sets, in the same run."""
