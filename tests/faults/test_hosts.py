"""A store on servers that go away: nothing acknowledged is lost, and writers go on on their own."""

import random
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from commands.eventlog.place import Place
from commands.eventlog.status import statuses
from tests.faults.hosts import Station, Stored, heard, made, stations, stored, waiting_for
from tests.postgres.netlab import Netlab, needs_hosts
from tests.postgres.pair import Pair
from tests.postgres.servers import Server

LAB = ("db", "standby", "a", "b", "c", "follow")
TAKEOVER = 6.0
"""Seconds within which everybody has noticed that a host is gone, and found its successor."""


@pytest.fixture
def lab() -> Iterator[Netlab]:
    """Six hosts."""
    needs_hosts()
    with Netlab(*LAB) as lab:
        yield lab


def sound(having: Stored, writers: list[Station]) -> None:
    """Check that all that was acknowledged is stored, and stored once, and nobody was misled.

    Whoever writes in several steps is told when the server went away between them, and repeats
    the wish; whoever only appends is told of nothing.
    """
    assert (having.lost(writers), having.twice) == ([], ())
    for writer in writers:
        allowed = {"StoreIsUnreachable"} if writer.doing == "turns" else set()
        assert set(writer.failures) <= allowed, writer.said("failed")[-1]


def killed_now_and_then(server: Server, kills: int, doing: dict[str, str], cache: Path) -> None:
    """Let writers work while their server is killed; check what is left, and what was heard."""
    chance, url = random.Random(8), server.database()  # noqa: S311 — repeatable
    made(url, cache)
    with stations(url, cache, dict.fromkeys((*doing, "follow"), ()), doing) as there:
        writers = [there[name] for name in doing]
        for _ in range(kills):
            for writer in writers:
                writer.more(chance.randint(5, 40))
            server.kill()
            server.start()
        for writer in writers:
            writer.more(20)
        for writer in writers:
            writer.kill()
        having = stored(url, cache)
        told = sum(len(writer.said("text")) for writer in writers)
        print(f"{kills} kills: {told} acknowledged, {len(having.notes)} stored")
        sound(having, writers)
        assert heard(there["follow"], having) == list(having.events)


def test_writers_go_on_after_their_server_was_killed(own_postgres: Server, tmp_path: Path) -> None:
    """What was acknowledged is stored once, and nobody is told that somebody else was faster."""
    killed_now_and_then(own_postgres, 1, {"a": "on", "b": "turns"}, tmp_path)


@pytest.mark.slow
def test_twelve_kills_lose_nothing(own_postgres: Server, tmp_path: Path) -> None:
    """The same, again and again, under more writers."""
    doing = {"a": "on", "b": "on", "c": "on", "d": "turns"}
    killed_now_and_then(own_postgres, 12, doing, tmp_path)


Cut = Callable[[Server, str, Station], float]
"""Cuts a writer's host off in the middle of a write; when others could go on at the earliest."""


def others_stall(lab: Netlab, cache: Path, cut: Cut, go_on: str = "") -> list[float]:
    """Cut host ``a`` off in five rounds; how long the others stood still in each, in seconds."""
    with Server(address=lab["db"].address, within=lab["db"].within) as server:
        url = server.database()
        near = server.near(url)
        made(near, cache)
        within = {name: lab[name].within for name in ("a", "b", "c", "follow")}
        with stations(url, cache, within, {"b": "on", "c": "turns"}) as there:
            unlucky, others = there["a"], [there["b"], there["c"]]
            stalls = []
            for number in range(1, 6):
                since = cut(server, near, unlucky)
                for other in others:
                    other.busy_until(since + 2)
                stalls.append(max(other.stall(since, since + 2) for other in others))
                lab.heal("a")
                if go_on:
                    unlucky.word(go_on)
                unlucky.wait_for("text", number)
            for other in others:
                other.kill()
            having = stored(near, cache)
            print("the others' stalls:", *(f"{stall:.3f}" for stall in stalls), unlucky.failures)
            sound(having, others)
            assert (having.lost([unlucky]), having.twice) == ([], ())
            assert heard(there["follow"], having) == list(having.events)
            return stalls


