"""Views that workers keep beside the log: rows that follow it event by event, exactly once.

``view.py`` says what a view is, ``ours.py`` holds the ones that are built in, ``shards.py`` divides
the work, ``worker.py`` does it, ``sqlite.py`` and ``postgres.py`` keep the rows.
"""
