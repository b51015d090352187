"""A user's SQL reads the tables of one file, within its limits, and does nothing else."""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from domain.errors import BadQuery, QueryStopped, StoreIsDamaged
from projections.analytics.asking.sandbox import Limits, Sandbox, guarded, sandboxed
from tests.projections.analytics import hostile

ROOT = Path(__file__).parents[3]
SMALL = Limits(seconds=0.3, memory=200_000_000, threads=1)
PATIENT = Limits(seconds=60, memory=200_000_000, threads=2)
"""What is not about time has enough of it, also on a machine that is busy."""
SECRET = "xyzzy"  # noqa: S105 — what the attacks look for

CHILD = """
import sys
from pathlib import Path
from domain.errors import LogosphereError
from projections.analytics.asking.sandbox import Limits, guarded, sandboxed

def ask(sandbox, sql):
    try:
        print("rows", sum(1 for _ in sandbox.ask(sql).rows))
    except LogosphereError as error:
        print(type(error).__name__, error.sentence, flush=True)
"""
"""What the processes share that the tests start."""


def each(statements: dict[str, str]) -> pytest.MarkDecorator:
    """One test for each statement."""
    return pytest.mark.parametrize("sql", statements.values(), ids=statements)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database, and beside it files with a secret."""
    home = tmp_path_factory.mktemp("template")
    (home / "secret.txt").write_text(f"{SECRET}\n")
    (home / "secret.csv").write_text(f"word,{SECRET}\n{SECRET},1\n")
    (home / "secret.json").write_text(f'[{{"word": "{SECRET}"}}]')
    (home / "rows.csv").write_text("9,new\n")
    with duckdb.connect(str(home / "other.duckdb")) as other:
        other.execute("CREATE TABLE t AS SELECT ? AS word", [SECRET])
        other.table("t").write_parquet(str(home / "secret.parquet"))
    with duckdb.connect(str(home / "history.duckdb")) as made:
        made.execute("CREATE TABLE words AS SELECT range AS n, 'w' || range AS word FROM range(5)")
    shutil.copy(home / "history.duckdb", home / "small.duckdb")
    return home


@pytest.fixture
def home(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, as the working directory."""
    monkeypatch.setenv("SECRET_OF_THE_TEST", SECRET)
    home = Path(shutil.copytree(template, tmp_path / "home"))
    monkeypatch.chdir(home)
    return home


@pytest.fixture
def file(home: Path) -> Path:
    """The database."""
    return home / "history.duckdb"


@pytest.fixture
def sandbox(file: Path) -> Iterator[Sandbox]:
    """The database, open to a user."""
    with sandboxed(file, PATIENT) as opened:
        yield opened


@pytest.fixture(scope="module")
def hardened(template: Path) -> Iterator[Sandbox]:
    """One sandbox that all attacks are tried on, one after the other."""
    with sandboxed(template / "history.duckdb", PATIENT) as opened:
        yield opened


@pytest.fixture(scope="module")
def hurried(template: Path) -> Iterator[Sandbox]:
    """One sandbox of small limits that all bombs are thrown at."""
    with sandboxed(template / "small.duckdb", SMALL) as opened:
        yield opened


