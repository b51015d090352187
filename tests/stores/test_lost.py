"""What gets lost on the way: nothing is stored twice, half, or taken for somebody else's."""

import itertools
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from commands.eventlog import EventLog
from commands.eventlog.patience import impatient
from commands.eventlog.place import Place, place_of
from commands.eventlog.postgres import connections
from commands.forks import fork_session
from domain.errors import LogosphereError, LostRace, NoStore, SessionExists
from domain.events import ThoughtAdded
from domain.ids import SessionId
from domain.recorded import BEGINNING, Draw
from domain.server_errors import StoreIsUnreachable, WriteInDoubt
from tests.commands.eventlog.stores import (
    MAIN,
    StillWorld,
    begin,
    draw,
    grow,
    pool,
    started,
    thought,
)
from tests.postgres.pair import Pair
from tests.postgres.servers import NEWEST, Server
from tests.stores.places import Site, stored, whole
from tests.stores.proxy import Wire

ROOT = Path(__file__).parents[2]
DRIVER = Path(__file__).with_name("driver.py")
OTHER = SessionId("other")
LONG = 60.0


@contextmanager
def wired(site: Site, losses: int = 1) -> Iterator[tuple[Wire, EventLog]]:
    """A store with one session of one event, open by a wire that can lose things."""
    begin(site.create())
    assert site.place.url is not None
    with Wire(site.place.url) as wire:
        log = site.open(site.place._replace(url=wire.url))
        log.state(MAIN)
        yield wire, log
        log.close()
        assert wire.lost == losses


def once(site: Site, *texts: str) -> None:
    """Everything of ``main`` is there once, and hangs together."""
    log = site.open(site.elsewhere("another"))
    assert pool(log, MAIN) == list(texts)
    assert [row[2] for row in stored(log)] == sorted({row[2] for row in stored(log)})
    whole(log)


@pytest.mark.parametrize("what", ["message", "answer"])
def test_an_append_that_nobody_acknowledged(served: Site, what: str) -> None:
    """Whether it arrived or not: it is stored once, and its position is the true one."""
    with wired(served) as (wire, log):
        rows, _ = log._mapper.sealed(log.head(MAIN), MAIN, draw(thought("a"), thought("b"), wish=1))
        wire.lose(".append(", what)  # type: ignore[arg-type]  # one of the two
        positions = list(log._recorder.insert_events(rows))
        assert [row[2] for row in stored(log)[-2:]] == positions
        assert log.state(MAIN).version == 3
        assert grow(log, MAIN, 1).version == 4
    once(served, "a", "b", "t4")


def test_what_somebody_else_wrote_meanwhile_is_his(served: Site) -> None:
    """An append whose turn another took over is refused, though it was not heard of before."""
    with wired(served) as (wire, log):
        other = served.open()
        wire.lose(".append(", "message", lambda: grow(other, MAIN, 1, tag="theirs"))
        with pytest.raises(LostRace):
            log.append(MAIN, 1, draw(thought("mine"), wish=1))
        assert pool(log, MAIN) == ["theirs2"]
    once(served, "theirs2")


