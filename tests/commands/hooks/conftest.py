"""A stage for hooks: a session in which a scripted mind has something to think about."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from commands.embedders.embedder import Answer
from commands.gatherer import Gatherer
from commands.thinking import ChangeEmbedder
from tests.stories.cast import Stage


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A session with a question that awaits an answer, and no embedder."""
    stage = Stage(tmp_path / "store").begins(embedding_model="off")
    yield stage
    stage.log.close()


class Corners:
    """Embeds a text near the corner that its first letter names, each a little aside."""

    name = model = "corners"

    def vectors(self, texts: Sequence[str], timeout: float) -> Answer:  # noqa: ARG002
        """One direction for each letter, and some of its own for each text."""
        rows = np.zeros((len(texts), 96))
        for row, text in zip(rows, texts, strict=True):
            row[ord(text[0].lower()) % 32] = 1
            row[32 + crc32(text.encode()) % 64] = 0.2
        return Answer(rows)


@pytest.fixture
def gatherer(stage: Stage) -> Gatherer:
    """What gives the thoughts of the stage vectors and clusters; switched on by a setting."""
    stage.does(ChangeEmbedder(model="local"))
    return Gatherer(stage.log, lambda _: Corners())


def muses(*texts: str) -> str:
    """A reply of just these thoughts."""
    return json.dumps({"thoughts": texts})
