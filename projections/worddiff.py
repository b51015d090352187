"""What changed between two texts, word by word, in time that grows with their length.

Short stretches are compared exactly. Longer ones are first taken apart at phrases that stand once
in either text (the idea of patience diff), since an exact comparison is quadratic: of two answers
of 20,000 words it would take minutes. A long stretch without such a phrase is told as replaced.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

_WORDS = re.compile(r"(\w+|[^\w\s])(\s*)")

EXACT = 20_000
"""The largest product of two numbers of words that is compared exactly: some milliseconds."""

_PHRASES = (8, 3)
"""Words of the phrases at which longer stretches are taken apart, in the order of trying."""


class Piece(NamedTuple):
    """A stretch of text that stayed, went or came."""

    change: Literal["same", "removed", "added"]
    text: str


class Changed(NamedTuple):
    """How much of a text is another one, in words; punctuation does not count."""

    removed: int
    added: int
    same: int


class _Word(NamedTuple):
    """A word or a sign, and the white space behind it."""

    text: str
    space: str

    def __str__(self) -> str:
        return self.text + self.space


class _Block(NamedTuple):
    """Words that stayed: ``length`` of them, from these places on."""

    old: int
    new: int
    length: int


def word_diff(old: str, new: str) -> list[Piece]:
    """The way from one text to another: what stayed, what went and what came.

    Between two pieces that stayed, there is at most one that went and then one that came.
    """
    before, after = _split(old), _split(new)
    return list(_told(_hunks(before, after)))


def words_changed(pieces: Sequence[Piece]) -> Changed:
    """How many words of a difference went, came and stayed."""
    counts = Counter[str]()
    for piece in pieces:
        counts[piece.change] += len(re.findall(r"\w+", piece.text))
    return Changed(counts["removed"], counts["added"], counts["same"])


def _split(text: str) -> list[_Word]:
    words = [_Word(*found) for found in _WORDS.findall(text)]
    leading = text[: len(text) - len(text.lstrip())]
    return [_Word("", leading), *words] if leading else words


class _Hunk(NamedTuple):
    """What went, what came in its place, and what stayed behind it."""

    removed: str
    added: str
    same: str


def _hunks(before: list[_Word], after: list[_Word]) -> Iterator[_Hunk]:
    words = [word.text for word in before], [word.text for word in after]
    i = j = 0
    for block in (*_blocks(*words), _Block(len(before), len(after), 0)):
        yield from _replaced(before[i : block.old], after[j : block.new])
        i, j = block.old + block.length, block.new + block.length
        yield from _kept(before[block.old : i], after[block.new : j])


def _replaced(gone: list[_Word], come: list[_Word]) -> Iterator[_Hunk]:
    removed, added, same = "".join(map(str, gone)), "".join(map(str, come)), ""
    if gone and come and gone[-1].space == come[-1].space:
        same = gone[-1].space
    end = -len(same) or None
    yield _Hunk(removed[:end], added[:end], same)


def _kept(stayed: list[_Word], as_: list[_Word]) -> Iterator[_Hunk]:
    """Words that are the same, as the white space behind them need not be."""
    if stayed == as_:
        yield _Hunk("", "", "".join(map(str, stayed)))
        return
    for one, other in zip(stayed, as_, strict=True):
        yield _Hunk("", "", one.text)
        if one.space == other.space:
            yield _Hunk("", "", one.space)
        else:
            yield _Hunk(one.space, other.space, "")


def _told(hunks: Iterator[_Hunk]) -> Iterator[Piece]:
    """Pieces without an empty one, and with neighbours that differ."""
    same, removed, added = [""], [""], [""]
    for hunk in hunks:
        if (hunk.removed or hunk.added) and any(same):
            yield from _flushed(removed, added, same)
        removed.append(hunk.removed)
        added.append(hunk.added)
        if hunk.same:
            same.append(hunk.same)
    yield from _flushed(removed, added, same)


def _flushed(removed: list[str], added: list[str], same: list[str]) -> Iterator[Piece]:
    texts: tuple[tuple[Literal["same", "removed", "added"], list[str]], ...]
    texts = ("removed", removed), ("added", added), ("same", same)
    for change, parts in texts:
        text = "".join(parts)
        parts.clear()
        if text:
            yield Piece(change, text)


# which words stayed


def _blocks(
    old: Sequence[str], new: Sequence[str], phrases: Sequence[int] = _PHRASES
) -> list[_Block]:
    """Runs of words that are in both, in the order of both."""
    start, end = _common(old, new)
    first, last = _Block(0, 0, start), _Block(len(old) - end, len(new) - end, end)
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    if not old or not new:
        inner = []
    elif len(old) * len(new) <= EXACT:
        inner = [
            _Block(*m)
            for m in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
        ]
    else:
        inner = _apart(old, new, phrases)
    shifted = (_Block(i + start, j + start, length) for i, j, length in inner)
    return [block for block in (first, *shifted, last) if block.length]


def _common(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many words are the same at the start, and at the end of what is left."""
    short = min(len(old), len(new))
    start = next((n for n in range(short) if old[n] != new[n]), short)
    rest = short - start
    return start, next((n for n in range(rest) if old[~n] != new[~n]), rest)


def _apart(old: Sequence[str], new: Sequence[str], phrases: Sequence[int]) -> list[_Block]:
    """Long runs of words, compared between the phrases that both have."""
    if not phrases:
        return []
    blocks: list[_Block] = []
    i = j = 0
    for anchor in (*_anchors(old, new, phrases[0]), _Block(len(old), len(new), 0)):
        between = _blocks(old[i : anchor.old], new[j : anchor.new], phrases[1:])
        blocks += (_Block(b.old + i, b.new + j, b.length) for b in between)
        blocks.append(anchor)
        i, j = anchor.old + anchor.length, anchor.new + anchor.length
    return blocks


def _anchors(old: Sequence[str], new: Sequence[str], size: int) -> list[_Block]:
    """Phrases that stand once in either text, as many as have the same order in both."""
    places = _once(new, size)
    pairs = [(i, places[phrase]) for phrase, i in _once(old, size).items() if phrase in places]
    anchors: list[_Block] = []
    for i, j in _rising(pairs):
        last = anchors[-1] if anchors else _Block(0, 0, 0)
        if i - j == last.old - last.new and i <= last.old + last.length:
            anchors[-1:] = [_Block(last.old, last.new, i + size - last.old)]
        elif i >= last.old + last.length and j >= last.new + last.length:
            anchors.append(_Block(i, j, size))
    return anchors


def _once(words: Sequence[str], size: int) -> dict[tuple[str, ...], int]:
    """The phrases that stand here once, and where."""
    phrases = list(zip(*(words[n:] for n in range(size)), strict=False))
    counts = Counter(phrases)
    return {phrase: place for place, phrase in enumerate(phrases) if counts[phrase] == 1}


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of pairs, sorted by the first, in which the second rises as well."""
    ends: list[int] = []  # the smallest end of a rising part of each length
    tails: list[int] = []  # the pair at that end
    before: list[int] = []
    for place, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        before.append(tails[length - 1] if length else -1)
        ends[length : length + 1] = [j]
        tails[length : length + 1] = [place]
    found, place = [], tails[-1] if tails else -1
    while place >= 0:
        found.append(pairs[place])
        place = before[place]
    return found[::-1]
