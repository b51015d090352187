"""A primary and a standby that follows it: what a failover is tested on."""

import os
import signal
import time
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Self

from tests.postgres.netlab import Host
from tests.postgres.processes import DEADLINE, alone, children, give, said, unprivileged
from tests.postgres.servers import ADMIN, NEWEST, OWNER, Server

STANDBY = "standby"
"""The name by which the primary waits for it."""

RECEIVING = {
    "wal_receiver_status_interval": "1s",
    "wal_retrieve_retry_interval": "100ms",
    "hot_standby_feedback": "on",
}


class Pair:
    """Two servers within a ``with`` block; the second has, or gets, all that the first commits.

    Args:
        version: The major version of both.
        synchronous: Whether a commit is acknowledged only when the standby has it.
        hosts: Where they run, if not both on loopback.
        settings: Further settings of both.
    """

    def __init__(
        self,
        version: int = NEWEST,
        *,
        synchronous: bool = True,
        hosts: tuple[Host, Host] | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.version, self.synchronous, self.hosts = version, synchronous, hosts
        self._settings = dict(settings or {})
        self._stack = ExitStack()
        self._frozen: list[int] = []

    def __enter__(self) -> Self:
        """Start both, and wait until the standby follows."""
        with self._stack as stack:
            stack.callback(self.thaw)
            self.primary = stack.enter_context(self._server(0, self._settings))
            copy = self.primary.directory / "copy"
            copy.mkdir()
            give(copy)
            words = [
                "--checkpoint=fast",
                "--no-sync",
                f"--username={ADMIN}",
                f"--pgdata={copy}/data",
            ]
            words += [f"--host={self.primary.directory}/socket", f"--port={self.primary.port}"]
            program = str(self.primary.bin / "pg_basebackup")
            said([*alone(), *unprivileged(), program, *words])
            (copy / "data" / "standby.signal").touch()
            source = (
                f"host={self.primary.address} port={self.primary.port} user={ADMIN}"
                f" application_name={STANDBY} connect_timeout=2 tcp_user_timeout=2000"
            )
            settings = {**self._settings, **RECEIVING, "primary_conninfo": source}
            standby = self._server(1, settings)
            standby.copy_of = copy / "data"
            self.standby = stack.enter_context(standby)
            self._wait_for("state = 'streaming'")
            if self.synchronous:
                # not before: the standby would take it over, and wait for a standby in its turn
                self.set(self.primary, synchronous_standby_names=STANDBY)
                self._wait_for("sync_state = 'sync'")
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """Kill both and remove what they stored."""
        self._stack.close()

    def url(self, database: str) -> str:
        """How to reach whichever of the two is the primary."""
        hosts = ",".join(
            f"{server.address}:{server.port}" for server in (self.primary, self.standby)
        )
        return f"postgresql://{OWNER}@{hosts}/{database}?target_session_attrs=read-write"

    def database(self) -> str:
        """The URL of a new database, at both hosts."""
        return self.url(self.primary.database().rpartition("/")[2])

    def promote(self) -> None:
        """Make the standby a primary: of what it has received, whatever that is."""
        self.thaw()
        (promoted,) = self.standby.admin(f"SELECT pg_promote(true, {DEADLINE:.0f})")
        assert promoted == (True,), self.standby.log

    def freeze(self) -> None:
        """Stop the standby's receiver without a word: the primary sends, and nothing arrives."""
        for pid in children(self.standby.pid):
            with open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:  # noqa: PTH123 — gone soon
                if "walreceiver" in file.read():
                    os.kill(pid, signal.SIGSTOP)
                    self._frozen.append(pid)
        assert self._frozen, "the standby receives nothing"

    def thaw(self) -> None:
        """End the receiver that was frozen, as its host's end would have; a new one begins."""
        while self._frozen:
            pid = self._frozen.pop()
            if pid in children(self.standby.pid):
                os.kill(pid, signal.SIGTERM)
                os.kill(pid, signal.SIGCONT)

    @staticmethod
    def set(server: Server, **settings: str) -> None:
        """Change settings of a server that runs."""
        for name, value in settings.items():
            server.admin(f"ALTER SYSTEM SET {name} = '{value}'")
        server.admin("SELECT pg_reload_conf()")

    def _server(self, index: int, settings: Mapping[str, str]) -> Server:
        if self.hosts is None:
            return Server(self.version, settings=settings)
        host = self.hosts[index]
        return Server(self.version, settings=settings, address=host.address, within=host.within)

    def _wait_for(self, condition: str) -> None:
        """Wait until the primary says this of its standby."""
        query = f"SELECT count(*) FROM pg_stat_replication WHERE {condition}"  # noqa: S608 — ours
        until = time.monotonic() + DEADLINE
        while self.primary.admin(query) != [(1,)]:
            assert time.monotonic() < until, self.primary.log + self.standby.log
