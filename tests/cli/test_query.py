"""`mind query`: the history in SQL, in every format, with one sentence where it can't be."""

import csv
import fcntl
import io
import json
import os
import pty
import shutil
import signal
import string
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.answers import Look, csv_lines, table_lines
from commands.eventlog import EventLog
from tests.cli.conftest import MIND, Mind, lived
from tests.commands.eventlog.stores import MAIN, begin, branch, grow

pa = pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")
import pyarrow.parquet as pq  # noqa: E402 — only where Arrow is

from projections.analytics.asking.catalog import Example, columns_query, examples  # noqa: E402
from projections.analytics.asking.questions import questions  # noqa: E402
from projections.analytics.asking.sandbox import Limits  # noqa: E402

HOSTILE = "a,\"b\"\r\n\x1b]0;owned\x07\x9b31m\u202egnp 'τ' 日本 \t x"
KINDS = "SELECT kind, count(*) AS n FROM events GROUP BY kind ORDER BY kind"


@pytest.fixture
def mind(within: Mind) -> Mind:
    """Within this process: these tests ask many commands."""
    return within


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose first exchange has two drafts and a word about them, the second accepted."""
    home = tmp_path_factory.mktemp("template")
    return lived(home, ("run", "3"), ("accept", "2"), ("query", "SELECT 1"))


@pytest.fixture
def run(mind: Mind, template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mind:
    """Runs `mind` on a copy of it, of which something was asked before."""
    shutil.copytree(template, tmp_path / "thinking")
    monkeypatch.setenv("MIND_STORE", str(tmp_path / "thinking"))
    return mind


def outside(tmp_path: Path, *words: str) -> subprocess.Popen[bytes]:
    """The installed command, that runs while the test goes on."""
    return subprocess.Popen(
        [MIND, "query", *words],
        cwd=tmp_path,
        env={"MIND_STORE": "thinking", "HOME": str(tmp_path), "PATH": os.environ["PATH"]},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


# what comes out


def test_a_question_is_a_table_with_the_number_of_rows_beside_it(asked: Mind) -> None:
    """Data on stdout with numbers to the right, talk on stderr; the first time says why it took."""
    assert asked("run", "3").code == 0
    assert asked("accept", "2").code == 0
    first = asked("query", "SELECT number, likeness IS NULL AS new FROM drafts ORDER BY 1")
    assert first.out.splitlines()[:3] == ["number  new", "     1  true", "     2  false"]
    assert first.err.startswith("There was no analytics.duckdb: built anew.\n")
    again = asked("query", "SELECT count(*) AS n FROM exchanges WHERE accepted = 2")
    assert (again.code, again.out, again.err) == (0, "n\n1\n", "1 row.\n")


def test_what_was_just_said_is_in_the_answer(run: Mind) -> None:
    """Each question catches up first."""
    count = ("query", "SELECT count(*) AS n FROM messages", "--json")
    assert run(*count).data == [{"n": 1}]
    assert run("message", "and in the Baltic?").code == 0
    assert run(*count).data == [{"n": 2}]


@pytest.mark.parametrize("format_", ["csv", "json", "jsonl", "parquet", "arrow"])
def test_every_format_gives_back_what_is_there(run: Mind, tmp_path: Path, format_: str) -> None:
    """Texts that would command a terminal or end a field come back letter for letter."""
    run("think", HOSTILE)
    run("think", "")
    target = tmp_path / f"thoughts.{format_}"
    done = run("query", "SELECT version, text FROM thoughts ORDER BY version", "-o", str(target))
    assert done.code == 0, done.err
    expected = [(row["version"], row["text"]) for row in _thoughts(run)]
    assert expected[-1][1] == HOSTILE
    assert done.err.endswith(f"Wrote {len(expected)} rows to {target}.\n")
    assert _read(target) == expected


def _thoughts(run: Mind) -> list[dict[str, object]]:
    found: list[dict[str, object]] = run("query", "FROM thoughts ORDER BY version", "--json").data
    return found


def _read(file: Path) -> list[tuple[int, str]]:
    match file.suffix:
        case ".csv":
            with file.open(newline="", encoding="utf-8") as source:
                header, *rows = csv.reader(source)
            assert header == ["version", "text"]
            return [(int(version), text) for version, text in rows]
        case ".json":
            data = json.loads(file.read_text("utf-8"))
        case ".jsonl":
            data = [json.loads(line) for line in file.read_bytes().split(b"\n") if line]
        case ".parquet":
            data = pq.read_table(file).to_pylist()
        case _:
            with pa.memory_map(str(file)) as source:
                data = pa.ipc.open_file(source).read_all().to_pylist()
    return [(row["version"], row["text"]) for row in data]


@pytest.mark.parametrize(
    ("format_", "nothing"),
    [("csv", "n,t\n"), ("json", "[]\n"), ("jsonl", ""), ("table", "n  t\n")],
)
def test_no_rows_are_an_answer_too(run: Mind, format_: str, nothing: str) -> None:
    """The columns are named where the format can name them."""
    none = "SELECT 1 AS n, 'x' AS t WHERE false"
    done = run("query", none, "--format", format_)
    assert (done.code, done.out) == (0, nothing)  # the runner of tests ends lines its own way


@pytest.mark.parametrize("format_", ["parquet", "arrow"])
def test_no_rows_have_columns_with_types(run: Mind, tmp_path: Path, format_: str) -> None:
    """A file without rows is one that can be read."""
    target = tmp_path / f"nothing.{format_}"
    assert run("query", "SELECT 1::BIGINT AS n WHERE false", "-o", str(target)).code == 0
    if format_ == "parquet":
        table = pq.read_table(target)
    else:
        with pa.memory_map(str(target)) as source:
            table = pa.ipc.open_file(source).read_all()
    assert (table.num_rows, str(table.schema.field("n").type)) == (0, "int64")


ODD = (
    "SELECT INTERVAL 2 DAY AS i, {'x': INTERVAL 1 DAY} AS s, [1, NULL] AS l, MAP {'k': 1} AS m,"
    " 'ab'::BLOB AS b, '101'::BIT AS bits, 'nan'::DOUBLE AS nan, 1.50 AS d,"
    " (1::HUGEINT << 70) AS h,"
    " TIMESTAMPTZ '2026-01-02 03:04:05+00' AS z, TIMESTAMP 'infinity' AS never, NULL AS nothing,"
    " {'a': [1, NULL]}::VARIANT AS v, 'a'::VARIANT AS w, 1 AS twice, 2 AS twice,"
    " chr(0) || 'x' AS nul"
)


def test_values_of_every_kind_are_shown_plainly(run: Mind) -> None:
    """As DuckDB's own tools show them; VARIANT is JSON, or the text that it is."""
    header, row = list(csv.reader(io.StringIO(run("query", ODD, "--format", "csv").out)))
    assert header.count("twice") == 2
    assert row[:6] == ["2 days", "{'x': 1 day}", "[1, NULL]", "{k=1}", "ab", "101"]
    assert row[6:12] == ["nan", "1.50", str(1 << 70), "2026-01-02 03:04:05+00", "infinity", ""]
    assert row[12:] == ['{"a":[1,null]}', "a", "1", "2", "\0x"]
    shown = run("query", ODD).out.splitlines()[1]
    assert "NULL" in shown
    assert "␀x" in shown


