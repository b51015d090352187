"""The mind's pool: think, thoughts, embed."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli import output as out
from cli.clusters import cluster_id
from cli.options import FullFlag, JsonFlag, SessionOption, StoreOption
from cli.texts import read_text
from cli.wiring import Desk, desk, embedder_for, gatherer_for
from commands.sessions import changed
from commands.thinking import ChangeEmbedder, EmbedWaiting, InjectThought
from domain.errors import BadSetting, Broken
from domain.session import Session
from domain.texts import checked_text

if TYPE_CHECKING:
    from commands.gatherer import Gatherer
    from domain.clustering.vectors import Stored
    from projections.thoughts import Found


def think(
    text: Annotated[str | None, typer.Argument(help="The thought; - reads the pipe.")] = None,
    file: Annotated[Path | None, typer.Option("--file", "-f", help="Read it from a file.")] = None,
    store: StoreOption = None,
    session: SessionOption = None,
) -> None:
    """Put a thought of your own into the mind's pool.

    Example: mind think "Compare it with the Bay of Fundy."
    """
    with desk(store, session) as at:
        at.only_now()
        thought = checked_text(read_text(text, file), "thought")
        wish = InjectThought(text=thought, by=str(at.world.actor))
        done = at.do(gatherer_for(at.log).with_company(wish, at.state, [thought]))
    placed = done.state.pool.active[-1]
    company = "It stands alone so far" if placed.cluster is None else f"Cluster {placed.cluster}"
    out.talk(f"It is in the pool, as thought {placed.version}. {company}.")


def thoughts(
    count: Annotated[int, typer.Option("--count", "-n", min=0, help="So many; 0 for all.")] = 10,
    cluster: Annotated[
        str | None, typer.Option("--cluster", "-c", help="Those of a cluster.", metavar="C")
    ] = None,
    like: Annotated[
        str | None, typer.Option("--like", "-l", help="The most similar first.", metavar="TEXT")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", help="Those after a moment.", metavar="REF")
    ] = None,
    sampled: Annotated[
        int | None, typer.Option("--sampled", help="Those an iteration was shown.", metavar="N")
    ] = None,
    full: FullFlag = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Show the thoughts of the active pool, or any of the whole history, oldest first.

    Example: mind thoughts --like "what pulls the water" -n 5
    """
    from projections.thoughts import Thoughts  # noqa: PLC0415 — brings numpy along

    with desk(store, session) as at:
        state = at.state
        known = Thoughts(at.log, state)
        found = known.pool()
        if sampled is not None:
            found = known.sampled(sampled)
        elif cluster is not None:
            found = known.of_cluster(cluster_id(cluster))
        elif since is not None or like is not None:
            found = known.since(at.moment(since)[1] if since is not None else 0)
        if since is not None:
            after = at.moment(since)[1]
            found = [thought for thought in found if thought.version > after]
        if like is not None:
            found = known.like(_vector(state, like), found)
    if count:
        found = found[:count] if like is not None else found[-count:]
    if json:
        out.as_json([{**t._asdict(), "age": max(state.upcoming - t.iteration, 0)} for t in found])
        return
    for thought in found:
        _print(thought, state, full=full)
    if not found:
        out.talk("There are no such thoughts.")


def _vector(state: Session, text: str) -> "Stored":
    """The vector of a text, by the model that the session's thoughts are embedded with."""
    from commands.embedders.embed import embed  # noqa: PLC0415 — brings numpy along
    from domain.clustering.vectors import Stored  # noqa: PLC0415

    embedder = embedder_for(state.config)
    if embedder is None:
        raise BadSetting(
            "Thoughts have no vectors here: choose an embedder (mind embed --model local)."
        )
    found = embed(embedder, [checked_text(text, "text")])
    if found.found[0] is None:
        raise Broken(found.problem or "The text could not be embedded: try another one.")
    return Stored(found.found[0].data, found.found[0].dimension)


def _print(thought: "Found", state: Session, *, full: bool) -> None:
    marks = [f"age {max(state.upcoming - thought.iteration, 0)}", thought.origin]
    if thought.cluster is not None:
        marks.append(f"cluster {thought.cluster}")
    if not thought.active:
        marks.append("beyond the pool")
    if thought.similarity is not None:
        marks.append(f"similarity {thought.similarity:.2f}")
    head = out.shade(f"{thought.version}", "strong")
    out.answer(head + out.shade(f"  {', '.join(marks)}", "faint"))
    out.answer(out.block(thought.text, lines=None if full else 4))


AT_ONCE = 256
"""Thoughts that are embedded in one append."""


def embed(
    missing: Annotated[
        bool, typer.Option("--missing", help="Give vectors to all thoughts that have none.")
    ] = False,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="Embed with this from now on; the pool at once."),
    ] = None,
    store: StoreOption = None,
    session: SessionOption = None,
) -> None:
    """Embed thoughts that have no vector yet, or the whole pool with another model.

    Example: mind embed --missing
    """
    if missing == (model is not None):
        raise BadSetting("Say what to embed: mind embed --missing, or mind embed --model NAME.")
    with desk(store, session) as at:
        at.only_now()
        gatherer = gatherer_for(at.log)
        done = _changed(at, gatherer, model) if model is not None else _filled(at, gatherer)
    out.talk(f"Embedded {out.count(done, 'thought')}.")


def _filled(at: Desk, gatherer: "Gatherer") -> int:
    """Embed those that wait, some at a time; those that can't be are left for later."""
    waiting = list(gatherer.waiting(at.state).items())
    done = 0
    for begin in range(0, len(waiting), AT_ONCE):
        embedded = gatherer.late(at.state, waiting[begin : begin + AT_ONCE])
        if embedded.waiting:
            at.do(EmbedWaiting(embedded=embedded, gather=gatherer.decide, still=gatherer.waiting))
        done += len(embedded.waiting)
    if done < len(waiting):
        raise Broken(f"{out.count(len(waiting) - done, 'thought')} got no vector: see above.")
    return done


def _changed(at: Desk, gatherer: "Gatherer", model: str) -> int:
    """Change the setting, with new vectors for the whole pool, or leave everything as it is."""
    state = at.state
    config = changed(state.config, "embedding_model", model)
    embedded = gatherer.anew(state, config)
    missing = len(state.pool.active) - len(embedded.waiting)
    if missing and model != "off":
        raise Broken(f"{out.count(missing, 'thought')} got no vector: nothing was changed.")
    done = at.do(
        ChangeEmbedder(model=model, embedded=embedded, gather=gatherer.decide_anew(config))
    )
    return sum(thought.embedded for thought in done.state.pool.active)


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    for verb in (think, thoughts, embed):
        app.command()(verb)