def everything(folder: Path) -> dict[str, str]:
    """What lies in a folder: each file with the hash of what it holds."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def bare(sql: str, *, writing: bool) -> list[Any]:
    """What a statement gives without the sandbox; a variable holds the secret, as in a notebook."""
    frame = pa.table({"word": [SECRET]})
    with duckdb.connect("history.duckdb", read_only=not writing) as connection:
        return [frame.num_rows, connection.execute(sql).fetchall()]


def rows(sandbox: Sandbox, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
    """All rows of an answer."""
    return list(sandbox.ask(sql, parameters).rows)


def child(
    file: Path, limits: Limits, code: str, before: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run code in a process that is about one query; a minute is far more than it may take."""
    opened = f"with sandboxed(Path({str(file)!r}), Limits{tuple(limits)}) as sandbox:\n    "
    return subprocess.run(
        [sys.executable, "-"],
        input=CHILD + before + opened + code,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_the_list_is_long_enough() -> None:
    """There are many ways to try, and no two are the same."""
    lists = (hostile.READS, hostile.WRITES, hostile.CHANGES, hostile.REACHES)
    bombs = (hostile.BOMBS, hostile.HUGE, hostile.SLEEPS)
    statements = [sql for told in (*lists, *bombs) for sql in told.values()]
    assert len(set(statements)) == len(statements) > 100


@each(hostile.READS | hostile.WRITES | hostile.CHANGES | hostile.REACHES)
def test_what_is_more_than_reading_is_refused(
    template: Path, hardened: Sandbox, monkeypatch: pytest.MonkeyPatch, sql: str
) -> None:
    """Nothing is read beside the tables, nothing is written, and the next query is answered."""
    frame = pa.table({"word": [SECRET]})
    monkeypatch.setenv("SECRET_OF_THE_TEST", SECRET)
    monkeypatch.chdir(template)
    before = everything(template)
    for ask in (lambda: rows(hardened, sql), lambda: list(hardened.batches(sql).batches)):
        with pytest.raises(BadQuery) as refused:
            ask()
        assert SECRET not in refused.value.sentence
    assert rows(hardened, "FROM words WHERE n = 3") == [(3, "w3")]
    assert rows(hardened, "SELECT current_setting('max_execution_time')") == [(60_000,)]
    assert everything(template) == before
    assert frame.num_rows == 1


@each(hostile.READS)
def test_without_the_sandbox_it_reads(home: Path, sql: str) -> None:
    """The list of what reads holds what reads."""
    assert SECRET in str(bare(sql.replace("SECRET", SECRET), writing=False)) or "secret" in str(
        bare(sql, writing=False)
    )


@each(hostile.WRITES)
def test_without_the_sandbox_it_writes(home: Path, sql: str) -> None:
    """The list of what writes holds what writes."""
    before = everything(home)
    bare(sql, writing=True)
    assert everything(home) != before


@each(hostile.CHANGES)
def test_without_the_sandbox_it_changes(home: Path, sql: str) -> None:
    """The list of what changes settings holds what DuckDB does when asked."""
    with duckdb.connect() as connection:
        connection.execute(sql).fetchall()


@each(hostile.SHOWS)
def test_what_is_let_through_tells_nothing(
    template: Path, hardened: Sandbox, monkeypatch: pytest.MonkeyPatch, sql: str
) -> None:
    """What a query can ask about DuckDB itself holds no secret, and asking changes nothing."""
    monkeypatch.setenv("SECRET_OF_THE_TEST", SECRET)
    monkeypatch.chdir(template)
    before = everything(template)
    assert SECRET not in str(rows(hardened, sql))
    assert everything(template) == before


@each(hostile.BOMBS)
def test_what_is_too_much_is_stopped(hurried: Sandbox, sql: str) -> None:
    """A query that runs past its time or memory ends, and the next one is answered."""
    with pytest.raises(QueryStopped, match=r"longer than 0\.3 s|more than 191 MiB of memory"):
        for _ in hurried.ask(sql).rows:
            pass
    assert rows(hurried, "SELECT 42") == [(42,)]


@pytest.mark.parametrize("name", ["a cross join", "rows without end", "a list"])
def test_what_is_too_much_is_stopped_as_arrow(hurried: Sandbox, name: str) -> None:
    """The limits hold for batches too."""
    with pytest.raises(QueryStopped, match=r"longer than 0\.3 s|more than 191 MiB of memory"):
        for _ in hurried.batches(hostile.BOMBS[name]).batches:
            pass
    assert rows(hurried, "SELECT 42") == [(42,)]


@pytest.mark.parametrize("name", ["a list", "a sort", "a grouping", "a text"])
def test_memory_is_bounded_whatever_the_time(hardened: Sandbox, name: str) -> None:
    """A query that has a minute still has no more than its memory."""
    with pytest.raises(QueryStopped, match="more than 191 MiB of memory"):
        for _ in hardened.ask(hostile.BOMBS[name]).rows:
            pass
    assert rows(hardened, "SELECT 42") == [(42,)]


@pytest.mark.skipif(sys.platform != "linux", reason="addresses are bounded on Linux")
def test_one_call_can_not_take_all_memory(file: Path) -> None:
    """In a process about one query, a huge text or list is refused its room, and nothing dies."""
    asked = "".join(f"        ask(sandbox, {sql!r})\n" for sql in hostile.HUGE.values())
    done = child(file, PATIENT, f"with guarded(Limits{tuple(PATIENT)}):\n{asked}")
    told = done.stdout.splitlines()
    assert len(told) == len(hostile.HUGE)
    assert all("more than 191 MiB of memory" in line for line in told), done.stdout
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("sql", "code"),
    [(sql, 0) for sql in hostile.SLEEPS.values()] + [(hostile.STUCK, 124)],
    ids=[*hostile.SLEEPS, "stuck"],
)
def test_one_call_can_not_take_all_time(file: Path, sql: str, code: int) -> None:
    """A call that hears of no limit is interrupted, or left behind and ended with the process."""
    done = child(file, SMALL, f"ask(sandbox, {sql!r})\nprint('the block was left')")
    assert done.stdout.splitlines() == [
        (
            "QueryStopped The query ran longer than 0.3 s and was stopped: ask for less, or give it"
            " more time."
        ),
        "the block was left",
    ]
    assert (done.returncode, done.stderr) == (code, "")