def test_json_is_json_for_everybody(run: Mind) -> None:
    """What is no number is null, columns of one name are told apart, JSON stays a structure."""
    (row,) = run("query", ODD, "--json").data
    assert (row["nan"], row["twice"], row["twice_1"], row["nul"]) == (None, 1, 2, "\0x")
    assert (row["v"], row["m"], row["l"], row["d"]) == ({"a": [1, None]}, {"k": 1}, [1, None], 1.5)
    (started,) = run("query", "FROM events WHERE kind = 'session.started'", "--json").data
    assert started["data"]["title"] == "thinking" or "config" in started["data"]


def test_files_of_columns_hold_types_that_everybody_reads(run: Mind, tmp_path: Path) -> None:
    """VARIANT and intervals are texts in them, numbers and times are what they are."""
    target = tmp_path / "odd.parquet"
    assert run("query", ODD, "-o", str(target)).code == 0
    table = pq.read_table(target)
    row = table.drop_columns(["never"]).to_pylist()[0]  # Python has no such moment
    assert (row["i"], row["v"], row["s"]) == ("2 days", '{"a":[1,null]}', '{"x":"1 day"}')
    assert (row["twice"], row["twice_1"], row["l"], row["h"]) == (1, 2, [1, None], 1 << 70)
    assert run("query", "FROM events", "-o", str(tmp_path / "events.parquet")).code == 0
    events = pq.read_table(tmp_path / "events.parquet")
    assert str(events.schema.field("time").type) == "timestamp[us]"
    assert json.loads(events.column("data")[0].as_py())["title"] == "Why two tides a day?"


