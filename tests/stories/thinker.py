"""A stage on which thoughts are embedded and gathered."""

from pathlib import Path
from typing import Any

from commands.gatherer import Gatherer
from commands.handle import Done
from commands.iterate import iterate
from commands.thinking import ChangeEmbedder, EmbedWaiting, InjectThought
from domain.config import Config
from tests.fakes.embedders import Wordy
from tests.stories.cast import Rehearsed, Stage

TOPICS = ("moon", "sun", "wind", "sand", "bay")


def sentence(topic: str, number: int) -> str:
    """A thought about a topic, unlike any other."""
    return f"{topic} and {topic} {topic} number {number}"


def reply(*texts: str) -> str:
    """What a mind says that thinks this."""
    return "thoughts:" + "".join(f"\n  - {text}" for text in texts)


class Cast(Stage):
    """A stage on which thoughts are gathered."""

    def __init__(self, directory: Path, *lines: Any, **more: Any) -> None:
        super().__init__(directory)
        self.embedders: dict[str, Wordy] = {"local": Wordy(*lines, **more)}
        self.problems: list[str] = []
        self.gatherer = Gatherer(self.log, self.embedder_for, self.problems.append)

    def embedder_for(self, config: Config) -> Wordy:
        """One embedder for each name, each with a width of its own."""
        name = config.embedding_model
        width = 16 + 8 * len(self.embedders)
        return self.embedders.setdefault(name, Wordy(name=name, width=width))

    def thinks(self, *texts: str) -> Done:
        """One iteration."""
        mind = Rehearsed(reply(*texts))
        return iterate(self.log, self.session, mind, self.world, seen=True, gatherer=self.gatherer)

    def thinks_a_lot(self, iterations: int = 8, each: int = 5, start: int = 0) -> "Cast":
        """About all topics in turns."""
        for begin in range(start, start + iterations * each, each):
            numbers = range(begin, begin + each)
            self.thinks(*(sentence(TOPICS[n * 7 % 5], n) for n in numbers))
        return self

    def injects(self, text: str) -> Done:
        """The user has a thought."""
        embedded = self.gatherer.embedded(self.state, [text])
        gather = self.gatherer.decide
        return self.does(InjectThought(text=text, by="user:ann", embedded=embedded, gather=gather))

    def catches_up(self, most: int) -> Done:
        """Some that wait get their vectors."""
        waiting = list(self.gatherer.waiting(self.state).items())[:most]
        embedded = self.gatherer.late(self.state, waiting)
        return self.does(
            EmbedWaiting(
                embedded=embedded, gather=self.gatherer.decide, still=self.gatherer.waiting
            )
        )

    def changes_embedder(self, name: str) -> Done:
        """Another model makes the vectors."""
        config = self.state.config.changed("embedding_model", name)
        embedded = self.gatherer.anew(self.state, config)
        gather = self.gatherer.decide_anew(config)
        return self.does(ChangeEmbedder(model=name, embedded=embedded, gather=gather))

    @property
    def clusters(self) -> dict[str, int | None]:
        """The cluster of each text of the pool."""
        return {t.text: t.cluster for t in self.state.pool.active}
