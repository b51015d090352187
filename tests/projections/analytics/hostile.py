"""Statements that want more than a query may have; ``SECRET`` stands for what must stay unread.

Each list says how it is known to hold real attacks: what the statements do without the sandbox.
"""

READS = {
    "a text file": "SELECT content FROM read_text('secret.txt')",
    "a blob": "SELECT content::VARCHAR FROM read_blob('secret.txt')",
    "several files": "SELECT content FROM read_text(['secret.txt', 'secret.csv'])",
    "a glob": "SELECT content FROM read_text('*.txt')",
    "names of files": "SELECT * FROM glob('*')",
    "a CSV file": "SELECT * FROM read_csv('secret.csv')",
    "a CSV file by its name": "FROM 'secret.csv'",
    "a quoted file": 'SELECT * FROM "secret.csv"',
    "what a CSV file holds": "FROM sniff_csv('secret.csv')",
    "a JSON file": "SELECT * FROM read_json('secret.json')",
    "a JSON file by its name": "SELECT * FROM 'secret.json'",
    "a Parquet file": "SELECT * FROM read_parquet('secret.parquet')",
    "a Parquet file by its name": "SELECT * FROM 'secret.parquet'",
    "a Parquet file's columns": "SELECT name, stats_max_value FROM parquet_metadata('secret.parquet'), parquet_schema('secret.parquet')",  # noqa: E501
    "another database": "SELECT * FROM read_duckdb('other.duckdb')",
    "inside a CTE": "WITH x AS MATERIALIZED (SELECT content FROM read_text('secret.txt')) FROM x",
    "inside a subquery": "SELECT (SELECT content FROM read_text('secret.txt'))",
    "inside text as SQL": "FROM query('SELECT content FROM read_text(''secret.txt'')')",
    "a table by the name of a file": "FROM query_table('secret.csv')",
    "serialized SQL": "FROM json_execute_serialized_sql(json_serialize_sql('SELECT content FROM read_text(''secret.txt'')'))",  # noqa: E501
    "described": "SUMMARIZE FROM 'secret.csv'",
    "explained": "EXPLAIN ANALYZE SELECT * FROM read_csv('secret.csv') WHERE word = 'SECRET'",
    "a variable of Python": "SELECT * FROM frame",
    "a variable of Python, joined": "SELECT * FROM range(1), frame",
    "a variable of Python in a CTE": "WITH x AS (FROM frame) FROM x",
}
"""Without the sandbox, each gives the secret."""

WRITES = {
    "a table": "CREATE TABLE mine AS SELECT 1 AS a",
    "a view": "CREATE VIEW mine AS SELECT 1 AS a",
    "a schema": "CREATE SCHEMA mine",
    "a macro": "CREATE MACRO mine(a) AS a + 1",
    "a sequence": "CREATE SEQUENCE mine",
    "a type": "CREATE TYPE mine AS ENUM ('a')",
    "an index": "CREATE INDEX mine ON words (n)",
    "rows": "INSERT INTO words VALUES (9, 'new')",
    "rows in a CTE": "WITH d AS (INSERT INTO words VALUES (9, 'new') RETURNING *) SELECT * FROM d",
    "rows explained": "EXPLAIN ANALYZE INSERT INTO words VALUES (9, 'new')",
    "other rows": "UPDATE words SET word = 'new'",
    "other rows in a CTE": "WITH d AS (UPDATE words SET word = 'new' RETURNING *) FROM d",
    "fewer rows": "DELETE FROM words",
    "fewer rows in a CTE": "WITH d AS (DELETE FROM words RETURNING *) FROM d",
    "no rows": "TRUNCATE words",
    "merged rows": "MERGE INTO words USING (SELECT 9 AS n) s ON words.n = s.n WHEN NOT MATCHED THEN INSERT VALUES (9, 'new')",  # noqa: E501
    "no table": "DROP TABLE words",
    "another table": "ALTER TABLE words ADD COLUMN b INTEGER",
    "a comment": "COMMENT ON TABLE words IS 'new'",
    "a CSV file": "COPY words TO 'out.csv'",
    "a Parquet file": "COPY (SELECT 1 AS a) TO 'out.parquet' (FORMAT parquet)",
    "a copy explained": "EXPLAIN ANALYZE COPY words TO 'out.csv'",
    "rows from a file": "COPY words FROM 'rows.csv'",
    "all files": "EXPORT DATABASE 'out'",
    "a new database": "ATTACH 'new.duckdb'",
    "two statements": "SELECT 1; CREATE TABLE mine AS SELECT 1 AS a",
    "behind a comment": "/* SELECT 1 */ CREATE TABLE mine AS SELECT 1 AS a",
}
"""Without the sandbox, each leaves other tables, other rows or other files."""

CHANGES = {
    "a setting": "SET threads = 1",
    "a setting of all": "SET GLOBAL threads = 1",
    "a setting, back": "RESET threads",
    "memory": "SET memory_limit = '64GB'",
    "time": "SET max_execution_time = 0",
    "time, back": "RESET max_execution_time",
    "file systems": "SET disabled_filesystems = ''",
    "the lock": "SET lock_configuration = false",
    "a pragma": "PRAGMA threads = 1",
    "a pragma that asks": "PRAGMA database_list",
    "profiling": "PRAGMA enable_profiling",
    "profiling as a table": "FROM enable_profiling()",
    "a log": "CALL enable_logging()",
    "a log as a table": "FROM enable_logging()",
    "no log": "FROM disable_logging()",
    "a setting explained": "EXPLAIN ANALYZE SET threads = 1",
    "a variable": "SET VARIABLE mine = 1",
    "a temporary table": "CREATE TEMP TABLE mine AS SELECT 1 AS a",
    "a secret": "CREATE SECRET mine (TYPE http, BEARER_TOKEN 'x')",
    "a database in memory": "ATTACH ':memory:' AS mine",
    "another database": "ATTACH 'other.duckdb' AS mine (READ_ONLY)",
    "another catalog": "USE memory",
    "an extension": "LOAD json",
    "a transaction": "BEGIN",
    "a checkpoint": "CHECKPOINT",
    "the statistics": "ANALYZE",
    "a prepared statement": "PREPARE mine AS SELECT 1",
    "a call": "CALL range(3)",
}
"""Without the sandbox, each is done."""

