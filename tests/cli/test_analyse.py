"""`mind analyse`: a job over all sessions, and where its rows go."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import MIND, Mind
from tests.projections.fleet.many import EVENTS, grown

SESSIONS, EXCHANGES = 8, 2
EVENTS_IN_ALL = SESSIONS * (EXCHANGES * EVENTS + 1)
ALONE = ("--workers", "0")

SLEEPY = """
import time
from pathlib import Path

def rows(branch, events):
    Path("asleep").touch()
    time.sleep(30)
    yield {"session": branch.session}
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Eight sessions, four of them branches, which nobody changes."""
    return str(grown(tmp_path_factory.mktemp("analyse") / "store", SESSIONS, EXCHANGES))


@pytest.fixture
def mind(within: Mind) -> Mind:
    """None of these tests but a few needs a process of its own."""
    return within


def test_a_table_is_printed_and_what_it_is_a_function_of_is_told(mind: Mind, store: str) -> None:
    """Data on stdout; position, chain, code and digest on stderr."""
    ran = mind("analyse", "sessions", *ALONE, "-S", store)
    assert ran.code == 0, ran.err
    lines = ran.out.splitlines()
    assert lines[0].split()[:4] == ["session", "parent", "root", "events"]
    assert lines[3].split()[:4] == ["s0002", "s0001", "s0001", "13"]
    assert len(lines) == SESSIONS + 1
    assert f"8 sessions, {EVENTS_IN_ALL} events; as of position {EVENTS_IN_ALL} (chain" in ran.err


def test_sums_agree_with_sql(mind: Mind, store: str) -> None:
    """Each job says what `mind query` says of the same store."""

    def query(sql: str) -> list[dict[str, object]]:
        found: list[dict[str, object]] = mind("query", sql, "--json", "-S", store).data
        return found

    def rows(job: str) -> list[dict[str, object]]:
        found: list[dict[str, object]] = mind("analyse", job, *ALONE, "--json", "-S", store).data[
            "rows"
        ]
        return found

    wanted = query(
        "SELECT session, parent, events, (SELECT count(*) FROM messages m WHERE m.session ="
        " s.session) AS messages, (SELECT count(*) FROM drafts d WHERE d.session = s.session AND"
        " NOT signal) AS drafts, (SELECT count(*) FROM acceptances a WHERE a.session = s.session)"
        " AS accepted, (SELECT count(*) FROM thoughts t WHERE t.session = s.session) AS thoughts,"
        " count(i.version) AS iterations, sum(tokens_in)::BIGINT AS tokens_in,"
        " sum(tokens_out)::BIGINT AS tokens_out, fsum(cost_usd) AS cost_usd FROM sessions s"
        " LEFT JOIN invocations i USING (session) GROUP BY ALL ORDER BY session"
    )
    found = [{key: row[key] for key in wanted[0]} for row in rows("sessions")]
    assert found == wanted
    assert rows("costs") == query(
        "SELECT strftime(time, '%Y-%m-%d') AS day, model, count(*) AS invocations,"
        " sum(tokens_in)::BIGINT AS tokens_in, sum(tokens_out)::BIGINT AS tokens_out,"
        " fsum(cost_usd) AS cost_usd, count(*) FILTER (cost_usd IS NULL) AS unknown_costs"
        " FROM invocations GROUP BY ALL ORDER BY ALL"
    )
    thoughts = "SELECT session, version, position, iteration, mind, origin, redacted, text"
    told = [{**row} for row in rows("thoughts")]
    assert [row.pop("time") for row in told]
    assert told == query(f"{thoughts} FROM thoughts ORDER BY position")
    drafts = "SELECT session, exchange, number, version, position, iteration, signal, late, text"
    wanted = query(f"{drafts} FROM drafts ORDER BY position")
    assert [{key: row[key] for key in wanted[0]} for row in rows("drafts")] == wanted


def test_files_hold_what_is_printed(mind: Mind, store: str, tmp_path: Path) -> None:
    """The ending says the form; Parquet says in itself what it is a function of."""
    printed = mind("analyse", "sessions", *ALONE, "--json", "-S", store).data
    for ending in ("parquet", "csv", "json", "jsonl"):
        ran = mind("analyse", "sessions", *ALONE, "-o", f"a.{ending}", "--json", "-S", store)
        assert ran.data == {
            **{key: value for key, value in printed.items() if key != "rows"},
            "file": f"a.{ending}",
            "rows": SESSIONS,
        }
    table = pq.read_table(tmp_path / "a.parquet")
    rows = [
        {**row, "first": row["first"].isoformat(), "last": row["last"].isoformat()}
        for row in table.to_pylist()
    ]
    assert rows == printed["rows"]
    assert table.schema.metadata[b"logosphere.digest"].decode() == printed["digest"]
    assert json.loads((tmp_path / "a.json").read_text()) == printed
    lines = (tmp_path / "a.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == printed["rows"]
    with (tmp_path / "a.csv").open(newline="") as file:
        told = list(csv.DictReader(file))
    assert told == [
        {key: "" if value is None else str(value) for key, value in row.items()} for row in rows
    ]
    assert sorted(
        path.name for path in tmp_path.iterdir() if path.name.startswith((".a", "a"))
    ) == [
        "a.csv",
        "a.json",
        "a.jsonl",
        "a.parquet",
    ]


def test_a_job_of_ones_own(mind: Mind, store: str, tmp_path: Path) -> None:
    """A function of a file, whose columns are what its rows hold; any text is safe to look at."""
    (tmp_path / "mine.py").write_text(
        "from domain.events import MessageSent\n"
        "def asked(branch, events):\n"
        "    n = sum(isinstance(e.event, MessageSent) for e in events)\n"
        "    said = '\\x1b[31m\\ud800'\n"
        "    yield {'session': branch.session, 'n': n, 'said': said, 'share': 1e999}\n"
    )
    words = ("analyse", "mine.py:asked", *ALONE, "--sessions", "s000[12]", "-S", store)
    ran = mind(*words)
    assert "\x1b" not in ran.out
    assert ran.out.splitlines()[0].split() == ["session", "n", "said", "share"]
    rows = mind(*words, "--json").data["rows"]
    assert [(row["session"], row["n"], row["share"]) for row in rows] == [
        ("s0001", 2, None),
        ("s0002", 2, None),
    ]
    assert mind(*words, "-o", "a.parquet").code == 0
    assert pq.read_table(tmp_path / "a.parquet")["said"].to_pylist() == ["\x1b[31m?"] * 2


def test_a_past_moment_and_a_few_rows(mind: Mind, store: str) -> None:
    """--upto repeats an analysis as of then; --limit cuts what is shown, never the digest."""
    earlier = mind("analyse", "thoughts", *ALONE, "--upto", "20", "--json", "-S", store).data
    assert (earlier["position"], len(earlier["rows"])) == (20, 3)
    shown = mind("analyse", "thoughts", *ALONE, "--upto", "20", "-n", "2", "--json", "-S", store)
    assert shown.data == {**earlier, "rows": earlier["rows"][:2]}


def test_jobs_are_listed(mind: Mind) -> None:
    """Without a job, the built-in ones are told, with all their columns."""
    assert "sessions: What happened in each session" in mind("analyse").out
    told = mind("analyse", "--json").data
    assert [job["job"] for job in told] == ["sessions", "drafts", "thoughts", "costs"]
    assert all(column["about"] for job in told for column in job["columns"])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["session"], "There is no job 'session'"),
        (["nowhere.py"], "no job file 'nowhere.py'"),
        (["costs", "-w", "two"], "say how many processes"),
        (["costs", "-w", "-1"], "say how many processes"),
        (["costs", "-w", "9999"], "say how many processes"),
        (["costs", "-w", "dask://nowhere"], "dask://HOST:PORT"),
        (["costs", "-o", "a.xlsx"], "name a file .parquet"),
        (["costs", "-o", "there.csv"], "is there already"),
        (["costs", "-o", "nowhere/a.csv"], "is no directory"),
        (["costs", *ALONE, "--upto", "0"], "the store has 1 to 104"),
        (["costs", *ALONE, "--upto", "105"], "the store has 1 to 104"),
    ],
)
def test_what_can_not_be_is_refused(
    mind: Mind, store: str, tmp_path: Path, words: list[str], sentence: str
) -> None:
    """One sentence, exit code 2, nothing written."""
    (tmp_path / "there.csv").touch()
    ran = mind("analyse", *words, "-S", store)
    assert (ran.code, ran.out) == (2, "")
    assert sentence in ran.err
    assert (tmp_path / "there.csv").read_text() == ""


def test_the_past_of_one_session_is_no_cut(mind: Mind, store: str) -> None:
    """`mind at` looks from a moment of one session; an analysis is of all of them."""
    ran = mind("at", "3", "analyse", "costs", "-S", store)
    assert (ran.code, "--upto" in ran.err) == (2, True)


def test_without_dask_it_says_what_brings_it(
    mind: Mind, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cluster is an extra that nobody else waits for."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    ran = mind("analyse", "costs", "-w", "dask://127.0.0.1:8786", "-S", store)
    assert (ran.code, "logosphere[dask]" in ran.err) == (2, True)


@pytest.mark.parametrize(
    "end", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)]
)
def test_whatever_ends_it_leaves_no_file_and_no_worker(
    store: str, tmp_path: Path, end: signal.Signals
) -> None:
    """Ctrl-C ends it at once, with one sentence; workers never outlive it, even if it is killed."""
    (tmp_path / "sleepy.py").write_text(SLEEPY)
    words = ["analyse", "sleepy.py", "-w", "1", "-o", "a.csv", "-S", store]
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path)}
    with subprocess.Popen([MIND, *words], cwd=tmp_path, env=env, stderr=subprocess.PIPE) as ran:
        while not (tmp_path / "asleep").exists():
            assert ran.poll() is None
            time.sleep(0.02)
        began = time.monotonic()
        ran.send_signal(end)
        # the pipe ends when the last of the processes that hold it has ended
        _, told = ran.communicate(timeout=25)
    assert time.monotonic() - began < 25
    if end == signal.SIGINT:
        assert (ran.returncode, told) == (130, b"Broken off: nothing was written.\n")
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["asleep", "sleepy.py"]


def test_csv_leaves_nothing_to_guess(mind: Mind, store: str, tmp_path: Path) -> None:
    """NULL is nothing, and a time says that it is in UTC."""
    mind("analyse", "sessions", *ALONE, "-o", "a.csv", "-S", store)
    first = next(csv.DictReader(io.StringIO((tmp_path / "a.csv").read_text())))
    assert (first["parent"], first["first"]) == ("", "2026-05-02T10:30:00.250000+00:00")
