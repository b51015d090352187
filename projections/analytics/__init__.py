"""The whole history as tables: questions in SQL, reports, charts."""