KICK = f"""
import os, threading
def kick(n):
    os.kill(os.getpid(), {int(signal.SIGINT)})
    return n
def kick_soon(n):
    threading.Timer(0.5, kick, [n]).start()
    return n
"""
"""Functions for SQL that press Ctrl-C, so that the query runs for certain when that comes."""


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT count(CASE a.range WHEN 1 THEN kick(1) ELSE b.range END) FROM RANGES", 0),
        ("SELECT CASE a.range WHEN 99999 THEN kick(1) ELSE b.range END FROM RANGES", 0),
        ("SELECT sleep_ms(kick_soon(600000))", 0),
        (hostile.STUCK.replace("200000", "kick_soon(200000)", 1), 124),
    ],
    ids=["before the first row", "between rows", "in a sleep", "stuck"],
)
def test_ctrl_c_stops_a_query(file: Path, sql: str, code: int) -> None:
    """A query that runs is broken off, and the next one is answered; none if that hears nothing."""
    sql = sql.replace("RANGES", "range(10000000) a, range(10000000) b")
    next_one = "" if code else '    ask(sandbox, "FROM words")\n'
    done = child(
        file,
        PATIENT,
        f"""sandbox._connection.create_function("kick", kick, ["BIGINT"], "BIGINT")
    sandbox._connection.create_function("kick_soon", kick_soon, ["BIGINT"], "BIGINT")
    ask(sandbox, {sql!r})
{next_one}print("the block was left")
""",
        before=KICK,
    )
    assert done.stdout.splitlines() == [
        "QueryStopped The query was broken off: nothing has changed.",
        *([] if code else ["rows 5"]),
        "the block was left",
    ], done.stderr
    assert done.returncode == code


def test_an_answer_comes_as_it_is_taken(sandbox: Sandbox) -> None:
    """A result of a trillion rows gives its first one at once."""
    endless = "SELECT a.range AS n FROM range(1000000) a, range(1000000) b"
    answer = sandbox.ask(endless)
    assert answer.columns == (("n", "BIGINT"),)
    assert isinstance(next(answer.rows)[0], int)
    told = sandbox.batches(endless)
    assert told.schema == pa.schema({"n": pa.int64()})
    assert next(told.batches).num_rows > 0


