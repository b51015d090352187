"""Histories as hypothesis makes them: wishes are drawn, and what is not refused has happened."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from commands.command import Command
from commands.dialogue import PruneExchanges, SendMessage
from commands.drafts import AcceptDraft, MarkSeen
from commands.presence import SetSignal
from commands.recording import RecordIteration
from commands.runs import StartRun, StopRun
from commands.sessions import ChangeConfig, LabelMoment
from commands.thinking import (
    UNEMBEDDED,
    ChangeEmbedder,
    Embedded,
    Embedding,
    EmbedWaiting,
    InjectThought,
    Placed,
)
from domain import pool
from domain.actors import Actor
from domain.errors import Refused
from domain.events import (
    Caused,
    ClusterFormed,
    ClusterMerged,
    ClusterSplit,
    Event,
    SessionForked,
    ThoughtClustered,
)
from domain.events.thinking import packed
from domain.ids import CommandId, RunId, SessionId
from domain.recorded import Recorded
from domain.session import Session, evolve, fold
from tests import artifact_wishes
from tests.domain.happened import FIRST, STARTED, invoked, vector

Wish = Callable[[Session], Command]
"""A wish that is only complete once the state is known: which exchange is open, what is now."""

SECOND = 1_000_000
USER = Actor("user", "ann")
MIND = Actor("mind", "script:tides.jsonl")

words = st.sampled_from(
    ("+1", "a", "tide", "moon ", "  two\nlines", "ünï😀", "\0", "---", "x" * 17, "y" * 400)
) | st.text(max_size=30)
plain = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1)
small = st.integers(min_value=1, max_value=4)
times = st.integers(min_value=0, max_value=10_000).map(
    lambda minutes: datetime(2026, 5, 2, tzinfo=UTC) + timedelta(minutes=minutes)
)
CHANGES = (
    ("active_pool_size", "3"),
    ("active_pool_size", "50"),
    ("auto_accept_after", "2"),
    ("auto_accept_after", "off"),
    ("hard_signal_threshold", "2"),
    ("draft_display_count", "2"),
    ("budget_usd", "0.5"),
    ("embedding_model", "off"),
    ("embedding_model", "local"),
)


def embedded_for(session: Session, texts: Sequence[str]) -> Embedded:
    """Vectors for texts with letters in them, and for all that waits."""
    vectors = tuple(
        Embedding("letters", 2, vector(text.count("t") + 1.0, text.count("m")))
        if any(map(str.isalpha, text))
        else None
        for text in texts
    )
    new = Embedding("letters", 2, vector(0.0, 1.0))
    waiting = tuple((thought.version, new) for thought in session.pool.waiting)
    return Embedded("local", vectors, waiting, tokens=len(texts), cost_usd=0.001)


def another_embedder(session: Session) -> Command:
    """The embedder is switched off, or on again for the whole pool."""
    model = "off" if session.config.embedding_model == "local" else "local"
    unembedded = session._replace(pool=pool.unembedded(session.pool))
    embedded = embedded_for(unembedded, ())._replace(embedder=model)
    return ChangeEmbedder(
        model=model, embedded=embedded if model == "local" else Embedded("off"), gather=company
    )


def company(session: Session, placed: Sequence[Placed]) -> Iterator[Event]:
    """Every way to gather thoughts has its turn; what it is, the version decides."""
    if not placed:
        return
    sizes = session.pool.sizes
    known = sorted(sizes)
    new = tuple(version for version, _ in placed)
    id_ = session.version
    match id_ % 4:
        case 0 if known:
            for version in new:
                yield ThoughtClustered(
                    thought=version, cluster=known[0], how="joined", similarity=0.5
                )
        case 1 if len(known) > 1:
            yield ClusterMerged(cluster=known[0], absorbed=known[1], similarity=0.5)
        case 2 if known and sizes[known[-1]] > 1:
            inner = [t.version for t in session.pool.active if t.cluster == known[-1]]
            yield ClusterSplit(
                cluster=known[-1], into=id_, members=tuple(inner[1:]), similarity=0.5
            )
            yield ThoughtClustered(
                thought=inner[0], cluster=None, how="dropped", was=known[-1], similarity=0.1
            )
        case _:
            yield ClusterFormed(cluster=id_, members=new, how="linkage", similarity=0.5)


def iterated(
    thoughts: Sequence[str],
    draft: str | None,
    outcome: Any,
    confidence: float | None,
    working: bool,
    watched: bool,
    late: bool,
    embeds: bool = False,
) -> Wish:
    """An invocation that ended so."""

    def wish(session: Session) -> Command:
        past, asked = session.dialogue.history, session.dialogue.awaiting
        exchange = asked.exchange if asked else FIRST
        if late and past:
            exchange = past[-1].id
        silent = outcome in {"failed", "unparseable"}
        return RecordIteration(
            invocation=invoked(
                session.upcoming,
                based_on=session.version,
                outcome=outcome,
                sampled=tuple(t.version for t in session.pool.active[:3]),
                raw=packed(repr((thoughts, draft))),
                cost_usd=confidence,
                tokens_in=len(thoughts),
            ),
            exchange=exchange,
            texts=() if silent else tuple(thoughts),
            draft=None if silent else draft,
            confidence=confidence,
            working=working,
            seen_by=USER if watched else None,
            embedded=embedded_for(session, () if silent else thoughts) if embeds else UNEMBEDDED,
            gather=company,
        )

    return wish


def as_it_is(command: Command) -> Wish:
    """A wish that does not depend on the state."""
    return lambda _: command


def run_wish(number: int, dead: bool) -> Wish:
    """Somebody wants to run."""
    return lambda session: StartRun(
        run=RunId(f"run-{number}"),
        mode="observe",
        limit=100,
        exact=False,
        holder=f"host:{number}:1",
        now=session.at,
        dead=session.work.run.holder if dead and session.work.run else None,
    )


def iterations(most_thoughts: int = 4) -> st.SearchStrategy[Wish]:
    """Invocations with any result."""
    return st.builds(
        iterated,
        st.lists(words, max_size=most_thoughts),
        st.none() | words,
        st.sampled_from(("ok", "ok", "ok", "skipped", "unparseable", "failed")),
        st.none() | st.floats(min_value=0, max_value=1),
        st.booleans(),
        st.booleans(),
        st.booleans(),
        st.booleans(),
    )


messages = st.builds(lambda text: SendMessage(text=text), plain).map(as_it_is)
acceptances = st.builds(
    lambda index: AcceptDraft(index=index), st.sampled_from((None, None, None, 1, 2, 5))
).map(as_it_is)
pruning = st.builds(lambda keep: PruneExchanges(keep=keep), st.integers(0, 3)).map(as_it_is)
kept: st.SearchStrategy[Wish] = artifact_wishes.wishes.map(
    lambda wish: lambda session: wish(session, ())
)
others: st.SearchStrategy[Wish] = st.one_of(
    st.builds(lambda some: MarkSeen(indexes=tuple(some)), st.lists(small, max_size=2)).map(
        as_it_is
    ),
    pruning,
    st.builds(lambda text: InjectThought(text=text, by="user:ann"), plain).map(as_it_is),
    st.just(lambda session: EmbedWaiting(embedded=embedded_for(session, ()), gather=company)),
    st.just(another_embedder),
    st.builds(
        lambda presence, status, time: SetSignal(presence=presence, status=status, time=time),
        st.none() | st.sampled_from(("absent", "reviewing", "engaged")),
        st.none() | plain,
        times,
    ).map(as_it_is),
    st.sampled_from(CHANGES).map(lambda c: as_it_is(ChangeConfig(key=c[0], value=c[1]))),
    st.builds(
        lambda label: lambda s: LabelMoment(label=label, version=max(1, s.version // 2)),
        st.sampled_from(("lunch", "tea")),
    ),
    st.builds(run_wish, small, st.booleans()),
    st.builds(
        lambda number, reason: StopRun(run=RunId(f"run-{number}"), reason=reason),
        small,
        st.sampled_from(("draft", "limit", "interrupted")),
    ).map(as_it_is),
    kept,
)
wishes: st.SearchStrategy[Wish] = st.one_of(
    *(messages,) * 2, *(iterations(),) * 3, *(acceptances,) * 2, others
)
"""The others are many sorts, each as likely as one of these."""


def drafting(number: st.SearchStrategy[int], *, late: bool = False) -> st.SearchStrategy[Wish]:
    """Iterations that say something, to the exchange before where they come late."""
    return st.builds(
        iterated,
        st.lists(words, max_size=2),
        number.map("this is a real answer, number {}".format),
        st.just("ok"),
        st.none() | st.floats(min_value=0, max_value=1),
        st.booleans(),
        st.booleans(),
        st.just(late),
        st.booleans(),
    )


answers, copies = drafting(st.integers(0, 9)), drafting(st.just(0))
overdue = drafting(st.integers(0, 1), late=True)
silent = st.just(iterated(("on and on",), None, "ok", None, False, False, False))
closing = st.just(as_it_is(AcceptDraft()))
patience = st.just(as_it_is(ChangeConfig(key="auto_accept_after", value="1")))
begun, taken = st.just(run_wish(1, dead=False)), st.just(run_wish(2, dead=True))
stopped = st.just(as_it_is(StopRun(run=RunId("run-2"), reason="limit")))
exchanged = st.tuples(
    *(messages, iterations(), st.lists(wishes, max_size=3)),
    *(answers, wishes, acceptances, others),
).map(lambda turn: [*turn[:2], *turn[2], *turn[3:]])
turns: st.SearchStrategy[list[Wish]] = st.one_of(
    *(exchanged,) * 4,
    # a call that was under way when its exchange closed comes behind drafts of the next one
    st.tuples(messages, answers, closing, messages, answers, overdue, others),
    st.tuples(messages, copies, closing, overdue, messages, copies, copies, overdue, closing),
    # what waited for long enough is accepted; then there is nothing to accept
    st.tuples(patience, messages, answers, silent, silent, wishes, messages),
    # a run takes over from one that was lost
    st.tuples(messages, begun, answers, taken, iterations(), stopped, others),
    # exchanges that are hidden, with what was kept of them
    st.tuples(messages, answers, closing, kept, kept, pruning, messages, kept, answers),
).map(list)
"""Mostly a whole exchange, with something else in between; else what happens, but seldom."""


def decided(session: Session, wish: Wish) -> list[Caused]:
    """What a wish becomes; nothing where it is refused."""
    try:
        events = list(wish(session).decide(session))
    except Refused:
        return []
    return [e if isinstance(e, Caused) else Caused(e) for e in events]


def sealed(
    session: SessionId, after: int, at: int, events: Sequence[Caused], command: CommandId
) -> list[Recorded]:
    """Events as the log gives them back, except for their positions."""
    return [
        Recorded(session, after + n, after + n, at, by or USER, command, cause, event)
        for n, (event, cause, by, _) in enumerate(events, 1)
    ]


@st.composite
def histories(draw: st.DrawFn, most: int = 40) -> list[Recorded]:
    """A session to which much has happened, with a fork or two on the way."""
    name = SessionId("tides")
    past = sealed(name, 0, SECOND, [Caused(STARTED)], CommandId(bytes(16)))
    state = fold(past)
    assert state is not None
    for n, step in enumerate(draw(st.lists(wishes | st.none(), max_size=most)), 1):
        command = CommandId(n.to_bytes(16, "big"))
        if step is None:
            fork = SessionForked(parent=name, at_version=state.version, parent_hash=bytes(32))
            name = SessionId(f"{name}/b")
            events = [Caused(fork, state.version)]
        else:
            events = decided(state, step)
        more = sealed(name, state.version, state.at + n, events, command)
        for recorded in more:
            state = evolve(state, recorded)
        past += more
    return past
