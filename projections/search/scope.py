"""What of the index belongs to the part of history that is looked at."""

import json
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from domain.log import Log
from projections.search.hit import Branch, Everywhere, Kind, Scope
from projections.search.index import Index
from projections.search.rows import FOREVER
from projections.search.spelling import kind_sign, stream_sign

FEW = 4_000
"""So many texts are told one by one; of more, each candidate is looked at."""


class View(NamedTuple):
    """A condition on rows of ``texts`` as ``t``, and what its parameters are."""

    condition: str
    parameters: tuple[Any, ...]
    place: str
    """What FTS5 is asked for beside words, so that little has to be looked at; empty for all."""
    by_rows: bool
    """Whether much that FTS5 finds may lie outside of it all the same."""

    @property
    def narrow(self) -> bool:
        """Whether much of the index may lie outside of it."""
        return bool(self.place)

    def of(self, index: Index, ids: Collection[int]) -> set[int]:
        """Those of some texts that belong to it."""
        given = "json_each(?) AS j CROSS JOIN texts AS t ON t.id = j.value"
        rows = index.connection.execute(
            f"SELECT t.id FROM {given} WHERE {self.condition}",  # noqa: S608 — made here
            (json.dumps(list(ids)), *self.parameters),
        )
        return {id_ for (id_,) in rows}

    def few(self, index: Index) -> list[int] | None:
        """All texts that belong to it; None where they are too many to tell."""
        if not self.narrow:
            return None
        rows = index.connection.execute(
            f"SELECT t.id FROM texts AS t WHERE {self.condition} LIMIT ?",  # noqa: S608 — made here
            (*self.parameters, FEW + 1),
        ).fetchall()
        return [id_ for (id_,) in rows] if len(rows) <= FEW else None


def view(log: Log, scope: Scope, kinds: Collection[Kind]) -> View:
    """The condition that a scope and kinds make.

    Raises:
        NoSuchSession: there is no such session.
    """
    found = _branch(log, scope) if isinstance(scope, Branch) else _everywhere(scope)
    if not kinds:
        return found
    return View(
        f"{found.condition} AND t.kind IN ({','.join('?' * len(kinds))})",
        (*found.parameters, *kinds),
        " AND ".join(filter(None, (found.place, _any(map(kind_sign, kinds))))),
        found.by_rows,
    )


def _any(signs: Iterable[str]) -> str:
    return f"({' OR '.join(signs)})"


def _everywhere(scope: Everywhere) -> View:
    """Each session as it sees itself."""
    whose = "" if scope.agents else " AND instr(t.stream, ':') = 0"
    if scope.before is None:
        return View(f"t.gone IS NULL{whose}", (), "", by_rows=not scope.agents)
    then = f"t.at <= ? AND (t.gone IS NULL OR t.gone_at > ?){whose}"
    return View(then, (scope.before, scope.before), "", by_rows=True)


def _branch(log: Log, scope: Branch) -> View:
    """A session with what it inherited: of its ancestors only what was so where it left them."""
    upto = FOREVER if scope.upto is None else scope.upto
    parts = [
        (part.stream, part.after, min(upto, FOREVER if part.upto is None else part.upto))
        for part in log.path(scope.session)
        if part.after < upto
    ]
    here = "t.stream = ? AND t.version > ? AND t.version <= ? AND (t.gone IS NULL OR t.gone > ?)"
    there = "e.stream = ? AND e.version > ? AND e.version <= ?"
    then = " OR ".join(f"({there})" for _ in parts)
    ended = f"SELECT 1 FROM endings AS e WHERE e.text = t.id AND ({then})"  # noqa: S608 — made here
    condition = " AND ".join(
        (
            f"({' OR '.join(f'({here})' for _ in parts)})",
            "(t.kind <> 'session' OR t.stream = ?)",
            f"NOT EXISTS ({ended})",
        )
    )
    parameters = (
        *(value for part in parts for value in (*part, part[2])),
        scope.session,
        *(value for part in parts for value in part),
    )
    place = _any(stream_sign(stream) for stream, *_ in parts)
    return View(condition, parameters, place, by_rows=True)
