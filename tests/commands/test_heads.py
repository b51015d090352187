"""Heads kept elsewhere: what they prove, whom they trust, and what they can't be talked into."""

import base64
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commands.eventlog import EventLog
from commands.heads import FORMAT, Compared, Kept, compared, heads_of, read_heads
from domain.errors import BadSetting, NoSuchSession, Refused
from domain.ids import SessionId
from tests.commands.eventlog.stores import (
    MAIN,
    StillWorld,
    begin,
    branch,
    draw,
    grow,
    unguarded,
)

pytest.importorskip("cryptography")
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

FORK = SessionId("fork")


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    """``main`` of 12 events, ``fork`` behind its 6th with 3 of its own, and ``own`` of 5."""
    (tmp_path / "store").mkdir()
    with EventLog.create(tmp_path / "store") as made:
        begin(made, events=12)
        branch(made, MAIN, 6, FORK)
        grow(made, FORK, 2)
        begin(made, "own", events=5)
        yield made


@pytest.fixture
def file(log: EventLog, tmp_path: Path) -> Path:
    """Its heads, unsigned."""
    return kept(log, tmp_path / "heads.json")


def kept(log: EventLog, file: Path, key: Path | None = None, *names: str) -> Path:
    """The heads of sessions in a file; of all of them by default."""
    sessions = [SessionId(name) for name in names] or log.sessions()
    file.write_text(json.dumps(heads_of(log, sessions, StillWorld(), key)), "utf-8")
    return file


def standing(log: EventLog, file: Path) -> dict[str, tuple[str, int, str | None]]:
    """What has become of each session: how it stands, where, and what it is called."""
    heads = read_heads(file).kept
    return {one.session: (one.standing, one.now, one.here) for one in compared(log, heads)}


def whole(log: EventLog) -> bool:
    """Whether the chains alone prove all that is there."""
    return not [f for verdict in log.verify() for f in verdict.findings]


# what they find


def test_nothing_has_happened(log: EventLog, file: Path) -> None:
    """Each session is as written, at the version that the file says."""
    assert standing(log, file) == {
        "main": ("as written", 12, "main"),
        "fork": ("as written", 9, "fork"),
        "own": ("as written", 5, "own"),
    }
    assert read_heads(file).kept[0] == Kept(MAIN, 12, log.head(MAIN).hash)
    assert read_heads(file).made == "2025-06-15T15:06:40+00:00"


def test_what_came_later_is_no_harm(log: EventLog, file: Path) -> None:
    """Sessions that have grown, branched and been redacted since are as written."""
    grow(log, MAIN, 5)
    branch(log, MAIN, 12, "late")
    log.redact({MAIN: [3, 12], FORK: [8]}, "x", draw(wish=1 << 70))
    assert {how for how, _, _ in standing(log, file).values()} == {"as written"}
    assert whole(log)


def cut(log: EventLog, session: str, after: int) -> None:
    """Take away what is newest."""
    with unguarded(log.place.home) as connection:
        connection.execute(
            "DELETE FROM stored_events WHERE originator_id=? AND originator_version>?",
            (session, after),
        )


@pytest.mark.parametrize("after", [11, 6])
def test_a_tail_that_was_cut_off(log: EventLog, file: Path, after: int) -> None:
    """The chain that is left is whole, and the head says what is missing."""
    cut(log, MAIN, after)
    with EventLog(log.place.home) as now:
        assert whole(now)
        assert standing(now, file)["main"] == ("cut off", after, "main")
        assert standing(now, file)["fork"] == ("as written", 9, "fork")


def test_a_tail_that_was_cut_off_and_written_anew(log: EventLog, file: Path) -> None:
    """Other events in the place of those that were there: the hash at the head is another."""
    cut(log, MAIN, 10)
    with EventLog(log.place.home) as now:
        grow(now, MAIN, 2, tag="better")
        assert whole(now)
        assert standing(now, file)["main"] == ("rewritten", 12, "main")
        grow(now, MAIN, 2)
        assert standing(now, file)["main"] == ("rewritten", 14, "main")


def test_a_session_that_was_deleted(log: EventLog, file: Path) -> None:
    """Nothing else in the store misses it."""
    cut(log, "own", 0)
    with EventLog(log.place.home) as now:
        assert whole(now)
        assert standing(now, file)["own"] == ("gone", 0, None)


