"""Who holds a run, and whether that process still lives: ``host:pid:start``."""

import os
import socket
from pathlib import Path


def this_process() -> str:
    """The present process, told apart from a later one with the same number."""
    pid = os.getpid()
    return f"{socket.gethostname()}:{pid}:{_started(pid) or 0}"


def is_alive(holder: str) -> bool | None:
    """Whether the holder still lives; None when nobody here can tell."""
    host, _, rest = holder.rpartition(":")[0].rpartition(":")
    if host != socket.gethostname() or not rest.isdigit():
        return None
    pid, start = int(rest), holder.rpartition(":")[2]
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OSError):
        return None
    now = _started(pid)
    return None if now is None else str(now) == start


def _started(pid: int) -> int | None:
    """Clock ticks between boot and the start of a process; None where nobody says."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return int(stat.rpartition(")")[2].split()[19])
