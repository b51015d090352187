"""`mind verify` and `mind head`: what is proved is said, and what is not, too."""

import json
from pathlib import Path

import pytest

from commands.eventlog import EventLog
from domain.ids import SessionId
from tests.cli.conftest import Mind, Ran
from tests.commands.eventlog.stores import MAIN, begin, branch, draw, grow, unguarded

pytest.importorskip("cryptography")
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

FOLLOWS = "it says nothing about what came after them"
NOT_TOGETHER = "The store and these heads do not go together"


@pytest.fixture
def mind(within: Mind) -> Mind:
    """Within this process: these tests ask many commands."""
    return within


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """``main`` of 12 events, and ``fork`` behind its 6th with 3 of its own."""
    store = tmp_path / "a store"
    store.mkdir()
    with EventLog.create(store) as log:
        begin(log, events=12)
        branch(log, MAIN, 6, "fork")
        grow(log, "fork", 2)
    return store


def verify(mind: Mind, store: Path, *words: str) -> Ran:
    """What is told of a store."""
    done = mind("verify", *words, "--store", str(store))
    assert "Traceback" not in done.err
    return done


def keys(tmp_path: Path, name: str) -> tuple[str, str]:
    """A pair of keys, as ssh-keygen and as openssl would write them."""
    key = Ed25519PrivateKey.generate()
    private, public = tmp_path / name, tmp_path / f"{name}.pub"
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    form = PublicFormat.SubjectPublicKeyInfo
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, form))
    return str(private), str(public)


def cut(store: Path, session: str, after: int) -> None:
    """Take away what is newest."""
    with unguarded(store) as connection:
        connection.execute(
            "DELETE FROM stored_events WHERE originator_id=? AND originator_version>?",
            (session, after),
        )


def test_all_as_written(installed: Mind, mind: Mind, store: Path) -> None:
    """How many events of how many sessions; of some, with their ancestors; then what is new."""
    assert verify(installed, store).out == "15 events of 2 sessions: all as written.\n"
    assert verify(mind, store, "fork").out == "15 events of 2 sessions: all as written.\n"
    assert verify(mind, store, "main").out == "12 events of 1 session: all as written.\n"
    new = verify(mind, store, "--since-last")
    assert (new.code, new.out) == (0, "0 new events of 0 sessions: all as written.\n")
    with EventLog(store) as log:
        grow(log, MAIN, 1)
    assert verify(mind, store, "--since-last").out == (
        "1 new event of 1 session: all as written.\n"
    )
    assert verify(mind, store, "--all", "--json").data == {
        "sessions": 2,
        "streams": 2,
        "events": 16,
        "findings": [],
        "heads": [],
        "signed_by": None,
        "away": [],
    }


def test_what_is_not_as_written(mind: Mind, store: Path) -> None:
    """Each finding on a line of its own, exit code 1, and the same as data."""
    with unguarded(store) as connection:
        connection.execute(
            "UPDATE stored_events SET state=CAST(state||x'00' AS BLOB) WHERE rowid IN (5, 14)"
        )
    said = verify(mind, store)
    assert said.code == 1
    assert said.out.splitlines() == [
        "main: event 5 (thought.added) is not what was written, or not where",
        "fork: event 8 (thought.added) is not what was written, or not where",
    ]
    assert "2 findings" in said.err
    data = verify(mind, store, "--json")
    assert data.code == 1
    assert [(f["session"], f["version"]) for f in data.data["findings"]] == [
        ("main", 5),
        ("fork", 8),
    ]


def test_what_was_proved_and_is_gone(mind: Mind, store: Path) -> None:
    """The store itself is named, and the whole proof that follows."""
    verify(mind, store)
    cut(store, "fork", 8)
    said = verify(mind, store, "--since-last")
    assert said.code == 1
    assert said.out == "the store: the event at position 15 is not the one that was verified\n"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("main", "--all"), "name sessions, or look at all"),
        (("main", "--since-last"), "name sessions, or look at all"),
        (("--key", "k"), "add --against FILE"),
        (("main", "--against", "f"), "the sessions that the file names"),
        (("--since-last", "--against", "f"), "the sessions that the file names"),
        (("--against", "nowhere.json"), "can't be read"),
        (("nowhere",), "nowhere"),
    ],
)
def test_wishes_that_make_no_sense(
    mind: Mind, store: Path, words: tuple[str, ...], why: str
) -> None:
    """They are refused, and it is said why."""
    said = verify(mind, store, *words)
    assert said.code == 2
    assert why in " ".join(said.err.replace("│", " ").split())


def test_unsigned_heads(mind: Mind, store: Path, tmp_path: Path) -> None:
    """What they prove, and what they don't: nothing later, no other session, not themselves."""
    made = mind("head", "main", "-o", "my heads.json", "--store", str(store))
    assert (made.code, made.out) == (0, "")
    assert made.err == "Wrote the heads of 1 session to my heads.json.\n"
    said = verify(mind, store, "--against", "my heads.json")
    assert said.code == 0
    assert said.out.splitlines()[1].startswith("1 session as whole as on 20")
    assert said.out.endswith("(unsigned).\n")
    assert FOLLOWS in said.err
    assert "nor about 1 session that they do not name" in said.err
    assert "they are unsigned: whoever can write that file could have changed it" in said.err
    cut(store, "main", 11)
    said = verify(mind, store, "--against", "my heads.json")
    assert said.code == 1
    assert "main ends at 11: event 12 is gone.\n" in said.out
    assert "as whole as" not in said.out
    assert FOLLOWS not in said.err
    assert f"{NOT_TOGETHER}; they are unsigned" in said.err
    data = verify(mind, store, "--against", "my heads.json", "--json")
    assert data.code == 1
    assert data.data["heads"] == [
        {"session": "main", "version": 12, "standing": "cut off", "now": 11, "here": "main"}
    ]