@given(st.lists(st.lists(st.none() | st.text(), min_size=2, max_size=2)))
def test_csv_can_be_read_back(rows: list[list[str | None]]) -> None:
    """Whatever a text holds, a reader of RFC 4180 finds the same fields."""
    text = "".join(csv_lines(["a", "b"], rows))
    found = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert found == [["a", "b"], *([value or "" for value in row] for row in rows)]
    assert text.count('""') >= sum(value == "" for row in rows for value in row)


@given(st.lists(st.tuples(st.text(), st.text(), st.none() | st.text())), st.integers(20, 200))
def test_a_table_fits_the_terminal(rows: list[tuple[str, str, str | None]], width: int) -> None:
    """No line is wider than the terminal, and none holds what a terminal would obey."""
    types = ["VARCHAR"] * 3
    lines = list(table_lines(["one", "two", "three"], types, rows, Look(width, full=False)))
    wide = len(max((line for line in lines), key=len, default=""))
    assert wide <= max(width, 40)
    assert all(line.isprintable() or "\xa0" in line or not line.isascii() for line in lines)
    assert not any(c in line for line in lines for c in "\x1b\x07\r\x9b\u202e")


def test_hostile_texts_are_shown_and_not_obeyed(run: Mind) -> None:
    """In tables, in column names and in JSON; a program reads back the same."""
    run("think", HOSTILE)
    for words in ([], ["--json"], ["--full"], ["--format", "jsonl"]):
        shown = run("query", "SELECT text FROM thoughts", *words).out
        assert not any(c in shown for c in "\x1b\x07\r\x9b\u202e"), words
    named = run("query", 'SELECT 1 AS "\x1b[31mred\x9b"')
    assert "\x1b" not in named.out + named.err
    wrong = run("query", 'SELECT "\x1b[31mred"')
    assert wrong.code == 2
    assert "\x1b" not in wrong.err


def test_a_table_in_full_has_every_text_whole(run: Mind) -> None:
    """One row under the other, with its lines."""
    shown = run("query", "SELECT 'one' AS a, 'two\n\nlines' AS b", "--full").out
    assert shown.splitlines() == ["— 1 —", "a  one", "b  two", "", "   lines"]


def test_as_many_rows_as_are_wanted(run: Mind) -> None:
    """In every format; that there are more is said."""
    done = run("query", "FROM range(9)", "-n", "3")
    assert (done.out.splitlines()[-1].strip(), done.err) == ("2", "3 rows, and there are more.\n")
    assert len(run("query", "FROM range(9)", "-n", "3", "--json").data) == 3
    assert len(run("query", "FROM range(9)", "-n", "0", "--json").data) == 9


@pytest.mark.slow
def test_rows_by_the_million_are_never_held(run: Mind, tmp_path: Path) -> None:
    """800 MB pass through in every format, and the process stays small."""
    big = "SELECT range AS n, repeat('x', 1000) AS t FROM range(800000)"
    for suffix, least in ((".csv", 800e6), (".jsonl", 800e6), (".parquet", 1e5), (".arrow", 800e6)):
        target = tmp_path / f"big{suffix}"
        asked = (big, "-o", str(target), "--memory", "400MB", "--timeout", "300")
        assert _most_memory(tmp_path, *asked) < 600_000, suffix
        assert target.stat().st_size > least
        target.unlink()


def _most_memory(home: Path, *words: str) -> int:
    """KiB that a question took in a process of its own, which has to end well.

    A small process starts it: what a child ever had is counted from what its parent had.
    """
    code = "import os, sys; p = os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:]);"
    code += " _, status, usage = os.wait4(p, 0); print(usage.ru_maxrss); sys.exit(status != 0)"
    env = {"MIND_STORE": "thinking", "HOME": str(home), "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [sys.executable, "-S", "-c", code, str(MIND), "query", *words],
        env=env,
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[-1])


