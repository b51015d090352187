"""Where views are kept: what a store of them has to be able to do."""

import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from domain.errors import Refused
from projections.views.view import Row, View

IsAlive = Callable[[str], bool | None]
"""Whether a holder's process lives; None where nobody here can tell."""

PATIENCE = 10.0
"""Seconds after which a worker that shows no sign of life has lost its shards."""


class Task(NamedTuple):
    """A shard of a view: what one worker works on at a time."""

    view: str
    shard: int
    """From 0."""

    @property
    def turn(self) -> tuple[int, str]:
        """In which order shards are leased: one's events are read once for all views."""
        return self.shard, self.view


class Tracked(NamedTuple):
    """How far a shard of a view has come, and who brought it there."""

    task: Task
    shards: int
    """How many shards the view has."""
    version: int
    """Of the view, when its rows were begun."""
    epoch: int
    """Another one each time that the rows are begun anew."""
    position: int
    """All events up to it are in the rows, and none behind it."""
    hash: bytes
    """The chain hash of the event there."""
    mark: bytes
    """That of the log's redactions when the rows were begun."""
    owner: str | None
    """Who wrote last: ``host:pid:start``."""
    since: int | None
    """Since when nobody else has, µs since 1970."""
    trouble: str | None
    """Why nobody goes on, in one sentence."""


class Step(NamedTuple):
    """What a batch of events adds to a shard."""

    task: Task
    epoch: int
    expected: int
    """The position from which it leads on: anywhere else it must not be applied."""
    position: int
    """The one to which it leads."""
    hash: bytes
    rows: Sequence[Row]
    trouble: str | None = None


class OfANewerVersion(Refused):
    """A view was begun by a newer version of this program."""

    def __init__(self, view: View, found: int, *, by_hand: bool = True) -> None:
        """Say so.

        Args:
            view: which, as this program makes it.
            found: the version that is kept.
            by_hand: whether this program could build it anew.
        """
        anew = f", or build it anew (mind work rebuild {view.name})" if by_hand else ""
        super().__init__(
            f"View {view.name!r} is kept in version {found} here, and this program makes version"
            f" {view.version}: let newer workers go on with it{anew}."
        )


class TablesAreMissing(Refused):
    """On a server, the tables of views are not there, or of an older version of this program."""

    def __init__(self, where: str) -> None:
        super().__init__(
            f"{where!r} has no tables for the views of this version: let whoever may make them say"
            " mind store migrate."
        )


class TablesAreNewer(Refused):
    """On a server, a newer version of this program made the table of positions."""

    def __init__(self, where: str) -> None:
        super().__init__(
            f"A newer version of this program made the tables of views in {where!r}: use that one"
            " here, too."
        )


class OtherShards(Refused):
    """A view is kept in another number of shards."""

    def __init__(self, view: str, kept: int, wanted: int) -> None:
        super().__init__(
            f"View {view!r} is kept in {kept} shard{'s' if kept > 1 else ''}: work on it with"
            f" --shards {kept}, or build it anew in {wanted} when no worker is left"
            f" (mind work rebuild {view} --shards {wanted})."
        )


class ViewStore(Protocol):
    """Rows of views and the positions that they stand for, written together or not at all.

    Raises :class:`domain.errors.StoreIsUnreachable` where a server went away: whether the last
    step came through is then told by :meth:`tracked`.
    """

    def prepare(self, view: View, shards: int | None) -> None:
        """Begin a view where it is not kept yet, or was by an older version of this program.

        Args:
            view: which.
            shards: into how many; None leaves it as it is, or takes what other views have.

        Raises:
            OtherShards, OfANewerVersion: it is kept otherwise; nothing was changed.
        """
        ...

    def rebuild(self, view: View, shards: int | None = None) -> None:
        """Throw the rows away and begin at the first event."""
        ...

    def restart(self, view: View, task: Task, mark: bytes) -> None:
        """The same for one shard."""
        ...

    def tracked(self) -> dict[Task, Tracked]:
        """How far each shard of each view is."""
        ...

    def advance(self, steps: Sequence[Step], owner: str) -> list[bool]:
        """Apply steps in one transaction, each only where the shard is at what it expects.

        Returns:
            Which were applied; the others have changed nothing.
        """
        ...

    def rows(self, view: View) -> Iterator[Row]:
        """The rows of a view, the shards together, in order of the keys; dollars as dollars."""
        ...

    def leases(self, holder: str, is_alive: IsAlive) -> "Leases":
        """Claims of this process on shards; see :class:`Leases`."""
        ...

    def held(self, is_alive: IsAlive) -> dict[Task, str]:
        """Which shards are leased just now, and by whom."""
        ...

    def close(self) -> None:
        """Let go of the store."""
        ...


class Leases(Protocol):
    """Who works on what, so that nobody does in vain what another one does already.

    That no event counts twice does not depend on it: :meth:`ViewStore.advance` sees to that.
    """

    def refresh(self, wanted: Collection[Task]) -> frozenset[Task]:
        """Keep what is ours, take what is free up to a fair share, give back what is above it.

        To be called every second or so: who is silent for :data:`PATIENCE` seconds has lost all.

        Returns:
            What is ours now. It may be less than before.
        """
        ...

    def close(self) -> None:
        """Give everything back."""
        ...


def fair_share(tasks: int, workers: int) -> int:
    """How many of so many shards a worker should have at most."""
    return -(-tasks // max(workers, 1))


def shards_to_begin(view: View, shards: int | None, tracked: Mapping[Task, Tracked]) -> int | None:
    """Into how many shards a view is to be begun; None where it is kept as it should be.

    Raises:
        OtherShards, OfANewerVersion: it is kept otherwise.
    """
    kept = next((one for one in tracked.values() if one.task.view == view.name), None)
    if kept is None:
        return shards or max((one.shards for one in tracked.values()), default=1)
    if kept.version > view.version:
        raise OfANewerVersion(view, kept.version)
    if shards is not None and shards != kept.shards:
        raise OtherShards(view.name, kept.shards, shards)
    return kept.shards if kept.version < view.version else None


def new_epoch() -> int:
    """A number that no earlier beginning of the rows had."""
    return secrets.randbits(62)
