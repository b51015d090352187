"""Addresses at which no store is, or can be, and names that only look like addresses."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from commands.eventlog import EventLog
from commands.eventlog.place import Place, address_of, as_strict, place_of
from domain.errors import NotAStore
from domain.server_errors import BadPlace

ROOM = b"\0\0\0"


@pytest.mark.parametrize("name", ["./postgresql:x", "postgresql:x", "C:\\data\\ann", "a:b/c", "~"])
def test_a_directory_of_any_name(name: str) -> None:
    """What has no :// is a directory; ./ makes anything one."""
    assert place_of(name) == Place(Path(name))


@pytest.mark.parametrize("name", ["", " ", "\n"])
def test_an_empty_name(name: str) -> None:
    """An unset variable of a script does not mean the directory that it runs in."""
    with pytest.raises(BadPlace, match="it is empty"):
        place_of(name)


def test_space_around_an_address() -> None:
    """Is no part of it, as where it was read from a file."""
    assert place_of(" postgresql://me@h/db?schema=s \n") == place_of(
        "postgresql://me@h/db?schema=s"
    )


@pytest.mark.parametrize(
    "address",
    [
        "postgresql:///db?host=/run/a+b&password=c+d",
        "postgresql://me@h/db#1?options=-c%20work_mem%3D4MB",
        "postgresql://me@a,[::1]:5433/?dbname=a/b",
        "postgresql:///?service=mine",
    ],
)
def test_what_libpq_is_asked(address: str) -> None:
    """Is what the user wrote, to the letter, but for our own options."""
    joint = "&" if "?" in address else "?"
    assert address_of(f"{address}{joint}cell=b").conninfo == address
    assert place_of(address).with_options(cell="b", schema="s").with_options(
        cell=None, schema=None
    ) == place_of(address)


@pytest.mark.parametrize("option", ["schema=a&schema=b", "cell=a&cell=b", "cell=a&schema=b&cell=c"])
def test_an_option_twice(option: str) -> None:
    """Nobody can tell which of the two is meant."""
    with pytest.raises(BadPlace, match="twice"):
        place_of(f"postgresql://me@h/db?{option}")


@pytest.mark.parametrize(
    "secret", ["PASSWORD", "%70assword", "SslPassword", "oauth_client_secret", "scram_client_key"]
)
def test_a_secret_by_another_name(secret: str) -> None:
    """However it is written, and whatever libpq thinks of it, it is not shown."""
    place = place_of(f"postgresql://me@h/db?{secret}=hunter2")
    assert str(place) == "postgresql://me@h/db"
    assert "hunter2" not in repr((place, place.address))


@pytest.mark.parametrize(
    ("home", "cell", "then"),
    [
        ("sslmode=verify-full", "", "sslmode=verify-full"),
        ("sslmode=verify-full", "sslmode=disable", "sslmode=verify-full"),
        ("sslmode=require", "sslmode=verify-full", "sslmode=verify-full"),
        ("sslmode=disable", "", ""),
        ("channel_binding=require", "channel_binding=disable", "channel_binding=require"),
        ("sslrootcert=ours%20.pem", "sslrootcert=system", "sslrootcert=ours%20.pem"),
        ("require_auth=scram-sha-256", "require_auth=password", "require_auth=scram-sha-256"),
        ("connect_timeout=1", "connect_timeout=2", "connect_timeout=2"),
    ],
)
def test_the_stricter_of_two(home: str, cell: str, then: str) -> None:
    """What is demanded of one server before it gets a password is demanded of the other."""
    start = "postgresql://ann@b/minds"
    told = as_strict(f"{start}?{cell}" if cell else start, f"postgresql://ann@a/minds?{home}")
    assert told == (f"{start}?{then}" if then else start)


def test_what_the_environment_demands(monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds for addresses that say less, as it does where they say nothing."""
    monkeypatch.setenv("PGSSLMODE", "verify-full")
    told = as_strict("postgresql://b/minds?sslmode=disable", "postgresql://a/minds")
    assert told == "postgresql://b/minds?sslmode=verify-full"


@pytest.mark.parametrize(
    "columns", ["id int, name text", "layout text, cell_of uuid", "layout int, cell_of text"]
)
def test_another_program_s_tables(pg_url: str, columns: str) -> None:
    """A schema in which a table is called as ours is no store, and is left as it is."""
    with psycopg.connect(pg_url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA shop; CREATE TABLE shop.store ({columns})".encode())
        place = place_of(f"{pg_url}?schema=shop")
        for act in (EventLog, EventLog.create):
            with pytest.raises(NotAStore):
                act(place)  # type: ignore[operator]  # one of the two
        row = connection.execute(
            "SELECT count(*) FROM pg_class WHERE relnamespace = 'shop'::regnamespace"
        ).fetchone()
    assert row == (1,)


@pytest.fixture
def old() -> Iterator[str]:
    """The address of what says that it is PostgreSQL 12.9, and nothing else."""
    listener = socket.create_server(("127.0.0.1", 0))
    status = b"".join(
        b"S" + ROOM + bytes([4 + len(pair)]) + pair
        for pair in (b"server_version\0" + b"12.9\0", b"client_encoding\0UTF8\0")
    )

    def answer() -> None:
        wire, _ = listener.accept()
        with wire:
            while wire.recv(4096)[4:8] == b"\x04\xd2\x16\x2f":  # may it be encrypted?
                wire.sendall(b"N")
            key = b"K" + ROOM + b"\x0c" + bytes(8)
            wire.sendall(b"R" + ROOM + b"\x08" + bytes(4) + status + key + b"Z" + ROOM + b"\x05I")
            while wire.recv(4096):
                pass

    thread = threading.Thread(target=answer)
    thread.start()
    yield f"postgresql://me@127.0.0.1:{listener.getsockname()[1]}/db"
    thread.join()
    listener.close()


def test_a_server_that_is_too_old(old: str) -> None:
    """Is not asked for what it does not have."""
    with pytest.raises(BadPlace, match="older than PostgreSQL 13"):
        EventLog.create(place_of(old))