REACHES = {
    "an extension from the net": "INSTALL httpfs",
    "an extension of somebody": "INSTALL quack FROM community",
    "an extension by its file": "LOAD './mine.duckdb_extension'",
    "new extensions": "UPDATE EXTENSIONS",
    "which extensions there are": "FROM duckdb_extensions()",
    "a web page": "SELECT * FROM read_text('http://localhost:9/a')",
    "a web page by its name": "FROM 'https://localhost:9/a.csv'",
    "an object store": "FROM 's3://bucket/a.parquet'",
    "a hub": "FROM 'hf://datasets/a/b.csv'",
    "the input": "FROM read_csv('/dev/stdin')",
    "the input by its number": "FROM read_text('/dev/fd/0')",
    "a database of SQLite": "ATTACH 'log.db' (TYPE sqlite)",
    "a table of SQLite": "FROM sqlite_scan('log.db', 'events')",
    "a server": "ATTACH 'host=localhost' AS pg (TYPE postgres)",
    "another file": "IMPORT DATABASE 'out'",
    "an open database": "DETACH history",
    "the environment": "SELECT getenv('SECRET_OF_THE_TEST')",
    "open secrets": "FROM duckdb_secrets(redact := false)",
    "an address": "FROM arrow_scan(1::UBIGINT, 1::UBIGINT, 1::UBIGINT)",
    "a frame by its address": "FROM pandas_scan(1::UBIGINT)",
    "serialized writing": "FROM json_execute_serialized_sql(json_serialize_sql('DROP TABLE words'))",  # noqa: E501
    "text that writes": "FROM query('DROP TABLE words')",
    "nothing": "",
    "nothing but a comment": "-- SELECT 1",
    "what is no SQL": "\x1b]0;mine\x07",
    "what is no text": "SELECT '\udc80'",
}
"""Refused; what they would do without the sandbox depends on the machine, or is nothing."""

SHOWS = {
    "secrets": "FROM duckdb_secrets()",
    "settings": "SELECT name, value FROM duckdb_settings()",
    "variables": "FROM duckdb_variables()",
    "databases": "SELECT database_name, path FROM duckdb_databases()",
    "logs": "FROM duckdb_logs()",
    "who": "SELECT current_user, session_user, current_query(), inet_client_addr()",
    "what was prepared": "FROM duckdb_prepared_statements()",
    "files in use": "SELECT * FROM duckdb_temporary_files()",
    "a checkpoint": "FROM checkpoint('history')",
    "a line for the log": "SELECT write_log('x')",
}
"""Let through, and harmless: they tell of the sandbox, and change nothing."""

BOMBS = {
    "a cross join": "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range * b.range % 7 = 3",  # noqa: E501
    "an endless recursion": "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t",  # noqa: E501
    "a growing recursion": "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t, range(9)) SELECT count(*) FROM t",  # noqa: E501
    "a doubling of CTEs": "WITH a AS (FROM range(100000)), b AS (SELECT a.range FROM a, a c), d AS (SELECT b.range FROM b, b c) SELECT sum(range) FROM d",  # noqa: E501
    "rows without end": "SELECT a.range FROM range(1000000000) a, range(1000) b",
    "a list": "SELECT list(range) FROM range(100000000)",
    "a text": "SELECT string_agg(repeat('x', 1000)) FROM range(10000000)",
    "a sort": "SELECT * FROM range(100000000) ORDER BY hash(range)",
    "a grouping": "SELECT range, count(*) FROM range(100000000) GROUP BY ALL",
    "distinct values": "SELECT count(DISTINCT hash(range)) FROM range(100000000)",
    "a window": "SELECT sum(range) OVER (ORDER BY hash(range)) FROM range(100000000)",
    "a join of texts": "SELECT count(*) FROM range(100000) a, range(100000) b WHERE levenshtein(a.range::VARCHAR, b.range::VARCHAR) = 1",  # noqa: E501
}
"""Stopped by the limits of DuckDB: 0.3 s, 200 MB."""

HUGE = {
    "a huge text": "SELECT repeat('x', 4000000000)",
    "a huge text, counted": "SELECT length(repeat('xy', 2000000000))",
    "a huge list, counted": "SELECT len(range(500000000))",
    "a formatted text": "SELECT printf('%2000000000d', 1)",
    "lists in a list": "SELECT len(list_transform(range(200000000), lambda x: range(x)))",
    "a joined list": "SELECT array_to_string(range(400000000), ',')",
    "nested JSON": "SELECT json_object('a', repeat('x', 2000000000))",
    "a long list": "SELECT list_resize([1], 4000000000, 1)",
    "brackets": f"SELECT {'[' * 100_000}1{']' * 100_000}",
}
"""One call that takes memory which DuckDB does not count: stopped where addresses are bounded."""

SLEEPS = {
    "one sleep": "SELECT sleep_ms(600000)",
    "many sleeps": "SELECT sleep_ms(200) FROM range(100000)",
    "a sleep of PostgreSQL": "SELECT pg_sleep(600)",
}
"""One call that hears of no limit, but of an interrupt."""

STUCK = "SELECT levenshtein(repeat('a', 200000), repeat('b', 200000))"
"""One call that hears of nothing: left behind, and ended with the process."""
