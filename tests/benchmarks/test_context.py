"""The growth curve is still drawn, and a short conversation keeps what a long one promises."""

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.benchmarks import context
from tests.benchmarks.context import play
from tests.benchmarks.context_told import MOST, as_csv, missed, summary, table
from tests.conversations.generate import conversation


def words(texts: Sequence[str]) -> list[int]:
    """Something that counts."""
    return [len(text.split()) for text in texts]


def test_a_short_conversation(tmp_path: Path) -> None:
    """Its context is bounded while what was said grows, and every message is found again."""
    said = conversation(1, 9_000)
    played = play(said, tmp_path, count=words)
    assert len(played.turns) == len(said)
    assert played.tokens > 9_000
    assert 0 < played.most <= MOST
    assert played.turns[-1].concluded
    assert (played.picked, played.found) == (2 * len(said), 2 * len(said))
    assert list(missed(played)) == []
    last = played.turns[-1]
    assert last.counted_message is not None
    assert last.counted is not None
    assert last.counted_message < last.counted < last.ours
    as_csv([played], tmp_path / "made" / "turns.csv")
    with (tmp_path / "made" / "turns.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["ours"]) for row in rows] == [turn.ours for turn in played.turns]
    assert len(list(table(played, 10))) >= 2
    assert f"| {len(said)} |" in "\n".join(summary([played]))


def test_what_is_not_kept_is_said(tmp_path: Path) -> None:
    """A context that is too long, a message that is gone."""
    played = play(conversation(2, 900), tmp_path, count=None, search=False)
    long = played.turns[-1]._replace(ours=MOST + 1, concluded=1)
    broken = played._replace(turns=[long], picked=1, found=0)
    assert len(list(missed(broken))) == 4
    kept = played._replace(turns=[long._replace(message=3 * MOST)])
    assert list(missed(kept)) == []


@pytest.mark.slow
def test_the_shortest_published_conversation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """58,000 tokens: bounded, and everything is found; drawn as a picture."""
    picture = tmp_path / "context.svg"
    told = ["--quick", "--strict", "--picture", str(picture), "--dir", str(tmp_path)]
    assert context.main(told) == 0
    assert "Every promise is kept." in capsys.readouterr().out
    assert picture.read_text(encoding="utf-8").startswith("<?xml")
