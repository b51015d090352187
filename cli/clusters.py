"""What the mind keeps coming back to: cluster status, show, graph, timeline."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import output as out
from cli.options import AtOption, FullFlag, JsonFlag, SessionOption, StoreOption
from cli.wiring import desk_at
from domain.errors import BadSetting

if TYPE_CHECKING:
    from projections.clusters import Turning
    from projections.diversity import Thinking
    from projections.trajectory import Stage

app = typer.Typer(no_args_is_help=True, help="Clusters of similar thoughts.")

SHOWN = 20
"""Clusters that a listing shows unless all are asked for."""


@app.command()
def status(
    at: AtOption = None,
    all_: Annotated[bool, typer.Option("--all", "-a", help="Dormant ones, too.")] = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Show the clusters, and whether thinking still goes anywhere.

    Example: mind cluster status --at iter:20
    """
    from projections.clusters import Clusters, texts  # noqa: PLC0415 — brings numpy along
    from projections.diversity import thinking  # noqa: PLC0415

    with desk_at(store, session, at) as here:
        state = here.state
        clusters = Clusters(here.log, state)
        standings, measured = clusters.standings(), thinking(here.log, state)
        central = texts(here.log, here.session, [s.central for s in standings])
    pool = state.pool
    facts = {
        "session": state.id,
        "version": state.version,
        "thoughts": pool.total,
        "pool": len(pool.active),
        "waiting": len(pool.waiting),
        "clusters": len(standings),
        "alone": clusters.alone,
        "alone_in_pool": len(pool.active) - pool.sizes.total() - len(pool.waiting),
        **_measures(measured),
    }
    if json:
        rows = [{**s._asdict(), "text": central.get(s.central, "")} for s in standings]
        out.as_json({**facts, "standings": rows})
        return
    _overview(facts)
    shown = [s for s in standings if s.active or all_][: None if all_ else SHOWN]
    out.table(
        [
            (
                str(s.id),
                str(s.active),
                str(s.size),
                f"{s.coherence:.2f}",
                str(s.last),
                central.get(s.central, ""),
            )
            for s in shown
        ],
        ("cluster", "in pool", "in all", "alike", "newest", "most central thought"),
    )
    if len(shown) < len(standings):
        out.talk(f"{len(standings) - len(shown)} more are dormant: mind cluster status --all.")
    if measured.warning:
        out.talk(f"! {measured.warning}")


def _measures(measured: "Thinking") -> dict[str, Any]:
    now, beginning = measured.now, measured.beginning
    return {
        "similarity": now.similarity if now else None,
        "similarity_in_the_beginning": beginning.similarity if beginning else None,
        "directions": now.directions if now else None,
        "largest_share": round(measured.largest_share, 4),
        "warning": measured.warning,
    }


def _overview(facts: dict[str, Any]) -> None:
    out.answer(
        f"{out.count(facts['clusters'], 'cluster')} of {out.count(facts['thoughts'], 'thought')},"
        f" {facts['alone']} alone; in the pool {facts['pool']},"
        f" {facts['alone_in_pool']} alone, {facts['waiting']} waiting for a vector"
    )
    if facts["similarity"] is not None:
        before = facts["similarity_in_the_beginning"]
        was = f" ({before:.2f} in the beginning)" if before is not None else ""
        out.answer(
            f"newest thoughts: mean similarity {facts['similarity']:.2f}{was},"
            f" {facts['directions']:.1f} directions,"
            f" largest cluster {facts['largest_share']:.0%}"
        )


