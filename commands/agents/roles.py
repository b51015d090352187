"""Where roles are found: the store's own, the user's, those that ship.

A name never becomes a path unchecked.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from commands.agents.role_file import Role, is_role_name, read_role, role_of_file
from domain.agent_errors import BadRole, NoSuchRole

__all__ = ["SHIPPED", "Role", "Roles", "read_role", "role_directories"]

SHIPPED = Path(__file__).with_name("shipped")
"""The roles that come with this program."""


class Roles:
    """The roles of some directories; of two with one name, that of the earlier directory.

    Files are looked at whenever they are asked for, and read when they have changed.
    """

    def __init__(self, directories: Sequence[Path]) -> None:
        self.directories = tuple(directories)
        self._read: dict[Path, _Known] = {}

    def get(self, name: str) -> Role:
        """A role by its name, as its file describes it now.

        Raises:
            NoSuchRole: no file has this name; the sentence says which are like it.
            BadRole: the file describes no role. An earlier one is never skipped for a later one.
        """
        return self._role(self.path(name))

    def path(self, name: str) -> Path:
        """The file that describes a role.

        Raises:
            NoSuchRole: there is none.
        """
        if is_role_name(name):
            for directory in self.directories:
                path = directory / f"{name}.md"
                if os.path.lexists(path):
                    return path
        raise NoSuchRole(name, sorted(self._files()))

    def all(self) -> list[Role]:
        """The roles that can be drafted, by name; files that describe none are left out."""
        found = []
        for _, path in sorted(self._files().items()):
            try:
                found.append(self._role(path))
            except BadRole:
                continue  # problems() tells
        return found

    def problems(self) -> list[BadRole]:
        """What is wrong with the files, those that others hide included."""
        found = []
        for directory in self.directories:
            try:
                names = _listed(directory)
            except OSError as error:
                found.append(BadRole(f"{directory}: it can't be read ({error.strerror or error})."))
                continue
            for name in names:
                try:
                    self._role(directory / name)
                except BadRole as problem:
                    found.append(problem)
        return found

    def _files(self) -> dict[str, Path]:
        """The file of each name that is one."""
        found: dict[str, Path] = {}
        for directory in self.directories:
            try:
                names = _listed(directory)
            except OSError:
                continue
            for name in names:
                stem = name.removesuffix(".md")
                if is_role_name(stem):
                    found.setdefault(stem, directory / name)
        return found

    def _role(self, path: Path) -> Role:
        stamp = _stamp(path)
        known = self._read.get(path)
        if known is None or known.stamp != stamp or stamp is None:
            try:
                known = _Known(stamp, role_of_file(path))
            except BadRole as problem:
                known = _Known(stamp, problem)
            self._read[path] = known
        if isinstance(known.role, BadRole):
            raise BadRole(known.role.sentence)
        return known.role


def role_directories(store: Path | None, env: Mapping[str, str]) -> tuple[Path, ...]:
    """Where roles are looked for: in the store, in the user's settings, among those that ship.

    Args:
        store: its directory; None where it is on a server.
        env: says where the user's settings are.
    """
    settings = env.get("XDG_CONFIG_HOME") or str(Path(env.get("HOME") or "~", ".config"))
    others = Path(settings).expanduser() / "mind" / "roles", SHIPPED
    return others if store is None else (store / "roles", *others)


class _Known(NamedTuple):
    """What a file said when it was read."""

    stamp: tuple[int, ...] | None
    role: Role | BadRole


def _listed(directory: Path) -> list[str]:
    try:
        names = os.listdir(directory)  # noqa: PTH208 — names are wanted, not paths
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(name for name in names if name.endswith(".md") and not name.startswith("."))


def _stamp(path: Path) -> tuple[int, ...] | None:
    """What changes when a file does."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_mode