def test_what_is_not_read_to_its_end_keeps_nobody_out(file: Path) -> None:
    """Once the block is left, the file can be written again by the same process."""
    done = child(
        file,
        PATIENT,
        """rows = sandbox.ask("FROM range(100000000)").rows
    batches = sandbox.batches("FROM range(100000000)").batches
    unread = sandbox.batches("FROM range(100000000)")
    print(next(rows), next(batches).num_rows > 0)
import duckdb
with duckdb.connect("FILE") as written:
    print(written.execute("INSERT INTO words VALUES (9, 'new')").fetchall())
try:
    print(list(rows))
except LogosphereError as error:
    print(error.sentence)
""".replace("FILE", str(file)),
    )
    assert done.stdout.splitlines() == [
        "(0,) True",
        "[(1,)]",
        "The answer ended with its block: take all rows inside of it.",
    ], done.stderr


def test_several_answers_at_once(file: Path) -> None:
    """Answers and sandboxes of one process do not disturb each other."""
    with sandboxed(file, PATIENT) as one, sandboxed(file, PATIENT) as other:
        words = one.ask("FROM words ORDER BY n").rows
        assert next(words) == (0, "w0")
        assert rows(one, "SELECT 1") == [(1,)]
        assert rows(other, "SELECT 2") == [(2,)]
        assert next(words) == (1, "w1")
        with pytest.raises(BadQuery):
            rows(other, hostile.READS["a text file"])


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT n FROM words ORDER BY n LIMIT 1",
        "select n from words order by n limit 1;",
        " -- the first\nFROM (SELECT n FROM words) ORDER BY 1 LIMIT 1;\n;",
        "WITH w AS (FROM words) SELECT n FROM w WHERE n = 0",
        "(SELECT 0::BIGINT)",
        "VALUES (0::BIGINT)",
        "SELECT words.n FROM words ANTI JOIN range(1, 9) AS r(n) ON words.n = r.n",
        "PIVOT (SELECT 0::BIGINT AS a, 'x' AS b) ON b IN ('y') USING count(*)",
    ],
)
def test_what_reads_is_answered(sandbox: Sandbox, sql: str) -> None:
    """Each form of a query is one; rows and batches say the same."""
    assert rows(sandbox, sql)[0][0] == 0
    (batch,) = sandbox.batches(sql).batches
    assert batch.num_rows == 1


@pytest.mark.parametrize(
    "sql",
    [
        "DESCRIBE words",
        "SHOW TABLES",
        "SUMMARIZE words",
        "EXPLAIN FROM words",
        "EXPLAIN ANALYZE FROM words",
        "PIVOT words ON word USING count(*)",
        "UNPIVOT (SELECT 1 AS a, 2 AS b) ON a, b",
        "TABLE words",
    ],
)
def test_what_tells_about_tables_is_answered(sandbox: Sandbox, sql: str) -> None:
    """A user can find out what there is, and how a query is run."""
    told = rows(sandbox, sql)
    assert told
    assert sum(batch.num_rows for batch in sandbox.batches(sql).batches) == len(told)


def test_parameters_fill_the_places(sandbox: Sandbox) -> None:
    """Values come beside the text, in order or by name, for rows and for batches."""
    sql = "SELECT word FROM words WHERE n IN (?, $2) ORDER BY n".replace("?", "$1")
    assert rows(sandbox, sql, 1, 3) == [("w1",), ("w3",)]
    named = sandbox.batches("SELECT word FROM words WHERE n = $n", {"n": 4})
    assert [batch.to_pylist() for batch in named.batches] == [[{"word": "w4"}]]
    with pytest.raises(BadQuery, match="Values were not provided for the following parameters: n"):
        sandbox.ask("SELECT $n")