def test_a_history_that_was_sealed_anew(log: EventLog, file: Path, tmp_path: Path) -> None:
    """One changed word, and all hashes behind it computed again: only the heads know."""
    (tmp_path / "other").mkdir()
    with EventLog.create(tmp_path / "other") as other:
        begin(other, events=1)
        for version in range(2, 13):
            grow(other, MAIN, 1, tag="lie" if version == 3 else "t")
        branch(other, MAIN, 6, FORK)
        grow(other, FORK, 2)
        begin(other, "own", events=5)
        assert whole(other)
        assert standing(other, file) == {
            "main": ("rewritten", 12, "main"),
            "fork": ("rewritten", 9, "fork"),
            "own": ("as written", 5, "own"),
        }


def test_an_event_that_was_slipped_in_below(log: EventLog, file: Path) -> None:
    """A changed payload below a head keeps the head: it is the chain that finds it."""
    with unguarded(log.place.home) as connection:
        connection.execute("UPDATE stored_events SET state=state||x'00' WHERE rowid=4")
        connection.execute("UPDATE stored_events SET state=CAST(state AS BLOB) WHERE rowid=4")
    with EventLog(log.place.home) as now:
        assert standing(now, file)["main"] == ("as written", 12, "main")
        assert not whole(now)


def test_a_hole_below_a_head(log: EventLog, file: Path) -> None:
    """A head whose event is missing, though later ones are there, is not as written."""
    with unguarded(log.place.home) as connection:
        connection.execute(
            "INSERT INTO stored_events SELECT 99, originator_id, 13, topic, state"
            " FROM stored_events WHERE rowid=5"
        )
        connection.execute("DELETE FROM stored_events WHERE rowid=12")
    with EventLog(log.place.home) as now:
        assert standing(now, file)["main"] == ("rewritten", 13, "main")


# under other names


@pytest.fixture
def elsewhere(log: EventLog, tmp_path: Path) -> Iterator[EventLog]:
    """Another store, with a ``main`` and an ``own`` of its own, into which the first went."""
    (tmp_path / "elsewhere").mkdir()
    with EventLog.create(tmp_path / "elsewhere") as other:
        begin(other, events=20, tag="mine")
        begin(other, "own", events=2, tag="mine")
        for name in ("main", "own"):
            log.export(SessionId(name), tmp_path / f"{name}.mind")
            other.take_over(tmp_path / f"{name}.mind")
        yield other


def test_what_was_imported_under_another_name(
    log: EventLog, elsewhere: EventLog, file: Path
) -> None:
    """Heads of the first store hold in the second: the hash says which session it is."""
    assert elsewhere.sessions() == ["main", "own", "main-2", "fork", "own-2"]
    assert standing(elsewhere, file) == {
        "main": ("as written", 12, "main-2"),
        "fork": ("as written", 9, "fork"),
        "own": ("as written", 5, "own-2"),
    }
    assert elsewhere.born_as("main") == ["main", "main-2"]
    assert elsewhere.born_as("fork") == ["fork"]
    assert elsewhere.born_as("main-2") == []


def test_heads_that_come_back(log: EventLog, elsewhere: EventLog, tmp_path: Path) -> None:
    """Heads of the second store hold in the first, where that name never was."""
    back = kept(elsewhere, tmp_path / "back.json", None, "main-2", "own-2", "fork")
    assert standing(log, back) == {
        "main-2": ("as written", 12, "main"),
        "own-2": ("as written", 5, "own"),
        "fork": ("as written", 9, "fork"),
    }


def test_what_changed_under_another_name(elsewhere: EventLog, file: Path) -> None:
    """A name that means something else here is no excuse for what was cut off."""
    cut(elsewhere, "main-2", 11)
    cut(elsewhere, "own-2", 0)
    with EventLog(elsewhere.place.home) as now:
        found = standing(now, file)
    assert found["main"][0] == "rewritten"
    assert found["own"][0] == "cut off"
    assert found["fork"][0] == "as written"
    cut(elsewhere, "main", 0)
    with EventLog(elsewhere.place.home) as now:
        assert standing(now, file)["main"] == ("cut off", 11, "main-2")


def test_a_session_of_that_name_alone_is_not_it(log: EventLog, tmp_path: Path, file: Path) -> None:
    """Another history under the same name is said to be one."""
    (tmp_path / "third").mkdir()
    with EventLog.create(tmp_path / "third") as other:
        begin(other, events=30, tag="mine")
        assert standing(other, file) == {
            "main": ("rewritten", 30, "main"),
            "fork": ("gone", 0, None),
            "own": ("gone", 0, None),
        }


# keys


def written(file: Path, data: bytes) -> Path:
    """A file with these bytes."""
    file.write_bytes(data)
    return file


