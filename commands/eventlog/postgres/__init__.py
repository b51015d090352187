"""The log on a PostgreSQL server, or on a primary with its standbys.

The same rows in the same order as in a file. ``layout.sql`` is all that stands on the server:
tables, guards, and the function that appends. docs/decisions/postgres.md says why it is not the
library's recorder.
"""