def test_no_rows_are_an_answer(sandbox: Sandbox) -> None:
    """Columns are known also where there are no rows."""
    nothing = "SELECT n, [1.5::FLOAT, 2]::FLOAT[2] AS v FROM words WHERE false"
    answer = sandbox.ask(nothing)
    assert (answer.columns, list(answer.rows)) == ((("n", "BIGINT"), ("v", "FLOAT[2]")), [])
    told = sandbox.batches(nothing)
    assert (told.schema.names, list(told.batches)) == (["n", "v"], [])


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        (
            "SELECT wrod FROM words",
            (
                'The query can\'t be run: Referenced column "wrod" not found in FROM clause!\n'
                'Candidate bindings: "word"\n'
                "LINE 1: SELECT wrod FROM words\n"
                "               ^^^^"
            ),
        ),
        (
            "FROM wrods",
            (
                "The query can't be run: Table with name wrods does not exist!\n"
                'Did you mean "words"?\n'
                "LINE 1: FROM wrods\n"
                "             ^^^^^"
            ),
        ),
        ("SELECT 1; SELECT 2", "There are 2 statements in this text: ask one."),
        (
            "DROP TABLE words",
            (
                "This statement is no query: write one SELECT, FROM, WITH, VALUES, PIVOT,"
                " DESCRIBE, SHOW, SUMMARIZE or EXPLAIN, which only reads."
            ),
        ),
        (
            hostile.WRITES["rows in a CTE"],
            (
                "A query can't change anything: write one SELECT, FROM, WITH, VALUES, PIVOT,"
                " DESCRIBE, SHOW, SUMMARIZE or EXPLAIN, which only reads."
            ),
        ),
        (
            hostile.READS["a text file"],
            (
                "A query reads the tables that SHOW TABLES lists: no files, no network, no"
                " extensions."
            ),
        ),
        (
            hostile.REACHES["a table of SQLite"],
            (
                'The query can\'t be run: Table Function with name "sqlite_scan" is not in the'
                " catalog, but it exists in the sqlite_scanner extension."
            ),
        ),
    ],
)
def test_what_is_wrong_is_told(sandbox: Sandbox, sql: str, sentence: str) -> None:
    """A refusal says what is wrong, where it stands, and what could have been meant."""
    with pytest.raises(BadQuery) as refused:
        sandbox.ask(sql)
    assert refused.value.sentence == sentence


def test_what_goes_wrong_late_is_told(sandbox: Sandbox) -> None:
    """An error in a late row ends the rows in the same kind of sentence."""
    sql = "SELECT CASE WHEN range = 900000 THEN error('late') ELSE '' END FROM range(1000000)"
    for answer in (sandbox.ask(sql).rows, sandbox.batches(sql).batches):
        with pytest.raises(BadQuery, match=r"^The query can't be run: late$"):
            for _ in answer:
                pass


def test_a_damaged_file_is_told(file: Path) -> None:
    """Rows that were damaged on the disk are never given as if they were sound."""
    with duckdb.connect(str(file)) as made:
        made.execute("CREATE TABLE many AS SELECT hash(range) AS h FROM range(200000)")
    data = bytearray(file.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 64] = bytes(64)
    file.write_bytes(data)
    with sandboxed(file, PATIENT) as sandbox, pytest.raises(StoreIsDamaged, match="mind rebuild"):
        rows(sandbox, "SELECT sum(h % 7) FROM many")


@pytest.mark.skipif(sys.platform != "linux", reason="addresses are bounded on Linux")
def test_the_bound_ends_with_the_block() -> None:
    """What the block takes too much is told as such; behind it the process has its room again."""
    import resource  # noqa: PLC0415 — not on every system

    before = resource.getrlimit(resource.RLIMIT_AS)
    with pytest.raises(QueryStopped, match="more than 191 MiB of memory"), guarded(SMALL):
        bytearray(1 << 40)
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_who_does_not_ask_pays_nothing() -> None:
    """The module is imported without DuckDB and Arrow."""
    code = CHILD + "print([name for name in ('duckdb', 'pyarrow') if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")
