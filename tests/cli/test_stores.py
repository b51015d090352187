"""`mind store`: where stores are, how they stand, and how they get from one place to another."""

import signal
import subprocess
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from commands.eventlog import EventLog
from commands.eventlog.copy import StoreCopy
from commands.eventlog.place import Place, place_of
from commands.eventlog.postgres.layout import LAYOUT, migrate
from commands.eventlog.postgres.status import said_of
from commands.eventlog.status import Standby
from tests.cli.conftest import MIND, TIDES, Mind
from tests.commands.eventlog.stores import MAIN, begin, grow, raw
from tests.postgres.pair import STANDBY, Pair
from tests.postgres.processes import DEADLINE
from tests.postgres.servers import ADMIN

SOUND = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "synchronous_standby_names": "",
}


@pytest.fixture
def mind(within: Mind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mind:
    """Within this process: these tests ask many commands, and open what they made."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return within


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of one session with 12 events, named from ``tmp_path``."""
    (tmp_path / "thinking").mkdir()
    with EventLog.create(tmp_path / "thinking") as log:
        begin(log, events=12)
    return Path("thinking")


# migrate


def test_migrate_makes_tables_once(mind: Mind, pg_url: str, tmp_path: Path) -> None:
    """Named in whichever way; a store that is there is left as it is."""
    first = mind("store", "migrate", pg_url)
    assert (first.code, first.out) == (0, "")
    assert f"Made the tables of an empty store in {pg_url}, layout {LAYOUT}." in first.err
    script = tmp_path / "tides.txt"
    script.write_text(TIDES, encoding="utf-8")
    assert mind("init", pg_url, "why?", "-m", f"script:{script}").code == 0
    for again in (
        mind("store", "migrate", pg_url),
        mind("store", "migrate", "--store", pg_url),
        mind("store", "migrate", MIND_STORE=pg_url),
        mind("store", "migrate", pg_url, "--store", pg_url),
    ):
        assert again.code == 0
        assert again.err.startswith("Nothing to do")
    assert mind("sessions", "--store", pg_url).code == 0


def test_migrate_by_many_at_once(pg_url: str) -> None:
    """One makes the tables, the others find them."""
    address = place_of(pg_url).address
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: migrate(address), range(6)))
    assert sorted(found, key=str) == [LAYOUT] * 5 + [None]


def test_migrate_numbers_positions_by_transaction(mind: Mind, pg_url: str) -> None:
    """And back; how it is, is shown."""
    ran = mind("store", "migrate", pg_url, "--positions", "transaction")
    assert "Positions are numbered by transaction from now on." in ran.err
    again = mind("store", "migrate", pg_url, "--positions", "transaction").err
    assert again == "Positions are numbered by transaction from now on.\n"
    assert mind("store", "status", "--store", pg_url, "--json").data[0]["numbered"] == (
        "by transaction"
    )
    assert ", numbered by transaction" in mind("store", "status", "--store", pg_url).out
    assert mind("store", "migrate", pg_url, "--positions", "dense").code == 0
    assert mind("store", "status", "--store", pg_url, "--json").data[0]["numbered"] == "densely"