# where it goes


def test_a_file_is_whole_or_not_there(run: Mind, tmp_path: Path) -> None:
    """What goes wrong on the way leaves nothing, and what was there stays."""
    target = tmp_path / "out.csv"
    late = "SELECT CASE WHEN range = 200000 THEN error('late') ELSE 'x' END FROM range(300000)"
    assert run("query", late, "-o", str(target)).code == 2
    assert not target.exists()
    assert run("query", KINDS, "-o", str(target)).code == 0
    before = target.read_bytes()
    refused = run("query", "SELECT 1", "-o", str(target))
    assert refused.code == 2
    assert "--force" in refused.err
    assert run("query", late, "-o", str(target), "--force").code == 2
    assert target.read_bytes() == before
    assert run("query", "SELECT 1 AS a", "-o", str(target), "--force").code == 0
    assert target.read_bytes() == b"a\r\n1\r\n"
    assert [file.name for file in tmp_path.glob("*out.csv*")] == ["out.csv"]


@pytest.mark.parametrize("where", ["no/such/place.csv", "."])
def test_a_place_that_is_none_is_refused(run: Mind, where: str) -> None:
    """Before anything is asked, in one sentence."""
    done = run("query", "SELECT 1", "-o", where)
    assert (done.code, len(done.err.splitlines())) == (2, 1)


def test_a_device_is_written_to_and_not_replaced(run: Mind) -> None:
    """`-o /dev/null` is no file that could be taken away."""
    assert run("query", "SELECT 1", "-o", os.devnull, "--format", "csv").code == 0
    assert Path(os.devnull).is_char_device()


def test_the_format_may_be_named_against_the_ending(run: Mind, tmp_path: Path) -> None:
    """Without either it is a table."""
    assert run("query", "SELECT 1 AS a", "-o", "a.csv", "--format", "jsonl").code == 0
    assert (tmp_path / "a.csv").read_text() == '{"a":1}\n'
    assert run("query", "SELECT 1 AS a", "-o", "a.txt").code == 0
    assert (tmp_path / "a.txt").read_text() == "a\n1\n"


@pytest.mark.parametrize("format_", ["parquet", "arrow"])
def test_columns_go_through_a_pipe(run: Mind, tmp_path: Path, format_: str) -> None:
    """Arrow as a stream; nothing else is on stdout."""
    child = outside(tmp_path, "FROM range(5)", "--format", format_)
    data, told = child.communicate(timeout=60)
    assert (child.returncode, told.count(b"Traceback")) == (0, 0)
    source = io.BytesIO(data)
    table = pq.read_table(source) if format_ == "parquet" else pa.ipc.open_stream(source).read_all()
    assert table.to_pydict() == {"range": [0, 1, 2, 3, 4]}


