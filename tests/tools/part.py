"""Prints the pins of a few packages from the lock: `python -m tests.tools.part numpy pydantic`."""

import re
import sys
from pathlib import Path

LOCK = Path(__file__).resolve().parents[2] / "requirements.txt"

_PIN = re.compile(r"(?P<name>[\w.-]+)==")


def part(lock: str, names: set[str]) -> str:
    """The pins of these packages with all their hashes.

    Raises:
        KeyError: one of them is not in the lock.
    """
    kept: list[str] = []
    found: set[str] = set()
    wanted = False
    for line in lock.splitlines():
        if pin := _PIN.match(line):
            wanted = pin["name"] in names
            found.add(pin["name"])
        if wanted and not line.lstrip().startswith("#"):
            kept.append(line)
    if names - found:
        raise KeyError(", ".join(sorted(names - found)))
    return "\n".join(kept) + "\n"


if __name__ == "__main__":
    sys.stdout.write(part(LOCK.read_text("utf-8"), set(sys.argv[1:])))