def test_signed_heads(mind: Mind, store: Path, tmp_path: Path) -> None:
    """By whom is said; that it is the right one is known to who names the key alone."""
    ann, ann_public = keys(tmp_path, "ann")
    _, eve_public = keys(tmp_path, "eve")
    made = mind("head", "--sign", ann, "-o", "h.json", "--store", str(store))
    assert made.err == "Wrote the signed heads of 2 sessions to h.json.\n"
    key = json.loads((tmp_path / "h.json").read_text())["signature"]["key"]
    said = verify(mind, store, "--against", "h.json")
    assert said.code == 0
    assert "2 sessions as whole as on 20" in said.out
    assert f"(signed with {key})." in said.out
    assert "name the one you trust with --key" in said.err
    said = verify(mind, store, "--against", "h.json", "--key", ann_public)
    assert said.code == 0
    assert FOLLOWS in said.err
    assert "--key" not in said.err
    assert "unsigned" not in said.err
    said = verify(mind, store, "--against", "h.json", "--key", eve_public)
    assert said.code == 2
    assert "another key" in said.err
    with unguarded(store) as connection:
        connection.execute("DELETE FROM stored_events WHERE originator_id='fork'")
    said = verify(mind, store, "--against", "h.json", "--key", ann_public)
    assert said.code == 1
    assert "fork is gone, with all of its 9 events.\n" in said.out
    assert f"{NOT_TOGETHER}, and the heads are what was signed." in said.err
    data = verify(mind, store, "--against", "h.json", "--json").data
    assert data["signed_by"] == key


def test_a_changed_payload_beside_heads_that_hold(mind: Mind, store: Path) -> None:
    """The chain finds it, so nothing is said to be proved."""
    mind("head", "-o", "h.json", "--store", str(store))
    with unguarded(store) as connection:
        connection.execute(
            "UPDATE stored_events SET state=CAST(state||x'00' AS BLOB) WHERE rowid=5"
        )
    said = verify(mind, store, "--against", "h.json")
    assert said.code == 1
    assert "main: event 5" in said.out
    assert FOLLOWS not in said.err
    assert NOT_TOGETHER in said.err


def test_heads_of_what_is_called_something_else_here(
    mind: Mind, store: Path, tmp_path: Path
) -> None:
    """An import under another name is found, and the name is told."""
    mind("head", "-o", "h.json", "--store", str(store))
    other = tmp_path / "other"
    other.mkdir()
    with EventLog.create(other) as log, EventLog(store) as source:
        begin(log, events=2, tag="mine")
        source.export(MAIN, tmp_path / "b")
        log.take_over(tmp_path / "b")
    said = verify(mind, other, "--against", "h.json")
    assert said.code == 0
    assert "main is called main-2 here.\n" in said.out
    assert "2 sessions as whole as on" in said.out
    assert "nor about 1 session that they do not name" in said.err
    cut(other, "main-2", 11)
    with EventLog(other) as log:
        grow(log, "main-2", 1, tag="better")
        grow(log, MAIN, 40, tag="mine")
    said = verify(mind, other, "--against", "h.json")
    assert said.code == 1
    assert "main is another history: event 12 is not the one that was there.\n" in said.out


def test_heads_as_data(mind: Mind, store: Path) -> None:
    """Without a file they go to stdout; of some sessions, or of all."""
    data = mind("head", "--store", str(store)).data
    with EventLog(store) as log:
        assert data["heads"] == [
            {"session": n, "version": log.head(n).version, "hash": log.head(n).hash.hex()}
            for n in (MAIN, SessionId("fork"))
        ]
    assert data["format"] == "logosphere-heads/1"
    assert "signature" not in data
    assert [h["session"] for h in mind("head", "fork", "-S", str(store)).data["heads"]] == ["fork"]


def test_what_is_refused(mind: Mind, store: Path, tmp_path: Path) -> None:
    """Sessions that are not there, places that can't be written, keys that are none."""
    locked = Ed25519PrivateKey.generate().private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")
    )
    (tmp_path / "locked").write_bytes(locked)
    for words, why in (
        (("head", "nowhere"), "nowhere"),
        (("head", "-o", "nowhere/h.json"), "can't be written"),
        (("head", "--sign", "nowhere"), "can't be read"),
        (("head", "--sign", "locked"), "without a passphrase"),
    ):
        said = mind(*words, "--store", str(store))
        assert said.code == 2
        assert why in said.err
        assert "Traceback" not in said.err
    assert sorted(f.name for f in tmp_path.iterdir()) == ["a store", "locked"]


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe", b"[" * 100_000])
def test_files_that_hold_no_heads(mind: Mind, store: Path, tmp_path: Path, content: bytes) -> None:
    """One sentence, whatever it is."""
    (tmp_path / "h.json").write_bytes(content)
    said = verify(mind, store, "--against", "h.json")
    assert said.code == 2
    assert "holds no heads" in said.err


def test_redactions_are_as_written(mind: Mind, store: Path) -> None:
    """What was taken away as one should is no finding, and forged is."""
    with EventLog(store) as log:
        log.redact({MAIN: [4, 9]}, "private", draw(wish=1 << 70))
    assert verify(mind, store).out == "17 events of 2 sessions: all as written.\n"
    with unguarded(store) as connection:
        connection.execute("DELETE FROM stored_events WHERE rowid=17")
    said = verify(mind, store)
    assert said.out == "main: event 9 was emptied, and no redaction says so\n"
    assert said.code == 1
