"""Finding what was said, asked, answered or learned: search."""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import output as out
from cli.cells import searching
from cli.options import JsonFlag, SessionOption, StoreOption
from cli.wiring import MOMENT, Desk, embedder_for, open_store, seat
from commands.eventlog.place import Place
from domain.config import Config
from domain.errors import BadSetting, LogosphereError
from domain.refs import AtTime, parse_moment
from domain.server_errors import CellsAreAway, StoreIsUnreachable

if TYPE_CHECKING:
    from projections.search.hit import Hit, Kind, Scope, Vectors

_MARKS = ("\ue000", "\ue001")
_UNMARKED = dict.fromkeys(map(ord, _MARKS))
_MARKED = re.compile(f"{_MARKS[0]}(.*?){_MARKS[1]}", re.DOTALL)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PATIENCE = 3600.0
"""Seconds that the vectors of all texts may take."""


def search(
    text: Annotated[
        str | None, typer.Argument(help='Words; "a phrase" has to be there, -word must not.')
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            "-k",
            help="Only message, answer, artifact (effort, fact, event, summary) or session;"
            " may be repeated.",
        ),
    ] = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", help="What was so at this moment.", metavar="REF")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many hits.")] = 10,
    words: Annotated[
        bool, typer.Option("--words", help="By words alone: makes no vectors.")
    ] = False,
    recall: Annotated[
        bool, typer.Option("--recall", help="Evicted artifacts that are found come back.")
    ] = False,
    index: Annotated[
        bool, typer.Option("--index", help="Make the vectors of all texts now.")
    ] = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Find messages, accepted answers and artifacts by their words and their meaning.

    All sessions are searched, and what was said to agents and came back; or one session with all
    that it inherited (--session). Meaning is compared by the embedder of this machine; an index
    beside the log (search.db) is kept by itself.

    Example: mind search "login timeout" --kind answer
    """
    if text is None and not index:
        raise typer.BadParameter('say what to look for: mind search "login timeout"')
    if text is not None and not text.strip():
        raise BadSetting('There are no words to look for: give some (mind search "login timeout").')
    alone = session is not None or as_of is not None or recall or MOMENT.get() is not None
    with _desk(store, session, alone=alone) as at, _progress() as told:
        scope = scope_of(at, as_of, named=session is not None)
        vectors = None if words else vectors_for(at.state.config)
        with searching(at.log, scope, vectors, on_remark=_remark, progress=told) as searcher:
            if index:
                _tell_vectors(searcher.make_vectors(), made=vectors is not None)
            hits = (
                searcher.search(text, scope=scope, kinds=kinds_of(kind), limit=limit)
                if text is not None
                else []
            )
            away = searcher.away
        if recall:
            _recall(at, hits)
    if json and text is not None:
        out.as_json([hit_data(hit) for hit in hits])
    elif text is not None:
        for hit in hits:
            _print(hit)
        if not hits:
            out.talk("Nothing was found: try fewer or other words.")
    if away:
        raise CellsAreAway(away, "Not all was searched")


@contextmanager
def _desk(store: Place | None, session: str | None, *, alone: bool) -> Iterator[Desk]:
    """As :func:`cli.wiring.desk`; any session will do unless what is asked is about one alone."""
    with open_store(store) as (directory, log):
        try:
            at = seat(directory, log, session, MOMENT.get())
        except (CellsAreAway, StoreIsUnreachable):
            there = log.reached("session").streams
            if alone or not there:
                raise
            at = seat(directory, log, there[0], None)
        yield at


def _recall(at: Desk, hits: "Sequence[Hit]") -> None:
    """Bring back what had left the context of this session only since nobody spoke of it."""
    from cli.catalogue import wished  # noqa: PLC0415 — for this option alone
    from commands.artifacts.about import RecallArtifact  # noqa: PLC0415 — as above
    from commands.artifacts.known import known  # noqa: PLC0415 — as above

    streams = {part.stream for part in at.log.path(at.session)}
    found = {hit.artifact for hit in hits if hit.artifact is not None and hit.session in streams}
    for life in known(at.log, at.session, sorted(found)):
        id_ = life.artifact.id
        if id_ in found and life.left == "evicted":
            wished(at, RecallArtifact, [id_], artifact=id_)
            _remark(f"{life.artifact.type.capitalize()} {id_} is in the context again.")


def kinds_of(named: Sequence[str] | None) -> "list[Kind]":
    """What ``--kind`` names; ``artifact`` stands for all kinds of them.

    Raises:
        BadSetting: one of them is no kind.
    """
    from projections.search.hit import ARTIFACTS, KINDS  # noqa: PLC0415 — as above

    found: list[Kind] = []
    for one in named or ():
        kinds = ARTIFACTS if one == "artifact" else [kind for kind in KINDS if kind == one]
        if not kinds:
            having = ", ".join((*KINDS, "artifact"))
            raise BadSetting(f"--kind {one!r} is none that can be found: use {having}.")
        found += kinds
    return found


def vectors_for(config: Config, remark: Callable[[str], object] | None = None) -> "Vectors | None":
    """What makes the vectors of a search: the embedder of this machine, unless embedding is off.

    Never one that costs money: whole histories go through it.
    """
    from projections.search.hit import Vectors  # noqa: PLC0415 — as above

    if config.embedding_model == "off":
        return None
    try:
        embedder = embedder_for(config.model_copy(update={"embedding_model": "local"}))
    except LogosphereError as error:
        (remark or _remark)(f"Searching by words alone: {error.sentence}")
        return None
    if embedder is None:
        return None

    def of(texts: Sequence[str]) -> list[bytes | None]:
        from commands.embedders.embed import embed  # noqa: PLC0415 — only where it is needed
        from commands.embedders.embedder import EmbedderFailed  # noqa: PLC0415 — as above
        from commands.embedders.texts import has_words  # noqa: PLC0415 — as above

        made = embed(embedder, texts, timeout=_PATIENCE, budget=_PATIENCE)
        if made.problem and not any(made.found) and any(map(has_words, texts)):
            raise EmbedderFailed(made.problem, retryable=False)
        return [one.data if one else None for one in made.found]

    return Vectors(embedder.model, of)


def hit_data(hit: "Hit") -> dict[str, Any]:
    """A hit, for programs; in its snippet, ``**`` stands around what matched."""
    from projections.search.hit import marked  # noqa: PLC0415 — as above

    return {
        **hit._asdict(),
        "ref": hit.ref,
        "at": out.iso(hit.at),
        "snippet": marked(hit.snippet, "**", "**"),
    }


def _print(hit: "Hit") -> None:
    from projections.search.hit import marked  # noqa: PLC0415 — as above

    name = f"{hit.kind} {hit.artifact}" if hit.artifact else hit.kind
    notes = f"  {name}  {out.when(hit.at)}  {hit.score:.2f}"
    title = f"  {out.one_line(hit.title, 40)}" if hit.title != hit.session else ""
    out.answer(out.shade(hit.ref, "strong") + out.shade(notes + title, "faint"))
    # marks that a terminal would not obey, and that no line break takes apart
    snippet = out.block(marked(hit.snippet.translate(_UNMARKED), *_MARKS))
    pieces = _MARKED.split(snippet)  # every second one matched
    out.answer("".join(_shown(piece) if n % 2 else piece for n, piece in enumerate(pieces)))
    out.answer()


def _shown(piece: str) -> str:
    return out.shade(piece, "user") if out.coloured() else f"[{piece}]"


def scope_of(at: Desk, as_of: str | None, *, named: bool) -> "Scope":
    """What is looked at.

    Raises:
        BadSetting: two moments were named.
        BadRef, NoSuchSession, NoSuchMoment, AmbiguousRef: the ref names none.
    """
    from projections.search.hit import Branch, Everywhere  # noqa: PLC0415 — as above

    if as_of is None:
        alone = named or MOMENT.get() is not None
        return Branch(at.session, at.version) if alone else Everywhere()
    if MOMENT.get() is not None:
        raise BadSetting("mind at REF is a moment already: leave --as-of out.")
    moment = parse_moment(as_of)
    if isinstance(moment.ref, AtTime) and moment.session is None and not named:
        return Everywhere(_microseconds(moment.ref.time))
    return Branch(*at.moment(as_of))


def _microseconds(time: datetime) -> int:
    try:
        return int((time.astimezone() - _EPOCH).total_seconds() * 1e6)
    except (ValueError, OverflowError, OSError):  # at the ends of the calendar
        return 2**62 if time.year > 1970 else 0


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """Tell of long work where somebody looks."""
    shown = False

    def told(done: int, whole: int) -> None:
        nonlocal shown
        if sys.stderr.isatty() and (done < whole or shown):
            print(f"\rIndexing: {done:,} of {whole:,}\x1b[K", end="", file=sys.stderr, flush=True)
            shown = True

    try:
        yield told
    finally:
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _remark(sentence: str) -> None:
    out.talk(out.safe(sentence))


def _tell_vectors(left: int, *, made: bool) -> None:
    if not made:
        out.talk("No vectors were made: embedding is off, or no embedder is installed.")
    elif left:
        out.talk(f"{out.count(left, 'text')} have no vectors yet: another process is at it.")
    else:
        out.talk("All texts have their vectors.")


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    app.command()(search)