def pem(key: Any, password: bytes | None = None) -> bytes:
    """A private key as openssl writes it."""
    hidden = BestAvailableEncryption(password) if password else NoEncryption()
    return bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, hidden))


def openssh(key: Any) -> bytes:
    """A private key as ssh-keygen writes it."""
    return bytes(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))


def public_pem(key: Any) -> bytes:
    """A public key as openssl writes it."""
    return bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))


def public_openssh(key: Any) -> bytes:
    """A public key as ssh-keygen writes it, with its comment."""
    line = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    return bytes(line) + b" ann@home\\n"


KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
EVE = Ed25519PrivateKey.from_private_bytes(bytes(32))


@pytest.mark.parametrize("private", [pem, openssh])
@pytest.mark.parametrize("public", [public_pem, public_openssh])
def test_signed_with_a_key_of_either_kind(
    log: EventLog, tmp_path: Path, private: Any, public: Any
) -> None:
    """What openssl and ssh-keygen write is read, and one key's two forms are one key."""
    secret = written(tmp_path / "key", private(KEY))
    trusted = written(tmp_path / "key.pub", public(KEY))
    file = kept(log, tmp_path / "signed.json", secret)
    heads = read_heads(file, trusted)
    assert heads.key == base64.b64encode(KEY.public_key().public_bytes_raw()).decode()
    assert read_heads(file).key == heads.key
    assert {how for how, _, _ in standing(log, file).values()} == {"as written"}


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "ann at home", "-f"], "ssh"),
        (["openssl", "genpkey", "-algorithm", "ed25519", "-out"], "pem"),
    ],
    ids=["ssh-keygen", "openssl"],
)
def test_keys_of_the_real_tools(log: EventLog, tmp_path: Path, make: list[str], kind: str) -> None:
    """Keys made by the programs that people have."""
    if shutil.which(make[0]) is None:
        pytest.skip(f"{make[0]} is not installed")
    key, public = tmp_path / "key", tmp_path / "key.pub"
    subprocess.run([*make, key], check=True, capture_output=True)
    if kind == "pem":
        words = ["openssl", "pkey", "-in", key, "-pubout", "-out", public]
        subprocess.run(words, check=True, capture_output=True)
    assert read_heads(kept(log, tmp_path / "signed.json", key), public).key is not None


def test_a_key_with_a_passphrase_as_ssh_keygen_makes_it(log: EventLog, tmp_path: Path) -> None:
    """It is refused, since nobody is asked for the passphrase, and it says which keys will do."""
    if shutil.which("ssh-keygen") is None:
        pytest.skip("ssh-keygen is not installed")
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", key], check=True)
    with pytest.raises(Refused, match="without a passphrase"):
        heads_of(log, log.sessions(), StillWorld(), key)


def test_whom_a_signature_is_from(log: EventLog, file: Path, tmp_path: Path) -> None:
    """Unsigned heads, or those that somebody else signed, are refused where a key is named."""
    eve = written(tmp_path / "eve", pem(EVE))
    ann = written(tmp_path / "ann.pub", public_openssh(KEY))
    with pytest.raises(Refused, match="is not signed: nobody vouches for it"):
        read_heads(file, ann)
    signed = kept(log, tmp_path / "signed.json", eve)
    with pytest.raises(Refused, match=r"another key than .*ann\.pub"):
        read_heads(signed, ann)
    assert read_heads(signed).key == base64.b64encode(EVE.public_key().public_bytes_raw()).decode()


