"""Several hosts on one machine: network namespaces on a switch that can cut any of them off.

Nothing is added to the machine's own network: the switch has a namespace of its own, no namespace
has a name, and each lives as long as a process that dies with the test run. Addresses are those
of 10.77.0.0/24, inside of those namespaces only.
"""

import functools
import os
import shutil
import subprocess
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple, Self

import pytest

from tests.postgres.processes import DEADLINE, ENVIRONMENT, NotStarted, kill_at_once, runs, said

NETWORK = "10.77.0"
_HOLD = ("setpriv", "--pdeathsig", "KILL", "--", "unshare", "--net", "--", "cat")
"""A process with a network of its own, which waits until its input ends."""


class Host(NamedTuple):
    """A host of the laboratory."""

    name: str
    address: str
    holder: int
    """The process that its network lives as long as."""

    @property
    def within(self) -> tuple[str, ...]:
        """A command that runs another one on this host."""
        return (*_inside(self.holder), "setpriv", "--pdeathsig", "KILL", "--")

    def processes(self) -> list[int]:
        """The processes that run on it, the holder left out."""
        here = os.stat(f"/proc/{self.holder}/ns/net").st_ino  # noqa: PTH116 — a link to no file
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if os.stat(entry / "ns/net").st_ino == here:  # noqa: PTH116 — as above
                    found.append(int(entry.name))
        return [pid for pid in found if pid != self.holder]


class Netlab:
    """Hosts by name, within a ``with`` block."""

    def __init__(self, *names: str) -> None:
        self._names = names
        self._stack = ExitStack()
        self.hosts: dict[str, Host] = {}

    def __enter__(self) -> Self:
        """Set the hosts up; a fifth of a second."""
        with self._stack as stack:
            self._switch = stack.enter_context(_held())
            _ip(self._switch, "link add name switch type bridge forward_delay 0")
            _ip(self._switch, "link set dev switch up")
            for number, name in enumerate(self._names, 1):
                holder = stack.enter_context(_held())
                host = self.hosts[name] = Host(name, f"{NETWORK}.{number}", holder)
                _ip(self._switch, f"link add name {name} type veth peer name eth0 netns {holder}")
                _ip(self._switch, f"link set dev {name} master switch up")
                _ip(holder, "link set dev lo up")
                _ip(holder, f"link set dev eth0 address {_mac(host)} up")
                _ip(holder, f"addr add {host.address}/24 dev eth0")
            # known for good: a host that is gone is silence, and not an error of its neighbours
            for one in self.hosts.values():
                for other in self.hosts.values():
                    if one is not other:
                        words = f"neigh add {other.address} lladdr {_mac(other)} dev eth0"
                        _ip(one.holder, words)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """End all that runs on the hosts, and the hosts."""
        for host in self.hosts.values():
            _kill(host)
        self._stack.close()

    def __getitem__(self, name: str) -> Host:
        return self.hosts[name]

    def cut(self, name: str) -> None:
        """Pull a host's cable: from now on nothing comes or goes, and nobody is told."""
        _ip(self._switch, f"link set dev {name} nomaster")

    def heal(self, name: str) -> None:
        """Plug it in again."""
        _ip(self._switch, f"link set dev {name} master switch")

    def kill(self, name: str) -> None:
        """Cut a host's power: its processes end, and no packet says so."""
        self.cut(name)
        _kill(self[name])


@functools.cache
def why_not() -> str | None:
    """Why there can be no laboratory on this machine; None if there can be one."""
    if os.geteuid() != 0:
        return "hosts need network namespaces, which only root may make"
    missing = [name for name in ("ip", "nsenter", "unshare", "setpriv") if not shutil.which(name)]
    if missing:
        return f"hosts need the commands {', '.join(missing)}: install iproute2 and util-linux"
    try:
        with Netlab("a", "b") as lab:
            words = ["sh", "-c", f"grep -q {NETWORK} /proc/net/fib_trie"]
            said([*lab["a"].within, *words])
    except (NotStarted, OSError) as error:
        return f"this machine allows no network namespaces: {str(error).strip()}"
    return None


def needs_hosts() -> None:
    """Skip the test that runs where there can be no hosts."""
    if (why := why_not()) is not None:
        pytest.skip(why)


class _held:  # noqa: N801 — used like a function
    """A namespace of its own; the process that holds it."""

    def __enter__(self) -> int:
        self._process = subprocess.Popen(
            _HOLD, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        # it echoes only when it is where it should be
        try:
            self._process.stdin.write(b"\n")
            self._process.stdin.flush()
            arrived = self._process.stdout.readline()
        except OSError:
            arrived = b""
        if not arrived:
            self.__exit__()
            raise NotStarted("unshare --net failed")
        return self._process.pid

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate(timeout=DEADLINE)


def _inside(holder: int) -> tuple[str, ...]:
    return ("nsenter", "-t", str(holder), "-n", "--")


def _ip(holder: int, words: str) -> None:
    said([*_inside(holder), "ip", *words.split()])


def _mac(host: Host) -> str:
    return f"02:00:0a:4d:00:{int(host.address.rpartition('.')[2]):02x}"


def _kill(host: Host) -> None:
    while pids := [pid for pid in host.processes() if runs(pid)]:
        kill_at_once(pids)
