"""Hosts in namespaces of their own."""

import subprocess
from pathlib import Path

import pytest

from tests.postgres.netlab import NETWORK, Host, Netlab, needs_hosts
from tests.postgres.processes import runs
from tests.postgres.servers import Server

ANSWERS, SILENCE = 0, 2
"""Exit codes of ``pg_isready``."""


def asked_from(host: Host, server: Server) -> int:
    """What a host hears when it asks for the server, within a second."""
    command = [str(server.bin / "pg_isready"), "-h", server.address, "-t", "1"]
    return subprocess.run([*host.within, *command], capture_output=True, check=False).returncode


def test_a_host_is_reached_by_the_others_and_by_nobody_else() -> None:
    """What runs in the laboratory never shows in this machine's own network, and never stays."""
    needs_hosts()
    with Netlab("a", "b") as lab:
        a, b = lab["a"], lab["b"]
        with Server(address=a.address, within=a.within) as server:
            assert asked_from(b, server) == ANSWERS
            assert NETWORK not in Path("/proc/net/fib_trie").read_text("ascii")
            pid = server.pid
            lab.kill("a")
            assert not runs(pid)
    assert not runs(a.holder)


@pytest.mark.slow
def test_a_host_that_is_cut_off_is_silent_until_it_is_plugged_in_again() -> None:
    """Nobody hears that a cable was pulled."""
    needs_hosts()
    with Netlab("a", "b") as lab:
        a, b = lab["a"], lab["b"]
        with Server(address=a.address, within=a.within) as server:
            lab.cut("a")
            assert asked_from(b, server) == SILENCE
            lab.heal("a")
            assert asked_from(b, server) == ANSWERS