def another(data: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The same data, deeply copied, with changes."""
    copy: dict[str, Any] = json.loads(json.dumps(data))
    copy.update(changes)
    return copy


def test_signed_heads_that_were_changed(log: EventLog, tmp_path: Path) -> None:
    """Any change of any field: the signature is not right."""
    key = written(tmp_path / "key", pem(KEY))
    data = heads_of(log, log.sessions(), StillWorld(), key)
    heads, signature = data["heads"], data["signature"]
    changed = [
        another(data, made="2020-01-01T00:00:00+00:00"),
        another(data, heads=heads[1:]),
        another(data, heads=heads[::-1]),
        another(data, heads=[]),
        another(data, heads=[another(heads[0], version=11), *heads[1:]]),
        another(data, heads=[another(heads[0], hash="00" * 32), *heads[1:]]),
        another(data, heads=[another(heads[0], session="own"), *heads[1:]]),
        another(data, heads=[another(heads[0], more=1), *heads[1:]]),
        another(data, more=None),
        another(data, signature=another(signature, value=base64.b64encode(bytes(64)).decode())),
        another(data, signature=another(signature, key=base64.b64encode(bytes(32)).decode())),
        another(data, signature=another(signature, value="")),
        another(data, signature=another(signature, value="!")),
        another(data, signature=another(signature, value=7)),
        another(data, signature=another(signature, key=None)),
        another(data, signature=another(signature, key="AAAA")),
        another(data, signature={}),
        another(data, signature=[]),
        another(data, signature="yes"),
        another(data, signature=0),
    ]
    for number, one in enumerate(changed):
        file = written(tmp_path / f"{number}.json", json.dumps(one).encode())
        with pytest.raises(Refused, match=r"signature of .* is not right"):
            read_heads(file)
    plain = written(tmp_path / "plain.json", json.dumps(another(data, signature=None)).encode())
    assert read_heads(plain).key is None, "without a signature, they are unsigned heads"


def test_signed_heads_that_were_only_laid_out_anew(log: EventLog, tmp_path: Path) -> None:
    """Spaces, order of keys and escapes are not what was signed."""
    key = written(tmp_path / "key", pem(KEY))
    data = heads_of(log, log.sessions(), StillWorld(), key)
    turned = dict(reversed(data.items()))
    file = written(tmp_path / "f.json", json.dumps(turned, indent=7, ensure_ascii=True).encode())
    assert read_heads(file, written(tmp_path / "p", public_pem(KEY))).kept == read_heads(file).kept


NO_KEYS: dict[str, bytes] = {
    "nothing": b"",
    "text": b"this is my key",
    "another algorithm": pem(ec.generate_private_key(ec.SECP256R1())),
    "another algorithm of ssh": openssh(ec.generate_private_key(ec.SECP256R1())),
    "rsa": pem(rsa.generate_private_key(65537, 2048)),
    "a passphrase": pem(KEY, b"secret"),
    "a public key": public_pem(KEY),
    "a public key of ssh": public_openssh(KEY),
    "half a key": pem(KEY)[:60],
    "half a key of ssh": openssh(KEY)[:200],
    "garbage in a frame": b"-----BEGIN PRIVATE " + b"KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    "garbage in a frame of ssh": b"-----BEGIN OPENSSH PRIVATE " + b"KEY-----\nb3Blbn"
    b"NzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----\n",
    "bytes": bytes(range(256)) * 300,
}


@pytest.mark.parametrize("what", NO_KEYS)
def test_keys_that_sign_nothing(log: EventLog, tmp_path: Path, what: str) -> None:
    """Refused in a sentence that says which key would do; with a passphrase, that it has one."""
    key = written(tmp_path / "key", NO_KEYS[what])
    with pytest.raises(Refused, match=r"no private Ed25519 key .*ssh-keygen -t ed25519"):
        heads_of(log, log.sessions(), StillWorld(), key)
    if "passphrase" in what:
        with pytest.raises(Refused, match="without a passphrase"):
            heads_of(log, log.sessions(), StillWorld(), key)


@pytest.mark.parametrize("what", [name for name in NO_KEYS if "public" not in name])
def test_keys_that_prove_nothing(log: EventLog, tmp_path: Path, what: str) -> None:
    """The same where a public key is to be trusted."""
    file = kept(log, tmp_path / "signed.json", written(tmp_path / "key", pem(KEY)))
    trusted = written(tmp_path / "key.pub", NO_KEYS[what])
    with pytest.raises(Refused, match=r"no public Ed25519 key .*ssh-keygen"):
        read_heads(file, trusted)


def test_other_public_keys(log: EventLog, tmp_path: Path) -> None:
    """Of another algorithm, in either form."""
    file = kept(log, tmp_path / "signed.json", written(tmp_path / "key", pem(KEY)))
    for other in (ec.generate_private_key(ec.SECP256R1()), rsa.generate_private_key(65537, 2048)):
        for form in (public_pem, public_openssh):
            with pytest.raises(Refused, match="no public Ed25519 key"):
                read_heads(file, written(tmp_path / "key.pub", form(other)))


def test_keys_that_are_not_there(log: EventLog, file: Path, tmp_path: Path) -> None:
    """A missing file or a directory is named."""
    signed = kept(log, tmp_path / "signed.json", written(tmp_path / "key", pem(KEY)))
    for place in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(BadSetting, match="can't be read"):
            heads_of(log, log.sessions(), StillWorld(), place)
        with pytest.raises(BadSetting, match="can't be read"):
            read_heads(signed, place)


# files

HEAD = {"session": "main", "version": 3, "hash": "00" * 32}
MADE = {"format": FORMAT, "made": "2026-05-02T10:30:00+00:00", "heads": [HEAD]}
NO_HEADS: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": b"heads: main",
    "no text": b"\\xff\\xfe\\x00\\xd8",
    "half": json.dumps(MADE).encode()[:-9],
    "a list": b"[]",
    "a word": b'"logosphere-heads/1"',
    "null": b"null",
    "another form": json.dumps({**MADE, "format": "logosphere-heads/2"}).encode(),
    "no form": json.dumps({"made": "x", "heads": [HEAD]}).encode(),
    "no time": json.dumps({"format": FORMAT, "heads": [HEAD]}).encode(),
    "no heads": json.dumps({"format": FORMAT, "made": "x"}).encode(),
    "heads that are none": json.dumps({**MADE, "heads": "main"}).encode(),
    "heads that are numbers": json.dumps({**MADE, "heads": [1, 2]}).encode(),
    "heads by name": json.dumps({**MADE, "heads": {"main": HEAD}}).encode(),
    "very deep": b"[" * 200_000,
    "very deep heads": b'{"format": "logosphere-heads/1", "heads": %s}'
    % (b"[" * 100_000 + b"]" * 100_000),
}
WRONG: dict[str, dict[str, Any]] = {
    "session": {"session": "../x"},
    "no session": {"session": None},
    "a number": {"session": 7},
    "a list": {"session": ["main"]},
    "a word": {"version": "three"},
    "a fraction": {"version": 2.5},
    "endless": {"version": float("inf")},
    "no number": {"version": float("nan")},
    "yes": {"version": True},
    "zero": {"version": 0},
    "below": {"version": -3},
    "huge": {"version": 10**40},
    "no version": {"version": None},
    "no hex": {"hash": "xyz"},
    "no hash": {"hash": None},
    "a hash of numbers": {"hash": 5},
}


@pytest.mark.parametrize("what", NO_HEADS)
def test_files_without_heads(tmp_path: Path, what: str) -> None:
    """Whatever it is, it is said to hold none."""
    with pytest.raises(BadSetting, match="holds no heads"):
        read_heads(written(tmp_path / "f", NO_HEADS[what]))


@pytest.mark.parametrize("what", WRONG)
def test_heads_that_say_nothing(tmp_path: Path, what: str) -> None:
    """Names, versions and hashes of other kinds are no heads."""
    data = {**MADE, "heads": [HEAD, {**HEAD, **WRONG[what]}]}
    with pytest.raises(BadSetting, match="holds no heads"):
        read_heads(written(tmp_path / "f", json.dumps(data).encode()))


def test_heads_that_are_signed_and_wrong(tmp_path: Path) -> None:
    """A signature makes no head of what is none; however deep it is nested, that is no crash."""
    signature = '"signature": {"key": "AAAA", "value": "AAAA"}'
    for depth in (3, *range(500, 1_000, 7), 5_000):
        for one, other in (("[", "]"), ('{"a":', "}")):
            deep = one * depth + "1" + other * depth
            data = f'{{"format": "{FORMAT}", "made": "x", "heads": [], "d": {deep}, {signature}}}'
            with pytest.raises(Refused):
                read_heads(written(tmp_path / "f", data.encode()))


def test_files_that_are_too_large(tmp_path: Path) -> None:
    """A file of gigabytes is not read at all."""
    file = tmp_path / "f"
    with file.open("wb") as large:
        large.truncate(2**33)
    with pytest.raises(BadSetting, match="too large for a file of heads"):
        read_heads(file)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    """A missing file or a directory is named."""
    for place in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(BadSetting, match="can't be read"):
            read_heads(place)


def test_hashes_of_other_lengths_match_nothing(log: EventLog, tmp_path: Path) -> None:
    """The beginning of the right hash is not the hash."""
    right = log.head(MAIN).hash
    for hash_ in (right[:16], right + b"\\0", b""):
        data = {**MADE, "heads": [{"session": "main", "version": 12, "hash": hash_.hex()}]}
        file = written(tmp_path / "f", json.dumps(data).encode())
        assert standing(log, file) == {"main": ("rewritten", 12, "main")}


def test_heads_of_what_is_not_there(log: EventLog) -> None:
    """A session that nobody knows is refused by name."""
    with pytest.raises(NoSuchSession, match="nowhere"):
        heads_of(log, [SessionId("nowhere")], StillWorld())


def test_a_version_beyond_all(log: EventLog) -> None:
    """A head far above is a cut, however far."""
    (one,) = compared(log, [Kept(MAIN, 2**61, bytes(32))])
    assert one == Compared(MAIN, 2**61, "cut off", 12, MAIN)
