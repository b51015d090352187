"""What the growth of contexts is told by: figures of each turn, tables, promises."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

MOST = 4_100
"""The most tokens that a context may have once there was a conclusion."""

LONG = 2_000
"""Tokens of a very long message: it is shown whole, and so much stands around it at most."""


class Turn(NamedTuple):
    """A turn of the user, and what the mind was shown then."""

    turn: int
    traditional: int
    """Tokens of all that was said so far, the new message included."""
    ours: int
    """Tokens of the whole prompt by the estimate; without what stands before every prompt."""
    message: int
    """Tokens of the new message alone, which nobody would cut."""
    counted: int | None
    """All of the prompt by a tokenizer; None where none is here."""
    counted_message: int | None
    """The message by that tokenizer."""
    counted_traditional: int | None
    open_efforts: int
    shelf: int
    """Artifacts that may be shown."""
    shown: int
    """Artifacts that were shown."""
    evicted: int
    """Artifacts that had left so far."""
    compactions: int
    concluded: int
    """Efforts that had been resolved so far."""
    hit: bool
    """Whether the artifacts stand in the prompt in the same bytes as in the one before."""
    cpu_ms: float
    """Of all that the program did for this turn."""


class Played(NamedTuple):
    """A conversation as it went."""

    tokens: int
    turns: list[Turn]
    messages: int
    """Messages and answers."""
    picked: int
    """How many of them were read back from the log, word for word."""
    found: int | None
    """How many of them a search for some of their words found among the first ten."""

    @property
    def roomy(self) -> list[Turn]:
        """Turns behind the first conclusion, but for those of very long messages."""
        return [turn for turn in self.turns if turn.concluded and turn.message <= LONG]

    @property
    def most(self) -> int:
        """The longest context of those."""
        return max((turn.ours for turn in self.roomy), default=0)

    @property
    def most_counted(self) -> int | None:
        """The same by a tokenizer."""
        found = [turn.counted for turn in self.roomy if turn.counted is not None]
        return max(found, default=None)

    @property
    def longest(self) -> Turn:
        """The turn of the longest context of all."""
        return max(self.turns, key=lambda turn: turn.ours)

    @property
    def most_beside(self) -> int | None:
        """The longest of all turns without the new message, by a tokenizer."""
        found = [
            t.counted - t.counted_message
            for t in self.turns
            if t.concluded and t.counted is not None and t.counted_message is not None
        ]
        return max(found, default=None)

    @property
    def hits(self) -> float:
        """Percent of the prompts whose artifacts a cache has from the prompt before."""
        return 100 * sum(turn.hit for turn in self.turns) / len(self.turns)

    @property
    def saved(self) -> float:
        """Percent that the last context has less than the traditional one."""
        last = self.turns[-1]
        return 100 * (1 - last.ours / last.traditional)

    def cpu(self, part: slice) -> float:
        """CPU milliseconds of a turn, on average over a part of the conversation."""
        some = [turn.cpu_ms for turn in self.turns[part]]
        return sum(some) / max(len(some), 1)


def table(played: Played, every: int) -> Iterator[str]:
    """Every so many turns, one line."""
    header = ("turn", "traditional", "ours", "counted", "open", "shelf", "shown", "evicted")
    yield " ".join(f"{name:>11}" for name in (*header, "compacted", "ms"))
    for turn in played.turns:
        if turn.turn % every == 0 or turn is played.turns[-1]:
            counted = "–" if turn.counted is None else f"{turn.counted:,}"
            cells = [f"{turn.turn}", f"{turn.traditional:,}", f"{turn.ours:,}", counted]
            cells += [f"{n}" for n in (turn.open_efforts, turn.shelf, turn.shown, turn.evicted)]
            cells += [f"{turn.compactions}", f"{turn.cpu_ms:.1f}"]
            yield " ".join(f"{cell:>11}" for cell in cells)


def summary(all_: Sequence[Played]) -> Iterator[str]:
    """All conversations, as a table in Markdown."""
    heads = ("tokens said", "turns", "longest context", "by a tokenizer", "without the message")
    heads = (*heads, "with the longest message", "saved at the end", "artifacts unchanged", "found")
    yield f"| {' | '.join(heads)} |"
    yield "|---:|---:|---:|---:|---:|---|---:|---:|---|"
    for one in all_:
        counted = "–" if one.most_counted is None else f"{one.most_counted:,}"
        beside = "–" if one.most_beside is None else f"{one.most_beside:,}"
        read = f"{100 * one.picked / one.messages:.0f} % in the log"
        found = "" if one.found is None else f", {100 * one.found / one.messages:.1f} % by search"
        longest = f"{one.longest.ours:,}, of {one.longest.message:,}"
        yield (
            f"| {one.tokens:,} | {len(one.turns):,} | {one.most:,} | {counted} | {beside}"
            f" | {longest} | {one.saved:.1f} % | {one.hits:.0f} % | {read}{found} |"
        )
    yield ""
    long = sum(turn.message > LONG for one in all_ for turn in one.turns)
    yield (
        f"The longest context is that of a turn whose message has at most {LONG:,} tokens by the"
        f" estimate: {long} of {sum(len(one.turns) for one in all_):,} have more."
    )


def missed(one: Played) -> Iterator[str]:
    """Promises that were broken."""
    size = f"{one.tokens:,} tokens"
    if one.most > MOST:
        yield f"{size}: a context of {one.most:,} tokens, at most {MOST:,} are promised"
    for turn in one.turns:
        if turn.ours > max(MOST, turn.message + LONG):
            of = f"of a message of {turn.message:,}"
            yield f"{size}: a context of {turn.ours:,} tokens in turn {turn.turn}, {of}"
    if one.picked < one.messages:
        yield f"{size}: {one.messages - one.picked} messages can't be read back"
    if one.found is not None and one.found < one.messages:
        yield f"{size}: {one.messages - one.found} messages are not found by their own words"


def as_csv(all_: Sequence[Played], path: Path) -> None:
    """Write every turn of every conversation."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("conversation", *Turn._fields))
        for one in all_:
            writer.writerows((one.tokens, *turn) for turn in one.turns)
