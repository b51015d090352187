"""Who holds a run, and whether that process still lives: ``host:pid:start``."""

import os
import socket
from pathlib import Path


def this_process() -> str:
    """The present process, told apart from a later one with the same number."""
    facts = _facts(os.getpid())
    return f"{socket.gethostname()}:{os.getpid()}:{facts[1] if facts else 0}"


def is_alive(holder: str) -> bool | None:
    """Whether the holder still lives; None when nobody here can tell."""
    host, _, rest = holder.rpartition(":")[0].rpartition(":")
    if host != socket.gethostname() or not rest.isdigit():
        return None
    pid, start = int(rest), holder.rpartition(":")[2]
    if is_gone(pid):
        return False
    facts = _facts(pid)
    if facts is None:
        return None
    state, started = facts
    return state not in "ZX" and started == start  # a zombie waits to be buried, and does nothing


def is_gone(pid: int) -> bool:
    """Whether this machine has no process of that number; False where nobody can tell."""
    if os.name != "posix":  # elsewhere the question would end the process
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _facts(pid: int) -> tuple[str, str] | None:
    """A process's state, and its start in clock ticks since boot; None where nobody says."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return fields[0], fields[19]