@pytest.mark.slow
def test_whoever_is_cut_off_while_holding_the_log_stalls_nobody_for_long(
    lab: Netlab, tmp_path: Path
) -> None:
    """Whoever writes in several steps, and falls silent in between, has the turn taken away."""

    def cut(_server: Server, _near: str, unlucky: Station) -> float:
        held = len(unlucky.said("held"))
        unlucky.word("hold")
        since = unlucky.wait_for("held", held + 1)[-1]["at"]
        lab.cut("a")
        return float(since)

    assert statistics.median(others_stall(lab, tmp_path, cut, "go")) < 1


@pytest.mark.slow
def test_whoever_is_cut_off_in_the_middle_of_an_append_stalls_nobody(
    lab: Netlab, tmp_path: Path
) -> None:
    """An append is one question: once it has arrived, nobody waits for who asked it."""
    waiting = f"""SELECT count(*) FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND client_addr = '{lab["a"].address}'"""  # noqa: S608 — ours

    def cut(server: Server, near: str, unlucky: Station) -> float:
        with psycopg.connect(near) as turn:
            turn.execute("SELECT logosphere.take_turn(true)")
            unlucky.word("append")
            waiting_for(lambda: server.admin(waiting) == [(1,)])
            lab.cut("a")
            return time.monotonic()

    assert statistics.median(others_stall(lab, tmp_path, cut)) < 1


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["killed", "dead"])
def test_a_standby_takes_over_without_a_loss(lab: Netlab, tmp_path: Path, ending: str) -> None:
    """Whoever knows both hosts goes on, whether the first one's end is seen or only its silence."""
    with Pair(hosts=(lab["db"], lab["standby"])) as pair:
        url = pair.database()
        made(pair.primary.near(url), tmp_path)
        within = {name: lab[name].within for name in ("a", "b", "c", "follow")}
        doing = {"a": "on", "b": "on", "c": "turns"}
        with stations(url, tmp_path, within, doing) as there:
            writers = [there[name] for name in doing]
            for writer in writers:
                writer.more(50)
            since = time.monotonic()
            if ending == "dead":
                lab.kill("db")
            else:
                pair.primary.kill()
            pair.promote()
            promoted = time.monotonic()
            for writer in writers:
                writer.busy_until(promoted)
                writer.more(50)
            until = time.monotonic()
            for writer in writers:
                writer.busy_until(until)
            for writer in writers:
                writer.kill()
            having = stored(pair.standby.near(url), tmp_path)
            stalls = [writer.stall(since, until) for writer in writers]
            sound(having, writers)
            assert heard(there["follow"], having) == list(having.events)
            news = there["follow"].first("position", promoted) - since
            print(f"{ending}: the writers' stalls", *(f"{stall:.2f}" for stall in stalls))
            print(f"promoted after {promoted - since:.2f}, the follower's news after {news:.2f}")
            assert max(stalls) < TAKEOVER
            assert news < TAKEOVER


@pytest.mark.slow
def test_without_synchronous_replication_a_takeover_loses(lab: Netlab, tmp_path: Path) -> None:
    """What a lagging standby never got is gone; mind store status has said so, and no more is."""
    with Pair(hosts=(lab["db"], lab["standby"]), synchronous=False) as pair:
        url = pair.database()
        near = pair.primary.near(url)
        made(near, tmp_path)
        within = {name: lab[name].within for name in ("a", "b")}
        with stations(url, tmp_path, within, {"a": "on", "b": "on"}) as there:
            writers = list(there.values())
            for writer in writers:
                writer.more(50)
            pair.freeze()
            for writer in writers:
                writer.more(100)
            (status,) = statuses(Place(tmp_path / "reader", near)).parts
            for writer in writers:
                writer.kill()
            pair.primary.kill()
            pair.promote()
            having = stored(pair.standby.near(url), tmp_path)
            lost = having.lost(writers)
            told = [line["text"] for writer in writers for line in writer.said("text")]
            print(f"lagging: {len(lost)} of {len(told)} acknowledged are lost")
        assert "bad" in {said.how for said in status.said}
        assert len(lost) >= 200
        # of each writer the newest ones, and nothing from between
        for writer in writers:
            texts = [line["text"] for line in writer.said("text")]
            kept = [text for text in texts if text not in lost]
            assert kept == texts[: len(kept)]
        assert having.twice == ()
        # others begin where the standby was, and find nothing in their way
        late = within | {"c": lab["c"].within}
        with stations(url, tmp_path, late, dict.fromkeys(late, "on")) as there:
            for writer in there.values():
                writer.more(20)
                writer.kill()
            sound(stored(pair.standby.near(url), tmp_path), list(there.values()))
