"""A passage as the rules read it: its sentences, and what stood when it was sent."""

import re
from functools import cached_property

from domain.artifacts import Artifact, Shelf
from domain.detection.cues.endings import POLITE
from domain.detection.findings import Passage
from domain.detection.matching import Match, matches, stems
from domain.detection.prose import Sentence, sentences

_WORD = re.compile(r"[^\W\d_]+")


class Reading:
    """A message, or an answer, beside the shelf."""

    def __init__(self, passage: Passage, shelf: Shelf) -> None:
        self.passage = passage
        self.shelf = shelf

    @cached_property
    def said(self) -> tuple[Sentence, ...]:
        """What is looked at: the answer, once there is one."""
        passage = self.passage
        return sentences(passage.question if passage.answer is None else passage.answer)

    @cached_property
    def prose(self) -> str:
        """All sentences in one line."""
        return " ".join(sentence.low for sentence in self.said)

    @cached_property
    def open(self) -> tuple[Artifact, ...]:
        """Efforts that go on."""
        return self.shelf.open_efforts

    @cached_property
    def current(self) -> Artifact | None:
        """The open effort that the talk is in."""
        named = self.shelf.focus if self.shelf.focus is not None else self.shelf.effort
        if self.passage.answer is not None:
            named = self.shelf.effort_of(self.passage.exchange)
        one = self.shelf.get(named) if named is not None else None
        return one if one is not None and one.is_open else None

    @cached_property
    def lately(self) -> Artifact | None:
        """The open effort that was spoken of last, also where the talk has turned aside since."""
        newest = max(self.open, key=lambda a: (a.referenced, a.id), default=None)
        return self.current or newest

    @cached_property
    def about_open(self) -> list[Match]:
        """Open efforts that the message has words of, the best first."""
        return matches(self.prose, self.open)

    @cached_property
    def context(self) -> frozenset[str]:
        """Words of the effort that the talk is in, and of the last exchanges."""
        texts = [
            f"{question} {(answer or '')[:2000]}" for question, answer in self.passage.before[-2:]
        ]
        if self.current is not None:
            texts.append(self.current.text)
        return frozenset().union(*map(stems, texts))


def is_polite(low: str) -> bool:
    """Whether a sentence only greets or thanks."""
    words = _WORD.findall(low.replace("'s", ""))
    return len(words) <= 12 and all(word in POLITE for word in words)