@pytest.mark.parametrize("what", ["message", "answer"])
def test_an_append_while_somebody_keeps_the_turn(
    newest: Site, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """What arrived is found without a turn; of what did not, nothing is claimed."""
    monkeypatch.setattr(connections, "LOCK_TIMEOUT", 0.1)
    with wired(newest) as (wire, log), newest.sql() as other:

        def hold() -> None:
            other.execute("BEGIN")
            other.execute("SELECT take_turn(true)")

        wire.lose(".append(", what, hold)
        if what == "answer":
            assert log.append(MAIN, 1, draw(thought("a"), wish=1)).version == 2
        else:
            with pytest.raises(WriteInDoubt, match="lock timeout"):
                log.append(MAIN, 1, draw(thought("a"), wish=1))
    once(newest, *("a" for _ in range(what == "answer")))


def test_an_append_of_which_nobody_tells(newest: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the server stays away, it is said that one has to look, for it may be there."""
    hours = itertools.count(0, 10)
    clock = SimpleNamespace(monotonic=lambda: next(hours), sleep=time.sleep)
    with wired(newest) as (wire, log):
        log.state(MAIN)
        monkeypatch.setattr(connections, "time", clock)
        wire.lose(".append(", "answer", then=wire.end)
        with pytest.raises(WriteInDoubt, match=r"is not known, so look \(mind log\) before"):
            log.append(MAIN, 1, draw(thought("a"), wish=1))
    once(newest, "a")


def test_an_append_that_was_redacted_before_it_was_looked_for(served: Site) -> None:
    """It is found, though its content is gone by then."""
    with wired(served) as (wire, log):
        other = served.open(served.elsewhere("other"))
        redact = lambda: other.redact({MAIN: [2]}, "a secret", draw(wish=1 << 70))  # noqa: E731
        wire.lose(".append(", "answer", redact)
        assert log.append(MAIN, 1, draw(thought("a"), wish=1)).version == 2
        assert [r.redacted for r in log.read(MAIN)] == [False, True, False]
    whole(served.open())


@pytest.mark.slow
def test_an_append_that_others_built_upon(served: Site) -> None:
    """It was stored, nobody said so, and the next is behind it already."""
    with wired(served) as (wire, log):
        other = served.open()
        wire.lose(".append(", "answer", lambda: grow(other, MAIN, 1, tag="theirs"))
        assert log.append(MAIN, 1, draw(thought("mine"), wish=1)).version == 2
    once(served, "mine", "theirs3")


def test_a_decision_that_nobody_acknowledged(served: Site) -> None:
    """What was decided while others waited is done, and done once."""
    with wired(served) as (wire, log):
        wire.lose("COMMIT\0")
        state = log.exclusively(MAIN, lambda _: draw(thought("decided"), wish=1))
        assert (state.version, log.state(MAIN).version) == (2, 2)
    once(served, "decided")


def test_a_decision_that_never_arrived(served: Site) -> None:
    """Somebody has to be told that it did not come about."""
    with wired(served) as (wire, log):
        wire.lose("COMMIT\0", "message")
        with pytest.raises(LogosphereError, match="does not answer"):
            log.exclusively(MAIN, lambda _: draw(thought("decided"), wish=1))
        assert grow(log, MAIN, 1).version == 2
    once(served, "t2")


def test_a_decision_that_is_looked_for_in_vain_at_first(served: Site) -> None:
    """Whoever looks whether it is there looks again where that gets lost, too."""
    with wired(served, losses=2) as (wire, log):
        any_question = f"{served.place.address.schema}."
        wire.lose("COMMIT\0", then=lambda: wire.lose(any_question, "message"))
        assert log.exclusively(MAIN, lambda _: draw(thought("decided"), wish=1)).version == 2
    once(served, "decided")


def test_a_decision_of_which_nobody_tells(newest: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the server stays away, it is said that one has to look, for it may be there."""
    hours = itertools.count(0, 10)
    clock = SimpleNamespace(monotonic=lambda: next(hours), sleep=time.sleep)
    monkeypatch.setattr(connections, "time", clock)
    with wired(newest) as (wire, log):
        wire.lose("COMMIT\0", then=wire.end)
        with pytest.raises(WriteInDoubt, match=r"is not known, so look \(mind log\) before"):
            log.exclusively(MAIN, lambda _: draw(thought("decided"), wish=1))
    once(newest, "decided")


def test_a_decision_while_somebody_keeps_the_turn(
    newest: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as what never arrived may come about yet, nobody says that it did not."""
    monkeypatch.setattr(connections, "LOCK_TIMEOUT", 0.1)
    with wired(newest) as (wire, log), newest.sql() as other, ThreadPoolExecutor(1) as threads:

        def decide(_: object) -> Draw:
            other.execute("BEGIN")
            threads.submit(other.execute, "SELECT take_turn(true)")
            with newest.sql() as looking:
                waits = "SELECT count(*) FROM pg_locks WHERE NOT granted"
                while looking.execute(waits).fetchone() != (1,):
                    pass
            return draw(thought("decided"), wish=1)

        wire.lose("COMMIT\0", "message")
        with pytest.raises(WriteInDoubt, match="lock timeout"):
            log.exclusively(MAIN, decide)
        other.execute("ROLLBACK")
        assert grow(log, MAIN, 1).version == 2
    once(newest, "t2")


@pytest.mark.slow
@pytest.mark.parametrize("comes_back", [True, False])
def test_a_decision_at_a_server_that_goes_away(own_postgres: Server, *, comes_back: bool) -> None:
    """For some seconds, and it is found; for longer, and nobody says that it is not there."""
    place = place_of(own_postgres.database())
    with EventLog.create(place) as log:
        begin(log)
    assert place.url is not None
    with (
        ThreadPoolExecutor(1) as threads,
        Wire(place.url) as wire,
        EventLog(place._replace(url=wire.url)) as log,
    ):
        log.state(MAIN)
        wire.lose("COMMIT\0", then=own_postgres.kill)
        decided = threads.submit(_decided, log, "decided", 1)
        with pytest.raises(TimeoutError):
            decided.result(10)
        if comes_back:
            own_postgres.start()
            decided.result(LONG)
        else:
            with pytest.raises(WriteInDoubt):
                decided.result(LONG)
            own_postgres.start()
    with EventLog(place) as log:
        assert pool(log, MAIN) == ["decided"]


@pytest.mark.parametrize("what", ["message", "answer"])
def test_a_beginning_that_nobody_acknowledged(served: Site, what: str) -> None:
    """A session that began has begun, and so has a branch, whether that arrived or not."""
    with wired(served, losses=2) as (wire, log):
        wire.lose(".append(", what)  # type: ignore[arg-type]  # one of the two
        head = log.begin(OTHER, BEGINNING, draw(started(), thought("x")))
        assert log.head(OTHER) == head
        assert pool(log, OTHER) == ["x"]
        wire.lose(".append(", what)  # type: ignore[arg-type]  # as above
        head = fork_session(log, OTHER, 2, SessionId("branch"), StillWorld())
        assert log.head(SessionId("branch")) == head
    once(served)


def test_a_beginning_that_somebody_else_had_first(served: Site) -> None:
    """What was never heard of is not taken for one's own because the name is there."""
    with wired(served) as (wire, log):
        other = served.open()
        wire.lose(".append(", "message", lambda: begin(other, OTHER, events=2))
        with pytest.raises(SessionExists):
            log.begin(OTHER, BEGINNING, draw(started(), thought("mine"), wish=1))
        assert pool(log, OTHER) == ["t2"]
    once(served)


@pytest.mark.slow
def test_a_beginning_that_is_provided_for_and_not_acknowledged(served: Site) -> None:
    """The same where nobody else could write meanwhile."""
    with wired(served) as (wire, log):
        wire.lose("COMMIT\0")
        head = log.begin(OTHER, BEGINNING, draw(started(), thought("x")), provided=log.sessions)
        assert log.head(OTHER) == head
    once(served)


@pytest.mark.parametrize(
    "text",
    [
        "BEGIN",
        *(pytest.param(word, marks=pytest.mark.slow) for word in ("stored_events", "horizon")),
    ],
)
def test_a_question_that_nobody_answered(served: Site, text: str) -> None:
    """Readers ask once more, and writers that had not begun do so as well."""
    with wired(served) as (wire, log):
        wire.lose(text)
        assert len(list(log.read(MAIN))) == len(list(log.feed())) == 1
        log.exclusively(MAIN, lambda _: draw(thought("x"), wish=1))
    once(served, "x")


def test_a_moment_that_was_not_begun(served: Site, tmp_path: Path) -> None:
    """Whoever is about to read many things as of one moment asks once more."""
    with wired(served) as (wire, log):
        wire.lose("REPEATABLE READ READ ONLY")
        assert log.export(MAIN, tmp_path / "main.mind") == ([MAIN], 1)


def test_who_goes_on_by_himself_waits_for_a_moment_alone(
    newest: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And so hears soon that he is to stop; whoever can't go on waits for a successor."""
    looks = itertools.count()
    clock = SimpleNamespace(monotonic=lambda: next(looks) / 2, sleep=lambda _: None)
    monkeypatch.setattr(connections, "time", clock)
    begin(newest.create())
    assert newest.place.url is not None
    with Wire(newest.place.url) as wire:
        log = newest.open(newest.place._replace(url=wire.url))
        wire.end()
        with impatient(), pytest.raises(StoreIsUnreachable):
            log.position()
        assert next(looks) < 10
        with pytest.raises(StoreIsUnreachable):
            log.position()
        assert next(looks) > 60


def test_a_wait_that_the_server_ends(served: Site) -> None:
    """An append whose connection is ended while it waits for its turn is made all the same."""
    log = served.create()
    begin(log)
    writer = served.open()
    with ThreadPoolExecutor(1) as threads:
        with log._recorder.writing(MAIN), served.sql() as owner:
            done = threads.submit(grow, writer, MAIN, 1)
            ended = 0
            while not ended:
                ended = owner.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE NOT granted"
                ).rowcount
        assert done.result(LONG).version == 2
    once(served, "t2")


def test_a_server_that_is_killed(own_postgres: Server, tmp_path: Path) -> None:
    """What was acknowledged before is there after; whoever was in the middle goes on."""
    del tmp_path  # where the caches are
    with EventLog.create(place_of(own_postgres.database())) as log:
        begin(log)
        _killed(own_postgres, log, times=1)


@pytest.mark.slow
def test_a_server_that_is_killed_again_and_again(own_postgres: Server) -> None:
    """Twelve times, under four writers: nothing is lost, and nobody wins falsely."""
    with EventLog.create(place_of(own_postgres.database())) as log:
        begin(log)
        _killed(own_postgres, log, times=12)


def _killed(server: Server, log: EventLog, times: int) -> None:
    dice = random.Random(times)  # noqa: S311 — repeatable
    stop = threading.Event()

    def writes(number: int) -> int:
        own = SessionId(f"s{number}")
        with EventLog(log.place) as mine:
            begin(mine, own)
            version = 1
            while not stop.is_set():
                wish = (1 << 42) + number * 1_000_000 + version
                version = mine.append(own, version, draw(thought(f"{version}"), wish=wish)).version
        return version

    with ThreadPoolExecutor(4) as threads:
        acknowledged = [threads.submit(writes, number) for number in range(4)]
        last = 0
        for _ in range(times):
            wanted = last + 8 + dice.randrange(40)
            while (last := log.position()) < wanted:
                assert not any(each.done() for each in acknowledged)
            server.kill()
            server.start()
        wanted = last + 8
        while log.position() < wanted:
            assert not any(each.done() for each in acknowledged)
        stop.set()
        for number, each in enumerate(acknowledged):
            newest = each.result(LONG)
            assert log.head(SessionId(f"s{number}")).version == newest
    positions = [row[2] for row in stored(log)]
    assert positions == sorted(set(positions))
    whole(log)


@pytest.mark.parametrize("cuts", [12, pytest.param(300, marks=pytest.mark.slow)])
def test_connections_that_are_cut_at_random(served: Site, cuts: int) -> None:
    """What was acknowledged is there once; what was not, at most once; and nobody gets stuck."""
    begin(served.create())
    logs = [served.open() for _ in range(3)]
    stop = threading.Event()

    def writes(number: int) -> tuple[list[str], list[str]]:
        told, doubtful = [], []
        own, log = SessionId(f"s{number}"), logs[number]
        while not log.exists(own):
            with suppress(StoreIsUnreachable):
                begin(log, own)
        turn = 0
        while not stop.is_set():
            turn += 1
            text, wish = f"{number}/{turn}", (1 << 43) + number * 1_000_000 + turn
            try:
                if turn % 2:
                    log.append(own, log.state(own).version, draw(thought(text), wish=wish))
                else:
                    _decided(log, text, wish)
                told.append(text)
            except StoreIsUnreachable:
                doubtful.append(text)
            list(log.read(MAIN, newest_first=True, page=7))
        return told, doubtful

    with ThreadPoolExecutor(3) as threads:
        writers = [threads.submit(writes, number) for number in range(3)]
        try:
            with served.sql() as owner:
                for _ in range(cuts):
                    time.sleep(0.01)
                    owner.execute(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                        " WHERE pid <> pg_backend_pid() AND datname = current_database()"
                        " AND backend_type = 'client backend'"  # autovacuum is not ours to end
                        " ORDER BY random() LIMIT 1"
                    )
        finally:
            stop.set()
        told, doubtful = (
            [text for writer in writers for text in writer.result(LONG)[which]] for which in (0, 1)
        )
    log = served.open(served.elsewhere("another"))
    found = [r.event.text for r in log.feed() if isinstance(r.event, ThoughtAdded)]
    assert len(found) == len(set(found))
    assert set(told) <= set(found) <= set(told) | set(doubtful)
    assert all(int(text.partition("/")[2]) % 2 == 0 for text in doubtful)  # appends succeed
    whole(log)


def _decided(log: EventLog, text: str, wish: int) -> None:
    log.exclusively(MAIN, lambda _: draw(thought(text), wish=wish))


@pytest.mark.slow
def test_a_writer_that_is_killed(log: EventLog, site: Site) -> None:
    """Of an append of 100 all is there or nothing, and the next writer goes on at once."""
    begin(log)
    dice = random.Random(7)  # noqa: S311 — repeatable
    command = [sys.executable, str(DRIVER), "write", site.place.name, "main", "10000", "100"]
    for _ in range(4):
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            told = int(writer.stdout.readline())
            time.sleep(dice.random() / 5)
            writer.kill()
            lines = writer.stdout.read().split()
        told = int(lines[-1]) if lines else told
        version = log.head(MAIN).version
        assert (version - 1) % 100 == 0
        assert told <= version <= told + 100
        grow(log, MAIN, 100)
    whole(log)


@pytest.mark.slow
def test_a_standby_is_waited_for_until_it_is_promoted() -> None:
    """Whoever is led to it too early decides, and appends, once it may be written."""
    with Pair(NEWEST) as pair:
        name = pair.database().rpartition("/")[2].partition("?")[0]
        with EventLog.create(place_of(pair.primary.url(name))) as log:
            begin(log)
        place = place_of(pair.standby.url(name))
        while not _holds(place, 1):
            pass
        with EventLog(place) as log, ThreadPoolExecutor(2) as threads:
            acts = [
                threads.submit(_decided, log, "decided", 1),
                threads.submit(begin, log, "other"),
            ]
            for act in acts:
                with pytest.raises(TimeoutError):
                    act.result(0.5)
            pair.promote()
            for act in acts:
                act.result(LONG)
            assert pool(log, MAIN) == ["decided"]


def _holds(place: Place, position: int) -> bool:
    with suppress(NoStore), EventLog(place) as log:
        return log.position() == position
    return False


@pytest.mark.slow
def test_a_server_that_is_gone_for_good(own_postgres: Server) -> None:
    """Who is at work waits for a successor while it has patience; who comes then, not at all."""
    place = place_of(own_postgres.database())
    with EventLog.create(place) as log:
        begin(log)
        own_postgres.kill()
        with pytest.raises(StoreIsUnreachable):
            log.append(MAIN, 1, draw(thought("never"), wish=1))
        with pytest.raises(StoreIsUnreachable, match="see that the server runs"):
            EventLog(place)