def test_migrate_of_a_directory_has_nothing_to_do(mind: Mind, store: Path, tmp_path: Path) -> None:
    """But to keep readers and writers apart, where a backup has forgotten to."""
    assert "Nothing to do" in mind("store", "migrate", str(store)).err
    nowhere = mind("store", "migrate", "nowhere")
    assert (nowhere.code, "no store in 'nowhere'" in nowhere.err) == (2, True), nowhere.err
    with raw(tmp_path / store) as connection:
        assert connection.execute("PRAGMA journal_mode=DELETE").fetchone() == ("delete",)
    assert "say mind store migrate" in mind("store", "status", "-S", str(store)).out
    ran = mind("store", "migrate", str(store))
    assert ran.err == "Readers and writers of thinking don't wait for each other any more.\n"
    assert "say mind store migrate" not in mind("store", "status", "-S", str(store)).out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("migrate", "mysql://a/b"), "a store can't be reached by mysql://"),
        (("migrate", "postgresql://a"), "it names no database"),
        (("migrate", "one", "--store", "two"), "Name the store once"),
        (("migrate", "one", "--positions", "odd"), "dense or by transaction, not 'odd'"),
        (("migrate", "one", "--positions", "transaction"), "on a PostgreSQL server only"),
        (("status", "--store", "nowhere"), "There is no store in 'nowhere'"),
        (("copy", "nowhere", "to"), "There is no store in 'nowhere'"),
        (("copy", "thinking", "thinking/."), "can't be copied to itself"),
        (("copy", "thinking", "file"), "'file' is a file: name a store's directory"),
        (("status", "thinking/log.db"), "'thinking/log.db' is a file: name a store's directory"),
        (("status", "--store", "file/x"), "There is no store in 'file/x'"),
        (("copy", "thinking", "postgresql://h/d?schema=Q"), "a schema is named with small letters"),
    ],
)
def test_what_is_no_place_is_said(
    mind: Mind, store: Path, tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    """In a sentence, and nothing is made."""
    assert store.name == "thinking"
    (tmp_path / "file").touch()
    before = sorted(tmp_path.rglob("*"))
    ran = mind("store", *words)
    assert ran.code in {1, 2}
    assert sentence in ran.err
    assert sorted(tmp_path.rglob("*")) == before


def test_a_server_that_is_not_there_is_said(mind: Mind, store: Path) -> None:
    """By all of the verbs, without a password."""
    url = "postgresql://ann:secret@127.0.0.1:1/gone"
    for words in (("migrate", url), ("status", "--store", url), ("copy", str(store), url)):
        ran = mind("store", *words)
        assert ran.code == 1
        assert "does not answer" in ran.err
        assert "secret" not in ran.err


# status


def test_status_of_a_directory(mind: Mind, store: Path) -> None:
    """What is where, how much, and what is not safe; what is behind, once there is such."""
    data = mind("store", "status", "--store", str(store), "--json").data[0]
    assert (data["kind"], data["events"], data["position"], data["sessions"]) == (
        "sqlite",
        12,
        12,
        1,
    )
    assert data["sizes"]["log"] > 10_000
    assert data["behind"] == {}
    assert mind("query", "SELECT 1", "-S", str(store)).code == 0
    assert mind("search", "--words", "main", "-S", str(store)).code == 0
    with EventLog(store) as log:
        grow(log, MAIN, 3)
    data = mind("store", "status", "--store", str(store), "--json").data[0]
    assert data["behind"] == {"search": 3, "analytics": 3}
    ran = mind("store", "status", str(store))
    assert ran == mind("store", "status", MIND_STORE=str(store))
    assert ran.code == 0
    assert "15, the newest at position 15" in ran.out
    assert "behind    search 3, analytics 3" in ran.out
    assert "One file on this machine" in ran.out


def test_status_of_a_server(mind: Mind, pg_url: str) -> None:
    """What is there and what is here; that nobody follows, and what is switched off."""
    with EventLog.create(place_of(pg_url)) as log:
        begin(log, events=5)
        data = mind("store", "status", "--store", pg_url, "--json").data[0]
        assert data["home"] == str(log.place.home)
    assert (data["kind"], data["events"], data["position"], data["layout"]) == (
        "postgresql",
        5,
        5,
        LAYOUT,
    )
    assert {"table", "indexes", "database"} <= set(data["sizes"])
    assert len(data["id"]) == 36
    assert data["standbys"] == []
    ran = mind("store", "status", MIND_STORE=pg_url)
    assert ran.code == 0
    assert "fsync is off: a crash of the server's machine can destroy the store." in ran.out
    assert "One server, no standby" in ran.out


def said(settings: Mapping[str, str], *standbys: Standby) -> dict[str, str]:
    """What is said of a primary, by how."""
    return {
        one.how: one.sentence for one in said_of({**SOUND, **settings}, standbys, is_standby=False)
    }


def test_what_is_said_of_standbys() -> None:
    """Asynchronous ones alone are bad; a synchronous one is well; what is hidden is said to be."""
    late = Standby("b", "streaming", "async", 4096, 0.5)
    assert "set synchronous_standby_names" in said({}, late)["bad"]
    sure = late._replace(name="a", sync_state="quorum")
    named = {"synchronous_standby_names": "ANY 1 (a, b)"}
    assert said(named, late, sure) == {
        "well": "A standby confirms each write before it is acknowledged (a)."
    }
    assert "none of these follows" in said(named)["bad"]
    assert "none of those that follow" in said(named, late)["bad"]
    hidden = Standby("a", None, None, None, None)
    assert set(said({}, hidden)) == {"note", "bad"}
    assert set(said(named, hidden)) == {"note", "well"}
    assert "GRANT pg_monitor" in said(named, hidden)["note"]
    weak = said({**named, "synchronous_commit": "remote_write", "fsync": "off"}, sure)
    assert "remote_write" in weak["warning"]
    (alone,) = said_of(SOUND, (), is_standby=True)
    assert "can only be read" in alone.sentence


@pytest.mark.slow
def test_status_of_a_pair(mind: Mind) -> None:
    """Broken while the standby follows asynchronously, well when it confirms each write."""
    with Pair(synchronous=False) as pair:
        name = pair.primary.database().rpartition("/")[2]
        with EventLog.create(place_of(pair.primary.url(name))) as log:
            begin(log, events=5)
        plain = mind("store", "status", "--store", pair.primary.url(name))
        assert plain.code == 1
        assert f"standby {STANDBY}  hidden from this role" in plain.out
        assert "Standbys follow asynchronously only" in plain.err
        full = mind("store", "status", "--json", "--store", pair.primary.url(name, ADMIN))
        (standby,) = full.data[0]["standbys"]
        assert (standby["name"], standby["state"], standby["sync_state"]) == (
            STANDBY,
            "streaming",
            "async",
        )
        pair.set(pair.primary, synchronous_standby_names=STANDBY)
        until = time.monotonic() + DEADLINE
        while pair.primary.admin("SELECT sync_state FROM pg_stat_replication") != [("sync",)]:
            assert time.monotonic() < until
        full = mind("store", "status", "--store", pair.primary.url(name, ADMIN))
        assert full.code == 0
        assert f"A standby confirms each write before it is acknowledged ({STANDBY})." in full.out
        there = mind("store", "status", "--store", pair.standby.url(name))
        assert there.code == 0
        assert "This server is a standby, and can only be read" in there.out
        with EventLog(place_of(pair.standby.url(name))) as log:
            assert log.position() == 5
        copied = mind("store", "copy", pair.standby.url(name), "from-standby")
        assert copied.code == 0


# cells


def test_a_store_with_another_cell(mind: Mind, pg_url: str, store: Path) -> None:
    """Both are shown and migrated; each is copied by itself, and nothing is copied into one."""
    home, other = f"{pg_url}?schema=one", f"{pg_url}?schema=two"
    assert mind("store", "copy", str(store), home).code == 0
    added = mind("store", "add-cell", "b", other, "--store", home)
    assert (added.code, added.out) == (0, "")
    with EventLog(place_of(home)) as log:
        for number in range(6):
            begin(log, f"s{number}", events=3)
    rows = {row["cell"]: row for row in mind("store", "status", "-S", home, "--json").data}
    assert set(rows) == {"home", "b"}
    assert sum(row["sessions"] for row in rows.values()) == 7
    assert 0 < rows["b"]["events"] == rows["b"]["position"] < 18
    assert "cell      b\n" in mind("store", "status", "-S", home).out
    assert mind("store", "migrate", home).err.count("Nothing to do") == 2
    assert mind("store", "migrate", f"{home}&cell=b").err.count("Nothing to do") == 1
    assert "no cell 'c'" in mind("store", "migrate", f"{home}&cell=c").err
    assert "name one for this" in mind("store", "copy", home, "both").err
    assert mind("store", "copy", f"{home}&cell=b", "copied").code == 0
    with EventLog(Path("copied")) as log:
        assert len(log.sessions()) == rows["b"]["sessions"]
    for cell in (home, other, f"{home}&cell=b"):
        ran = mind("store", "copy", str(store), cell)
        assert (ran.code, "copy to a place of its own" in ran.err) == (2, True), ran.err
    for words in (("b", "elsewhere", "-S", home), ("b", other, "-S", str(store))):
        assert "Cells are PostgreSQL servers" in mind("store", "add-cell", *words).err


# copy


def test_a_store_goes_to_a_server_and_back(mind: Mind, store: Path, pg_url: str) -> None:
    """It can be worked on at each end, and the way back brings what is new."""
    there = mind("store", "copy", str(store), pg_url)
    assert (there.code, there.out) == (0, "")
    assert f"Copied 12 events of thinking to {pg_url}" in there.err
    assert "Proved: 12 events as written, up to position 12" in there.err
    assert mind("note", "on the server", "--store", pg_url).code == 0
    back = mind("store", "copy", pg_url, str(store), "--json")
    assert back.code == 0
    assert {"new": 1, "events": 13, "position": 13, "redacted": 0}.items() <= back.data.items()
    assert mind("verify", "--store", str(store)).code == 0
    heads = [mind("head", "--store", place).data["heads"] for place in (str(store), pg_url)]
    assert heads[0] == heads[1]
    assert "Nothing new" in mind("store", "copy", str(store), pg_url).err
    assert mind("note", "here", "--store", str(store)).code == 0
    assert mind("note", "there", "--store", pg_url).code == 0
    parted = mind("store", "copy", str(store), pg_url)
    assert parted.code == 2
    assert "main went another way there" in parted.err
    assert "copy to a place of its own" in parted.err


def test_what_is_redacted_is_redacted_in_the_copy(mind: Mind, store: Path, tmp_path: Path) -> None:
    """With all that was made of it there."""
    assert mind("message", "the code is 4711", "-S", str(store)).code == 0
    assert mind("store", "copy", str(store), "copied").code == 0
    assert "4711" in mind("search", "--words", "4711", "-S", "copied").out
    redacted = mind(
        "redact", "13", "--reason", "why not", "--everywhere", "--yes", "-S", str(store)
    )
    assert redacted.code == 0, redacted.err
    ran = mind("store", "copy", str(store), "copied")
    assert "Redacted there as well: " in ran.err
    assert not [
        file.name for file in (tmp_path / "copied").iterdir() if b"4711" in file.read_bytes()
    ]


@pytest.fixture
def unfinished(store: Path, tmp_path: Path, mind: Mind) -> str:
    """A directory to which a copy was begun."""
    assert mind
    with StoreCopy(Place(tmp_path / store), Place(tmp_path / "begun")) as work:
        work.fill()
    return "begun"


def test_an_unfinished_copy_is_no_store_to_any_verb(
    mind: Mind, store: Path, unfinished: str
) -> None:
    """Nothing reads it, makes one of it or writes to it; the same copy finishes it."""
    for words in (
        ("init", unfinished, "why?"),
        ("open", unfinished),
        ("verify", "--store", unfinished),
        ("note", "no", "--store", unfinished),
        ("store", "status", "--store", unfinished),
        ("store", "migrate", unfinished),
        ("store", "copy", unfinished, "further"),
    ):
        ran = mind(*words)
        assert (ran.code, ran.out) == (2, ""), words
        assert "is an unfinished copy of a store" in ran.err
    assert "Copied 0" not in mind("store", "copy", str(store), unfinished).err
    assert mind("verify", "--store", unfinished).code == 0


def test_a_copy_that_is_broken_off_says_how_to_go_on(
    mind: Mind, store: Path, pg_url: str, tmp_path: Path
) -> None:
    """Ctrl-C while it waits for somebody who writes there: 130, as shells count."""
    assert mind("store", "migrate", pg_url).code == 0
    waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    with psycopg.connect(pg_url) as writer, psycopg.connect(pg_url, autocommit=True) as watch:
        writer.execute("SELECT logosphere.take_turn(true)")
        words = [MIND, "store", "copy", str(store), pg_url]
        with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
            until = time.monotonic() + DEADLINE
            while watch.execute(waiting).fetchone() != (1,):
                assert time.monotonic() < until
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            _, told = process.communicate(timeout=DEADLINE)
    assert process.returncode == 130
    assert told == "Broken off: the same command goes on from here.\n"
    assert mind("store", "copy", str(store), pg_url).code == 0