def test_on_a_terminal(run: Mind, tmp_path: Path) -> None:
    """Texts are cut to its width, columns of bytes are refused, and a thousand rows are enough."""
    run("think", "x" * 500)

    def seen(*words: str) -> str:
        ours, theirs = pty.openpty()
        child = subprocess.Popen(
            [MIND, "query", *words],
            cwd=tmp_path,
            env={"MIND_STORE": "thinking", "HOME": str(tmp_path), "COLUMNS": "70", "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        data = b""
        try:
            while some := os.read(ours, 4096):
                data += some
        except OSError:  # Linux says so at the end of a terminal
            pass
        os.close(ours)
        child.wait()
        return data.decode()

    shown = seen("SELECT version, time, text FROM thoughts")
    assert max(map(len, shown.splitlines())) <= 70
    assert "xx…" in shown
    assert "can't show parquet" in seen("FROM thoughts", "--format", "parquet")
    wide = seen("FROM thoughts LIMIT 1")
    assert "— 1 —" in wide
    assert max(map(len, wide.splitlines())) <= 70
    many = seen("FROM range(1200)").splitlines()
    assert many[-1] == "1000 rows are shown; there are more (--limit 0 shows all)."
    assert seen("FROM range(1200)", "-n", "0").splitlines()[-1] == "1200 rows."


@pytest.mark.parametrize("format_", ["table", "csv", "json", "parquet", "arrow"])
def test_who_has_seen_enough_may_leave(run: Mind, tmp_path: Path, format_: str) -> None:
    """A pipe that is closed, as `head` closes it, is no error."""
    child = outside(tmp_path, "FROM range(3000000)", "--format", format_)
    assert child.stdout
    assert child.stdout.read(3)
    child.stdout.close()
    assert child.stderr
    with child.stderr:
        told = child.stderr.read()
    assert (child.wait(), told) == (0, b"")


def test_ctrl_c_ends_it_in_one_sentence(run: Mind, tmp_path: Path) -> None:
    """Exit code 130, and no half file."""
    child = outside(tmp_path, "FROM range(1000000000)", "--format", "csv")
    assert child.stdout
    assert child.stdout.read(10)  # it is at work
    child.send_signal(signal.SIGINT)
    with child.stdout:
        while child.stdout.read(1 << 20):
            pass
    assert child.stderr
    with child.stderr:
        told = child.stderr.read().decode()
    assert child.wait() == 130
    assert told == "mind: The query was broken off: nothing has changed.\n"


# what goes in


def test_the_query_comes_from_anywhere(run: Mind, tmp_path: Path) -> None:
    """An argument, a file, a pipe; a comment or a semicolon at the end is no matter."""
    (tmp_path / "q.sql").write_text("-- a question\nSELECT 7 AS n -- really\n;\n-- done\n")
    assert run("query", "-f", "q.sql", "--json").data == [{"n": 7}]
    for words in ([], ["-"], ["-f", "-"]):
        assert run("query", *words, "--json", stdin="SELECT 8 AS n;").data == [{"n": 8}]


REFUSED = [
    ["SELECT 1", "-f", "q.sql"],
    ["SELECT 1", "--tables"],
    ["--tables", "--schema", "drafts"],
    ["--examples", "--tables"],
    ["SELECT 1", "--json", "--format", "csv"],
    ["-f", "nothing.sql"],
    ["SELECT 1", "--timeout", "0"],
    ["SELECT 1", "--timeout", "nan"],
    ["SELECT 1", "--memory", "lots"],
    ["SELECT 1", "--memory", "1KB"],
    ["SELECT $x"],
    ["SELECT $x", "-p", "x"],
    ["SELECT $x", "-p", "x=1", "-p", "y=2"],
    ["SELECT 1", "-p", "x=1"],
    ["SELECT 1; SELECT 2"],
    [""],
    ["-- nothing"],
    ["DROP TABLE events"],
    ["drafts"],
    ["SELECT * FROM drafts", "--session", "main"],
    ["SELECT $session", "--session", "nobody"],
    ["SELECT '\udcff'"],
]


def test_what_can_not_be_asked_is_refused(run: Mind, tmp_path: Path) -> None:
    """Exit code 2, and what to do instead."""
    (tmp_path / "q.sql").write_text("SELECT 1")
    for words in REFUSED:
        done = run("query", *words)
        assert (done.code, done.out) == (2, ""), words
        assert done.err, words


@pytest.mark.parametrize(
    ("sql", "place"),
    [
        ("SELECT 1,\n foo\nFROM drafts", "LINE 2:  foo\n"),
        ("SELECT\n 1 +\n FROM drafts", "LINE 3:"),
        ("SELECT 1,\n kind::INT FROM events", "LINE 2:"),
        ("FROM drafst", "LINE 1: FROM drafst"),
    ],
)
def test_a_mistake_is_told_with_its_place(run: Mind, sql: str, place: str) -> None:
    """The line is that of the user's own text, in every format."""
    for format_ in ("table", "json", "csv"):
        done = run("query", sql, "--format", format_)
        assert done.code == 2
        assert place in done.err
        lines = done.err.splitlines()
        assert lines[-1].strip("^ ") == ""
    assert "Did you mean" in run("query", "FROM drafst").err


def test_parameters_are_texts_that_fit_themselves_in(run: Mind) -> None:
    """A number where one is needed; quotes and semicolons are nothing but letters."""
    sql = "SELECT $a AS a, count(*) AS n FROM events WHERE version <= $n"
    a = "x'; DROP TABLE events; --=\x1b"
    assert run("query", sql, "-p", f"a={a}", "-p", "n=2", "--json").data == [{"a": a, "n": 2}]
    assert run("query", "SELECT $a AS a", "-p", "$a= x ", "--json").data == [{"a": " x "}]
    wrong = run("query", "SELECT count(*) FROM events WHERE version <= $n", "-p", "n=many")
    assert (wrong.code, wrong.out) == (2, "")


def test_a_session_fills_itself_in(run: Mind) -> None:
    """The one that is worked on, or the one that is named."""
    run("fork", "what-if", "--at", "draft:1", "--stay")
    sql = "SELECT $session AS s, count(*) AS n FROM drafts_of($session)"
    assert run("query", sql, "--json").data == [{"s": "main", "n": 3}]
    assert run("query", sql, "-s", "what-if", "--json").data == [{"s": "what-if", "n": 1}]
    assert run("query", sql, "-p", "session=what-if", "--json").data == [{"s": "what-if", "n": 1}]
    assert run("query", sql, "--json", MIND_SESSION="what-if").data == [{"s": "what-if", "n": 1}]


def test_the_past_is_asked_through_the_views_of_a_branch(run: Mind) -> None:
    """`mind at REF query` fills in `$at_version`; a query that would look past it is refused."""
    sql = "SELECT count(*) AS n FROM drafts_of($session, at_version := $at_version)"
    assert run("at", "draft:1", "query", sql, "--json").data == [{"n": 1}]
    assert run("query", sql, "--json").data == [{"n": 3}]
    refused = run("at", "draft:1", "query", "SELECT count(*) FROM drafts")
    assert refused.code == 2
    assert "at_version := $at_version" in refused.err


# the file beneath


def test_a_database_that_can_not_be_read_is_built_anew(run: Mind, tmp_path: Path) -> None:
    """With a line on stderr that says why."""
    (tmp_path / "thinking" / "analytics.duckdb").write_bytes(b"nonsense" * 2000)
    done = run("query", "SELECT count(*) AS n FROM drafts", "--json")
    assert (done.code, done.data) == (0, [{"n": 3}])
    assert done.err == "analytics.duckdb could not be read: built anew.\n"


def test_how_far_it_is_behind_is_said(run: Mind, tmp_path: Path) -> None:
    """While another process writes it, what is there is asked."""
    run("think", "one more")
    with (tmp_path / "thinking" / "analytics.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = run("query", "SELECT count(*) AS n FROM thoughts WHERE text = 'one more'", "--json")
    assert (done.code, done.data) == (0, [{"n": 0}])
    assert done.err.startswith("This is ")
    assert "behind" in done.err


def test_a_store_that_only_others_may_write(template: Path) -> None:
    """What is there is asked, and how far it is behind is said; nothing can be built there."""
    nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can become somebody else")
    if subprocess.run([*nobody, MIND, "--version"], check=False, capture_output=True).returncode:
        pytest.skip("somebody else can't reach this Python")
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        store = shutil.copytree(template, Path(place) / "thinking")
        (spare := Path(place) / "spare").mkdir()
        spare.chmod(0o777)
        env = {"MIND_STORE": str(store), "HOME": place, "PYTHONDONTWRITEBYTECODE": "1"}
        env["TMPDIR"] = str(spare)

        def told(*words: str, who: tuple[str, ...] = nobody) -> tuple[int, bytes, bytes]:
            done = subprocess.run([*who, MIND, *words], check=False, env=env, capture_output=True)
            return done.returncode, done.stdout, done.stderr

        count = ("query", "SELECT count(*) AS n FROM drafts", "--format", "csv")
        assert told(*count) == (0, b"n\r\n3\r\n", b"")
        assert told("think", "more", who=())[0] == 0
        code, data, error = told(*count)
        assert (code, data, b"1 event behind" in error) == (0, b"n\r\n3\r\n", True)
        (store / "analytics.duckdb").unlink()
        before = sorted(store.iterdir())
        alone = b"analytics.duckdb can't be written here: it was made for this question alone.\n"
        assert told(*count) == (0, b"n\r\n3\r\n", alone)
        assert (sorted(store.iterdir()), list(spare.iterdir())) == (before, [])
        code, data, error = told("rebuild")
        assert (code, data, len(error.splitlines())) == (2, b"", 1)
        assert b"Traceback" not in error


def test_without_a_store_it_says_what_to_do(mind: Mind) -> None:
    """One sentence; questions to begin with can be read all the same."""
    for words in (["SELECT 1"], ["--tables"], ["--schema", "drafts"]):
        done = mind("query", *words)
        assert (done.code, len(done.err.splitlines())) == (2, 1)
        assert "mind init" in done.err
    assert mind("query", "--examples").code == 0


def test_what_was_redacted_is_not_in_the_answer(run: Mind) -> None:
    """Neither in its table nor in that of all events."""
    run("think", "my secret")
    ((version,),) = [
        row.values()
        for row in run("query", "SELECT max(version) AS v FROM thoughts", "--json").data
    ]
    assert run("redact", str(version), "--reason", "private", "--yes").code == 0
    for table in ("thoughts", "events", "interventions"):
        assert "my secret" not in run("query", f"FROM {table}", "--json").out


# what can be asked


def test_every_table_says_what_it_is(run: Mind, tmp_path: Path) -> None:
    """And so does every column of every one, branch views included."""
    listed = run("query", "--tables", "--json").data
    names = {row["name"]: row for row in listed}
    assert {"events", "drafts", "sessions", "exchanges_of", "thoughts"} <= names.keys()
    assert not any(name.startswith("base") for name in names)
    assert names["drafts"]["rows"] == 3
    assert names["drafts_of"] == {
        "name": "drafts_of",
        "kind": "branch view",
        "rows": None,
        "about": names["drafts_of"]["about"],
    }
    file = tmp_path / "thinking" / "analytics.duckdb"
    with questions(file, Limits(), alone=False) as sandbox:
        for name, row in names.items():
            assert row["about"], name
            columns = list(sandbox.ask(columns_query(sandbox, name)).rows)
            assert columns, name
            for column in columns:
                assert all(column), (name, column)
    given_ = [column["name"] for column in run("query", "--schema", "drafts", "--json").data]
    assert given_ == [*run("query", "FROM drafts LIMIT 1", "--json").data[0]]


def test_a_table_that_is_not_there_is_guessed(run: Mind) -> None:
    """The nearest names are named; letter case does not count."""
    done = run("query", "--schema", "draft")
    assert done.code == 2
    assert "drafts" in done.err
    assert run("query", "--schema", "Drafts").code == 0
    assert run("query", "--schema", "'; DROP TABLE x; --").code == 2


def test_there_are_a_dozen_questions_to_begin_with(mind: Mind) -> None:
    """Each a comment with the query under it, ready to be pasted."""
    shown = mind("query", "--examples")
    told = mind("query", "--examples", "--json").data
    assert len(told) >= 12
    for example in told:
        assert example["question"][0] in string.ascii_uppercase
        assert f"-- {example['question']}\n{example['sql']};\n" in shown.out


@pytest.fixture(scope="module")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a branch and a branch of that."""
    store = tmp_path_factory.mktemp("forked")
    with EventLog.create(store) as log:
        begin(log, events=12)
        branch(log, MAIN, 6, "fork")
        grow(log, "fork", 2)
        branch(log, "fork", 7, "twig")
    return store


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.question)
def test_every_question_can_be_asked(run: Mind, forked: Path, example: Example) -> None:
    """Of a store with a dialogue, and of one with branches and none."""
    done = run("query", example.sql, "--json")
    assert (done.code, done.data != []) == (0, example.question not in NOTHING_HERE), done.err
    done = run("query", example.sql, "--json", "--store", str(forked), MIND_SESSION="twig")
    assert done.code == 0, done.err


NOTHING_HERE = {
    "Which replies could not be read, and why",
    "Thoughts that are nearest to the newest one with a vector (cosine similarity)",
    "Agents that can still be spoken to, with what they took",
    "What agents took, by project, role and model",
    "The newest turns of agents that got no answer, and why",
}
"""The recorded mind speaks well, its thoughts have no vectors, and nobody was drafted."""
