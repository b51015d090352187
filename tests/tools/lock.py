"""Refuses a lock that is stale, unhashed or bound to one machine: `python -m tests.tools.lock`."""

import re
import sys
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]

# pip takes an index, a folder of links or a trusted host from a requirements file.
_OPTION = re.compile(r"^\s*-(?!-hash=sha256:[0-9a-f]{64}\b)")
_PLACE = re.compile(r"[a-z+]+://|(?<![\w.])(?:/|~/|\.{1,2}/|[A-Za-z]:\\)\S|\s@\s")
_PIN = re.compile(r"(?P<name>[\w.-]+)==(?P<version>[^\s;]+)(?: ; [^\\]+)?(?: \\)?")
_HASH = re.compile(r"\s+--hash=sha256:[0-9a-f]{64}(?: \\)?")


def problems(lock: str, pyproject: str) -> Iterator[str]:
    """Say what is wrong with a lock, one sentence each."""
    yield from _places(lock)
    yield from _loose(lock)
    yield from _stale(lock, pyproject)


def _places(lock: str) -> Iterator[str]:
    """Say which lines send pip, or a reader, to a place of their own."""
    for number, line in enumerate(lock.splitlines(), start=1):
        if _OPTION.match(line) or _PLACE.search(line):
            yield f"line {number} names a place: {line.strip()!r}"


def _loose(lock: str) -> Iterator[str]:
    """Say which packages are not held to one version and its hashes."""
    lines = [line for line in lock.splitlines() if not line.lstrip().startswith("#")]
    for line, after in pairwise([*lines, ""]):
        if line and not line.startswith(" "):
            if not _PIN.fullmatch(line):
                yield f"{line!r} is no exact pin"
            if not _HASH.fullmatch(after):
                yield f"{line!r} has no hash"


def _stale(lock: str, pyproject: str) -> Iterator[str]:
    """Say which wishes of pyproject.toml the lock does not grant."""
    pins: dict[str, list[Version]] = {}
    for pin in filter(None, map(_PIN.fullmatch, lock.splitlines())):
        pins.setdefault(canonicalize_name(pin["name"]), []).append(Version(pin["version"]))
    told = tomllib.loads(pyproject)
    extras = told["project"]["optional-dependencies"].values()
    wishes = [told["build-system"]["requires"], told["project"]["dependencies"], *extras]
    for wish in (Requirement(one) for wished in wishes for one in wished):
        versions = pins.get(canonicalize_name(wish.name), [])
        if not versions:
            yield f"pyproject.toml asks for '{wish}', which has no pin"
        for version in versions:
            if version not in wish.specifier:
                yield f"pyproject.toml asks for '{wish}', and {version} is pinned"


def main() -> int:
    """Check the lock of this checkout."""
    lock, pyproject = (
        (ROOT / name).read_text(encoding="utf-8") for name in ("requirements.txt", "pyproject.toml")
    )
    found = list(problems(lock, pyproject))
    for sentence in found:
        sys.stderr.write(f"requirements.txt: {sentence}.\n")
    if found:
        sys.stderr.write("`make lock` writes it anew.\n")
        return 1
    sys.stdout.write("requirements.txt: every wish is pinned and hashed, no place is named.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