@app.command()
def show(
    cluster: Annotated[str, typer.Argument(help="Its number.", metavar="CLUSTER")],
    count: Annotated[
        int, typer.Option("--count", "-n", min=0, help="The newest so many thoughts; 0 for all.")
    ] = 10,
    at: AtOption = None,
    full: FullFlag = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Show the thoughts of a cluster, newest first, and what became of it.

    Example: mind cluster show 3
    """
    from projections.clusters import Clusters  # noqa: PLC0415 — brings numpy along

    id_ = cluster_id(cluster)
    with desk_at(store, session, at) as here:
        state = here.state
        clusters = Clusters(here.log, state)
        standing = clusters.standing(id_)
        members = clusters.members(id_, count or None)
        turnings = list(clusters.turnings(id_))
    if json:
        out.as_json(
            {
                **standing._asdict(),
                "asked_for": id_,
                "members": [member._asdict() for member in members],
                "turnings": [{"version": t.version, **t.event.model_dump()} for t in turnings],
            }
        )
        return
    if standing.id != id_:
        out.answer(f"Cluster {id_} has become part of cluster {standing.id}.")
    out.answer(
        f"cluster {standing.id}: {standing.active} in the pool, {standing.size} in all,"
        f" alike {standing.coherence:.2f}"
    )
    for turning in turnings:
        out.answer(out.shade(f"  {turning.version:>6}  {_turned(turning)}", "faint"))
    for member in members:
        where = "in the pool" if member.active else "beyond the pool"
        marks = f"  age {state.upcoming - member.iteration}, {member.origin}, {where},"
        head = out.shade(f"{member.version}", "strong")
        out.answer(head + out.shade(f"{marks} {member.similarity:.2f} to the middle", "faint"))
        out.answer(out.block(member.text, lines=None if full else 4))


def _turned(turning: "Turning") -> str:
    from projections.timeline import summary  # noqa: PLC0415 — only here

    return f"{turning.event.kind.partition('.')[2]}: {summary(turning.event)}"


@app.command()
def graph(
    neighbours: Annotated[
        int, typer.Option("--neighbours", "-n", min=1, help="Links of a cluster, at most.")
    ] = 3,
    dot: Annotated[bool, typer.Option("--dot", help="Print Graphviz.")] = False,
    at: AtOption = None,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Show which clusters are near each other.

    Example: mind cluster graph --dot | dot -Tsvg > clusters.svg
    """
    from projections.clusters import Clusters, texts  # noqa: PLC0415 — brings numpy along

    with desk_at(store, session, at) as here:
        clusters = Clusters(here.log, here.state)
        links, standings = clusters.links(neighbours), clusters.standings()
        central = texts(here.log, here.session, [s.central for s in standings])
    if json:
        out.as_json([link._asdict() for link in links])
        return
    if dot:
        out.answer("graph clusters {")
        for s in standings:
            name = _quoted(f"{s.id} ({s.size}): {out.one_line(central.get(s.central, ''), 40)}")
            out.answer(f"  {s.id} [label={name}];")
        for link in links:
            out.answer(f"  {link.one} -- {link.other} [weight={max(link.similarity, 0):.2f}];")
        out.answer("}")
        return
    told = {s.id: out.one_line(central.get(s.central, ""), 30) for s in standings}
    out.table(
        [(f"{a} – {b}", f"{similarity:.2f}", told[a], told[b]) for a, b, similarity in links],
        ("clusters", "near", "one", "other"),
        cut=("one", "other"),
    )
    if not links:
        out.talk("There are no two clusters yet.")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@app.command()
def timeline(
    last: Annotated[
        int, typer.Option("--count", "-n", min=0, help="The last so many iterations; 0 for all.")
    ] = 20,
    at: AtOption = None,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Show how clusters and diversity went, iteration by iteration.

    Example: mind cluster timeline -n 50
    """
    from projections.trajectory import Trajectory  # noqa: PLC0415 — brings numpy along

    with desk_at(store, session, at) as here:
        stages = list(Trajectory(here.log, here.state).stages())
    stages = stages[-last:] if last else stages
    if json:
        out.as_json([_staged(stage) for stage in stages])
        return
    out.table(
        [_row(stage) for stage in stages],
        ("iteration", "thoughts", "clusters", "alone", "similarity", "directions", "what changed"),
    )
    if not stages:
        out.talk("There was no iteration yet.")


def _staged(stage: "Stage") -> dict[str, Any]:
    measured = stage.diversity
    return {
        **stage._asdict(),
        "diversity": measured._asdict() if measured else None,
        "active": {str(cluster): size for cluster, size in stage.active.items()},
    }


def _row(stage: "Stage") -> tuple[str, ...]:
    changes = [
        f"{number} {word}"
        for number, word in (
            (stage.formed, "formed"),
            (stage.merged, "merged"),
            (stage.split, "split"),
        )
        if number
    ]
    measured = stage.diversity
    return (
        str(stage.iteration),
        str(stage.thoughts),
        str(len(stage.active)),
        str(stage.alone),
        f"{measured.similarity:.2f}" if measured else "–",
        f"{measured.directions:.1f}" if measured else "–",
        ", ".join(changes),
    )


def cluster_id(text: str) -> int:
    """Read ``3`` or ``cluster_3``.

    Raises:
        BadSetting: it is neither.
    """
    digits = text.removeprefix("cluster_")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10):
        raise BadSetting(f"{text!r} is no cluster: give its number (mind cluster status).")
    return int(digits)


def register(parent: typer.Typer) -> None:
    """Add the verbs of this file."""
    parent.add_typer(app, name="cluster")
