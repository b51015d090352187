"""The hook ``auditor``: every few iterations a note on what a sample of all thoughts looks like.

It counts and quotes, and leaves judging to the reader; no model is asked.
"""

import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from random import Random
from typing import NamedTuple

from commands.hooks.novelty import at_least_one
from commands.hooks.turn import Turn
from domain.pool import Thought

SHOWN = 3
"""Clusters that are quoted."""

MOST = 200
"""Thoughts of a sample: each is compared with each."""

SAME = 0.9
"""The share of words, in order, that two thoughts have in common to be nearly the same."""

_QUOTED = 200
"""Characters of a quotation."""

_WORD = re.compile(r"\w+")

Central = Callable[[Sequence[Thought]], Thought]
"""Picks of a group the thought that stands for it best."""


class Auditor:
    """Draws thoughts of the whole history and writes a note about them."""

    name = "auditor"

    def __init__(self, every: int = 10, sample: int = 30) -> None:
        """Set how often and how much.

        Args:
            every: after iterations ``every``, 2 ``every``, and so on.
            sample: how many thoughts are drawn; at most 200.

        Raises:
            ValueError: one of them is out of range.
        """
        self.every = at_least_one(every, "every")
        self.sample = at_least_one(sample, "sample")
        if sample > MOST:
            raise ValueError(f"sample is at most {MOST}, not {sample}")

    def after(self, turn: Turn) -> None:
        """Write the note, if it is time for one and there is a thought."""
        if turn.iteration % self.every:
            return
        seed = _seed(turn)
        thoughts = turn.thoughts(self.sample, seed)
        if not thoughts:
            return
        report = summarised(thoughts, _by_vectors(turn))
        total = turn.session.pool.total
        turn.note(
            f"Audit after iteration {turn.iteration}: {len(thoughts)} of {total} thoughts, drawn"
            f" with seed {seed}.\n{report.text}",
            report.about,
        )


class Report(NamedTuple):
    """What can be said of a sample."""

    text: str
    about: tuple[int, ...]
    """Versions of the thoughts that it quotes."""


def summarised(thoughts: Sequence[Thought], by_vectors: Central) -> Report:
    """Count and quote.

    Args:
        thoughts: the sample, oldest first; at least one.
        by_vectors: picks the thought to quote where all of a group have vectors; where some have
            none, shared words do.
    """
    groups: dict[int, list[Thought]] = {}
    for thought in thoughts:
        if thought.cluster is not None:
            groups.setdefault(thought.cluster, []).append(thought)
    largest = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    repeated = repetitions([thought.text for thought in thoughts])
    shown = [(f"cluster {id_}", members) for id_, members in largest[:SHOWN]]
    shown = shown or [("all", list(thoughts))]
    embedded = all(thought.embedded for _, members in shown for thought in members)
    quoted = [(by_vectors if embedded else by_words)(members) for _, members in shown]
    lines = (
        _about_clusters(thoughts, [len(members) for _, members in largest]),
        f"Repetition: {_share(repeated, len(thoughts))} nearly word for word as an older one.",
        f"Most central, by {'vectors' if embedded else 'shared words'}:",
        *(
            f"- of {what}, {len(members)} here: {_quote(thought.text)} (event {thought.version})"
            for (what, members), thought in zip(shown, quoted, strict=True)
        ),
    )
    return Report("\n".join(lines), tuple(thought.version for thought in quoted))


def _about_clusters(thoughts: Sequence[Thought], sizes: Sequence[int]) -> str:
    waiting = sum(not thought.embedded for thought in thoughts)
    alone = len(thoughts) - waiting - sum(sizes)
    parts = [
        f"{len(sizes)}, the largest with {_share(sizes[0], len(thoughts))}" if sizes else "none",
        *([f"{alone} stand alone"] if alone else []),
        *([f"{waiting} without a vector"] if waiting else []),
    ]
    return f"Clusters: {'; '.join(parts)}."


def repetitions(texts: Sequence[str]) -> int:
    """How many say nearly word for word what one before them says.

    Two texts do, when they have nine tenths of their words in common, in the same order (the
    ratio of Ratcliff and Obershelp); case and punctuation do not count.
    """
    words = [_WORD.findall(text.casefold()) for text in texts]
    return sum(
        any(_nearly_same(words[place], before) for before in words[:place])
        for place in range(len(words))
    )


def _nearly_same(some: list[str], others: list[str]) -> bool:
    if some == others:
        return True
    match = SequenceMatcher(None, some, others, autojunk=False)
    # the first two are cheap upper bounds of the last
    return (
        match.real_quick_ratio() >= SAME and match.quick_ratio() >= SAME and match.ratio() >= SAME
    )


def _by_vectors(turn: Turn) -> Central:
    def central(thoughts: Sequence[Thought]) -> Thought:
        rows = turn.vectors(thoughts)
        return thoughts[int((rows @ rows.sum(axis=0)).argmax())]

    return central


def by_words(thoughts: Sequence[Thought]) -> Thought:
    """The one that shares most words with the others (Jaccard, summed); the oldest of equals."""
    bags = [frozenset(_WORD.findall(thought.text.casefold())) for thought in thoughts]
    scores = [sum(len(bag & other) / (len(bag | other) or 1) for other in bags) for bag in bags]
    return thoughts[scores.index(max(scores))]


def _seed(turn: Turn) -> int:
    session = turn.session
    dice = Random(f"{session.seed}/{session.id}/audit/{turn.iteration}")  # noqa: S311 — repeatable
    return dice.getrandbits(32)


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.0%})"


def _quote(text: str) -> str:
    line = " ".join(text.split())
    return f"“{line}”" if len(line) <= _QUOTED else f"“{line[: _QUOTED - 1]}…”"
