"""Proof, tampering and redaction: the same words about the same deeds in every store."""

from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from commands.eventlog import EventLog
from commands.eventlog.log import SNAPSHOT_FILE
from commands.eventlog.snapshots import EVERY
from commands.eventlog.verify import PAGE
from domain.errors import NothingChanges
from tests.commands.eventlog.stores import MAIN, begin, branch, draw, grow, pool, thought
from tests.stores.places import Site, stored, whole

SECRET = "0c5b3cf19d6f4a0e8b7e2a61"  # noqa: S105 — what has to go


def findings(log: EventLog, *, new: bool = False) -> list[tuple[str, int]]:
    """What proof names."""
    return [
        (finding.session, finding.version)
        for verdict in log.verify(new=new)
        for finding in verdict.findings
    ]


def family(log: EventLog) -> None:
    """``main`` of 6 events, and a fork."""
    begin(log, events=6)
    branch(log, MAIN, 4, "fork")
    grow(log, "fork", 2)


@pytest.mark.parametrize(
    "how",
    [
        "a bit",
        "gone",
        *(pytest.param(how, marks=pytest.mark.slow) for how in ("the hash", "the end")),
    ],
)
def test_whoever_tampers_is_found(log: EventLog, site: Site, how: str) -> None:
    """Behind the guards' back, in a payload, in a hash, cut short, or taken out."""
    family(log)
    assert findings(log) == []
    third = next(row for row in stored(log) if row[:2] == (MAIN, 3))
    log.close()
    state = third[4]
    changed = {
        "a bit": state[:-1] + bytes([state[-1] ^ 1]),
        "the hash": bytes([state[0] ^ 1]) + state[1:],
        "the end": state[:-2],
        "gone": None,
    }[how]
    site.tamper(third[2], changed)
    found = findings(site.open())
    assert (MAIN, 3) in found
    # what had been proved once is no more
    assert (MAIN, 3) in findings(site.open())


def test_what_was_proved_need_not_be_proved_again(log: EventLog, site: Site) -> None:
    """Unless the store is another one now, at the same address."""
    family(log)
    whole(log)
    grow(log, MAIN, 2)
    assert findings(site.open(), new=True) == []
    if not site.is_server:
        return
    log.close()
    with site.sql() as owner:
        owner.execute(f"DROP SCHEMA {site.place.address.schema} CASCADE".encode())
    again = site.create()
    begin(again, events=9, tag="other")
    assert pool(again, MAIN)[0] == "other2"
    third = next(row for row in stored(again) if row[:2] == (MAIN, 3))
    site.tamper(third[2], third[4][:-1] + b"?")
    assert (MAIN, 3) in findings(site.open(), new=True)
    assert pool(site.open(), MAIN, 2) == ["other2"]


@dataclass
class Machine:
    """The same store, and the caches of one machine."""

    log: EventLog

    def keeps(self) -> bool:
        """Whether the secret is in a file of this machine's."""
        return any(
            SECRET.encode() in file.read_bytes()
            for file in self.log.place.home.rglob("*")
            if file.is_file() and not file.name.endswith("-shm")
        )


@pytest.mark.parametrize("how", ["grown", "redacted"])
@pytest.mark.parametrize("events", [6, PAGE])
def test_who_writes_while_all_is_proved(log: EventLog, site: Site, how: str, events: int) -> None:
    """What comes between the counting of a stream and the reading of it is no finding."""
    begin(log, "long", events=PAGE + 1)
    begin(log, events=events)
    verdicts = log.verify()
    assert next(verdicts).findings == ()  # all have been counted, and this one alone was read
    other = site.open()
    if how == "grown":
        grow(other, MAIN, 2)
    else:
        other.redact({MAIN: [2, 5]}, "a secret", draw(wish=1 << 70))
    assert [(v.session, v.events, v.findings) for v in verdicts] == [(MAIN, events + 2, ())]


def test_what_was_redacted_is_gone(log: EventLog, site: Site) -> None:
    """From the row, from every state, here and elsewhere; and all is proved as before."""
    begin(log, events=100)
    log.append(MAIN, 100, draw(thought(f"my word is {SECRET}"), wish=1))
    grow(log, MAIN, EVERY - 90)
    branch(log, MAIN, 110, "fork")
    grow(log, "fork", 1)
    elsewhere = Machine(site.open(site.elsewhere("another")))
    for one in (log, elsewhere.log):
        assert SECRET in "".join(pool(one, "fork") + pool(one, MAIN, EVERY + 2))
    heads = {name: log.head(name) for name in log.sessions()}

    log.redact({MAIN: [101]}, "a secret", draw(wish=99))

    assert all(SECRET.encode() not in row[4] for row in stored(log))
    again = site.open(site.elsewhere("a third"))
    for one in (log, elsewhere.log, again):
        for texts in (pool(one, "fork"), pool(one, MAIN), pool(one, MAIN, EVERY + 2)):
            assert SECRET not in "".join(texts)
        assert [r.redacted for r in one.read(MAIN, after=99, upto=102)] == [False, True, False]
        whole(one)
        assert one.head(MAIN, heads[MAIN].version) == heads[MAIN]
        assert one.mark() == log.mark() != b""
    assert not elsewhere.keeps()
    assert not Machine(log).keeps()
    with pytest.raises(NothingChanges):
        log.redact({MAIN: [101]}, "once more", draw(wish=100))
    assert (elsewhere.log.place.home / SNAPSHOT_FILE).exists()


def test_a_server_takes_content_away_in_a_redaction_only(served: Site) -> None:
    """Not the hash, not the kind, and not in a transaction before or after."""
    log = served.create()
    family(log)
    before, schema = stored(log), served.place.address.schema
    allow = f"SELECT set_config('{schema}.redacting', pg_current_xact_id()::text, %s)"
    with served.sql() as owner:
        for change in ("state = '\\x00'", "topic = 'x'", "position = 99", "originator_id = 'x'"):
            owner.execute("BEGIN")
            owner.execute(allow.encode(), ("true",))
            with pytest.raises(psycopg.Error):
                owner.execute(f"UPDATE stored_events SET {change}".encode())  # noqa: S608
            owner.execute("ROLLBACK")
        owner.execute(allow.encode(), ("false",))
        with pytest.raises(psycopg.Error):
            owner.execute("UPDATE stored_events SET state = substr(state, 1, 32)")
    assert stored(log) == before


@pytest.mark.slow
def test_the_caches_of_another_store_tell_no_lies(served: Site, tmp_path: Path) -> None:
    """States that were kept of one store are not taken for those of another."""
    log = served.create()
    begin(log, events=EVERY + 5, tag="one")
    assert pool(log, MAIN)[-1][:3] == "one"
    log.close()
    with EventLog.create(_directory(tmp_path)) as other:
        begin(other, events=EVERY + 5, tag="two")
        kept = other.place.home / SNAPSHOT_FILE
        assert pool(other, MAIN)[-1][:3] == "two"
    mixed = served.place._replace(home=tmp_path / "mixed")
    mixed.home.mkdir()
    (mixed.home / SNAPSHOT_FILE).write_bytes(kept.read_bytes())
    with EventLog(mixed) as again:
        assert pool(again, MAIN)[-1][:3] == "one"


def _directory(tmp_path: Path) -> Path:
    directory = tmp_path / "file"
    directory.mkdir()
    return directory
