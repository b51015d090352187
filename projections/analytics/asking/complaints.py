"""What DuckDB complains about, told as our refusals: a sentence, then the place in the text."""

from typing import NamedTuple

from domain.errors import BadQuery, Broken, LogosphereError, QueryStopped, StoreIsDamaged

READS_ONLY = (
    "write one SELECT, FROM, WITH, VALUES, PIVOT, DESCRIBE, SHOW, SUMMARIZE or EXPLAIN,"
    " which only reads"
)

LONGEST = 12
"""Lines of a complaint that are shown; a function of many forms lists them all."""


class Limits(NamedTuple):
    """What one query may take; ``memory`` in bytes, ``threads`` as many as there are cores."""

    seconds: float = 30.0
    memory: int = 1 << 30
    threads: int | None = None


def timed_out(limits: Limits) -> QueryStopped:
    """The query ran past its time."""
    return QueryStopped(
        f"The query ran longer than {limits.seconds:g} s and was stopped: ask for less, or give it"
        " more time."
    )


def too_big(limits: Limits) -> QueryStopped:
    """The query wanted more memory than it may have."""
    return QueryStopped(
        f"The query wanted more than {_size(limits.memory)} of memory and was stopped: ask for"
        " less, or give it more memory."
    )


def broke_off() -> QueryStopped:
    """The user pressed Ctrl-C."""
    return QueryStopped("The query was broken off: nothing has changed.")


def told(error: BaseException, limits: Limits) -> LogosphereError:
    """What went wrong inside DuckDB, for who asked.

    The kind is read from the text, which Arrow passes on where it hides the class.
    """
    text = str(error)
    kind, _, said = text.partition(" Error: ")
    said = said or text
    match kind:
        case "INTERRUPT":
            late = "execution time" in said
            return timed_out(limits) if late else broke_off()
        case "Out of Memory":
            return too_big(limits)
        case "Permission":
            return BadQuery(
                "A query reads the tables that SHOW TABLES lists: no files, no network, no"
                " extensions."
            )
        case "INTERNAL" | "FATAL":
            return Broken(f"DuckDB failed at this query ({_first(said)}): ask it in other words.")
        case "IO" | "Serialization":
            return _damaged(said)
    if isinstance(error, MemoryError):
        return too_big(limits)
    if text.startswith("Corrupt database file"):
        return _damaged(text)
    if "attached in read-only mode" in said or "configuration has been locked" in said:
        return BadQuery(f"A query can't change anything: {READS_ONLY}.")
    if said.startswith("Required module 'pytz'"):
        return BadQuery("A time with a zone can't be shown: cast it, as in now()::TIMESTAMP.")
    return BadQuery(_complaint(said))


def _damaged(said: str) -> StoreIsDamaged:
    return StoreIsDamaged(
        f"The database of the history can't be read ({_first(said)}): make it anew (mind rebuild)."
    )


def _complaint(said: str) -> str:
    """The complaint without advice that does not hold here, and where in the text it is."""
    first, *others = said.strip().split("\n\n")
    where = [part for part in others if part.startswith("LINE ")]
    lines = first.splitlines()
    if len(lines) > LONGEST:
        lines[LONGEST:] = ["\t…"]
    head = "\n".join(lines)
    return "\n".join([f"The query can't be run: {head}", *(part.rstrip("\n") for part in where)])


def _first(said: str) -> str:
    return said.strip().partition("\n")[0].rstrip(".!")


def _size(size: int) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} bytes"
