"""The rows of a job, of all sessions, in the order of their beginnings."""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, Self

from domain.errors import Broken
from projections.fleet.jobs import Column, Job, Value
from projections.fleet.partitions import Cut
from projections.fleet.replay import Share
from projections.fleet.rows import Shape, added_up, canonical, columns_of, decoded

KEPT = 1 << 24
"""Bytes of rows that are kept in memory; more of them go to the disk."""


class Results:
    """Rows that wait in a file without a name: many of them need no room in memory."""

    def __init__(self, job: Job, cuts: Sequence[Cut], code: str) -> None:
        self.job, self.cuts, self.code = job, cuts, code
        self.columns: tuple[Column, ...] = job.columns
        self.sessions = 0
        """How many there were at the cut."""
        self.events = 0
        """How many the job was given."""
        self.digest = ""
        """sha256 of the columns and of all rows, hex: a function of log, cut and code alone."""
        self._kept = tempfile.SpooledTemporaryFile(max_size=KEPT)  # noqa: SIM115 — closed below
        self._found: dict[int, tuple[int, int, Shape]] = {}
        self._end = 0
        self._groups: list[tuple[Value, ...]] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Forget the rows."""
        self._kept.close()

    def add(self, shares: Iterable[Share]) -> None:
        """Rows of some more sessions; their order does not matter.

        Raises:
            Broken: there is no room where they wait.
        """
        for share in shares:
            try:
                self._kept.write(share.lines)
            except OSError as error:
                raise Broken(
                    f"Rows can't wait in the directory of temporary files ({error.strerror}): make"
                    " room there, or name another one in TMPDIR; nothing was written."
                ) from error
            self._found[share.place] = self._end, len(share.lines), share.shape
            self._end += len(share.lines)
            self.sessions += 1
            self.events += share.events

    def complete(self) -> None:
        """Find the columns, add up and seal.

        Raises:
            BadJob: sessions gave different things for one column.
        """
        shapes = (self._found[place][2] for place in sorted(self._found))
        self.columns = columns_of(self.job, shapes)
        if self.job.by:
            self._groups = added_up(self.columns, self.job.by, self._each())
        seal = sha256(canonical(part for column in self.columns for part in column[:2]))
        for row in self:
            seal.update(canonical(row))
        self.digest = seal.hexdigest()

    def __iter__(self) -> Iterator[tuple[Value, ...]]:
        """The values of each row in the order of the columns, as often as wanted."""
        return iter(self._groups) if self._groups is not None else self._each()

    def _each(self) -> Iterator[tuple[Value, ...]]:
        for place in sorted(self._found):
            start, size, _ = self._found[place]
            self._kept.seek(start)
            yield from decoded(self.columns, self._kept.read(size))

    def about(self) -> dict[str, Any]:
        """What the rows are a function of, and what proves them to be the same."""
        told = {
            cut.cell: {
                "position": cut.position,
                "hash": cut.hash.hex() if cut.hash is not None else None,
            }
            for cut in self.cuts
        }
        at = told[None] if None in told else {"cells": told}  # noqa: SIM401 — of two forms
        return {"job": self.job.name, **at, "code": self.code, "digest": self.digest}
