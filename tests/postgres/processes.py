"""How a test run starts programs that need no privilege, and leaves nothing of them behind.

A program is a child of the test process, and the kernel kills it when that one dies (more exactly:
the thread that started it; start programs in a thread that lives). Directories of a run that was
killed are swept by the next one.
"""

import fcntl
import functools
import os
import pwd
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

LOOPBACK = "127.0.0.1"
PREFIX = "logosphere-postgres-"
MEMORY = 2 * 1024**3
"""Bytes that must be free in memory for data to lie there."""
DEADLINE = 30.0
"""Seconds within which a server must have started or stopped."""
ENVIRONMENT = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}


class NotStarted(Exception):
    """A program failed; the message is what it said."""


def unprivileged() -> list[str]:
    """A command that runs another one without any privilege, for as long as this process lives."""
    if shutil.which("setpriv") is None:
        return []
    dying = ["--pdeathsig", "KILL", "--no-new-privs"]
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        who = ["--reuid", str(nobody.pw_uid), "--regid", str(nobody.pw_gid), "--clear-groups"]
        return ["setpriv", *who, "--bounding-set", "-all", "--inh-caps", "-all", *dying, "--"]
    return ["setpriv", *dying, "--"]


@functools.cache
def alone() -> tuple[str, ...]:
    """A command that gives another one System V memory of its own, which ends with it."""
    command = ("unshare", "--ipc", "--")
    if os.geteuid() or shutil.which("unshare") is None:
        return ()
    tried = subprocess.run([*command, "true"], check=False, capture_output=True)
    return () if tried.returncode else command


def free_memory(data: Path) -> None:
    """Remove the System V memory of a server that was killed, where it had none of its own."""
    with suppress(OSError, IndexError):
        lines = (data / "postmaster.pid").read_text(encoding="utf-8").split("\n")
        if not alone():
            segment = lines[6].split()[1]
            subprocess.run(["ipcrm", "-m", segment], check=False, capture_output=True)


def directory(*, on_disk: bool = False) -> tuple[Path, int]:
    """A new directory that unprivileged processes reach, and a descriptor that keeps it.

    It lies in memory where there is room, which saves a server four fifths of its start.
    """
    _sweep()
    made = Path(tempfile.mkdtemp(prefix=PREFIX, dir=_roots()[-1 if on_disk else 0]))
    made.chmod(0o755)
    return made, _locked(made)


def free_port() -> int:
    """A port of loopback that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def children(pid: int) -> list[int]:
    """The direct children of a process."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            if int(fields[1]) == pid:
                found.append(int(stat.parent.name))
    return found


def runs(pid: int) -> bool:
    """Whether a process is there and does anything still."""
    with suppress(OSError):
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return stat.rpartition(")")[2].split()[0] not in {"Z", "X"}
    return False


def kill_at_once(pids: Iterable[int]) -> None:
    """End processes with SIGKILL, and wait for their ends."""
    handles = [handle for pid in pids if (handle := _handle(pid)) is not None]
    for handle in handles:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
    for handle in handles:
        select.select([handle], [], [], DEADLINE)
        os.close(handle)


def kill_family(pid: int) -> None:
    """End a process and its children with SIGKILL, and wait for the children's end."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)  # from here on it starts no further processes
        kill_at_once(children(pid))
        os.kill(pid, signal.SIGKILL)


def _handle(pid: int) -> int | None:
    with suppress(ProcessLookupError):
        return os.pidfd_open(pid)
    return None


def said(command: Sequence[str], stdin: str = "") -> str:
    """What a program prints that ends well."""
    done = subprocess.run(
        command, input=stdin, env=ENVIRONMENT, cwd="/", capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise NotStarted(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout


def give(path: Path) -> None:
    """Make a file or directory that of the unprivileged programs."""
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.chown(path, nobody.pw_uid, nobody.pw_gid)


def _locked(path: Path) -> int:
    held = os.open(path, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return held


@functools.cache
def _sweep() -> None:
    """Remove what runs left behind that were killed: directories which no process holds."""
    for path in (found for root in _roots() for found in root.glob(f"{PREFIX}*")):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > 60:  # a younger one may not be locked yet
                os.close(_locked(path))
                free_memory(path / "data")
                shutil.rmtree(path, ignore_errors=True)


@functools.cache
def _roots() -> tuple[Path, ...]:
    """Directories for temporary files that every user may enter: first memory, last a disk."""
    memory = Path("/dev/shm")  # noqa: S108 — mkdtemp makes it ours
    roomy = memory.is_dir() and shutil.disk_usage(memory).free > MEMORY
    for name in (tempfile.gettempdir(), "/tmp", "/var/tmp"):  # noqa: S108 — mkdtemp makes it ours
        disk = Path(name).resolve()
        if os.geteuid() or all(path.stat().st_mode & 0o001 for path in (disk, *disk.parents)):
            return (memory, disk) if roomy else (disk,)
    raise NotStarted("Every directory for temporary files is closed to other users.")
