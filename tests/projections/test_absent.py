"""What has left the context is read from the log: artifacts, and what stands for old exchanges."""

from pathlib import Path

import pytest

from commands.redaction import redact_events
from projections.absent import Compacted, Gone, compacted, gone
from tests.domain.happened import (
    ELSEWHERE,
    concluded,
    evicted,
    exchanged,
    happens,
    imported,
    learned,
    one_of_two,
    opened,
    recalled,
    rejected,
    resolved,
    summed_up,
    superseded,
)
from tests.projections.test_reuse import Story


@pytest.fixture
def story(tmp_path: Path) -> Story:
    """Nothing has been said."""
    story = Story(tmp_path)
    story.begins(None)
    return story


def test_what_left_last_comes_first(story: Story) -> None:
    """Each with the words that it came with, and how it left."""
    effort = story.happens(opened("explain the tides"))
    old, new = story.happens(learned("one tide a day")), story.happens(learned("two tides a day"))
    event, wrong = story.happens(happens("spring tide")), story.happens(learned("no tides"))
    other = story.happens(imported("the tides", "effort", source=ELSEWHERE))
    story.happens(resolved(effort))
    left = [
        story.happens(evicted(effort, event, turn=12)),
        story.happens(superseded(old, new)),
        story.happens(rejected(wrong)),
        story.happens(one_of_two(other, new)),
    ]
    why = "evicted at turn 12: nobody spoke of it, or it was over"
    wanted = [
        Gone(f"effort {other}", f"merged into {new}", "the tides", left[3]),
        Gone(f"fact {wrong}", "rejected", "no tides", left[2]),
        Gone(f"fact {old}", f"superseded by fact {new}", "one tide a day", left[1]),
        Gone(f"event {event}", why, "spring tide", left[0]),
        Gone(f"effort {effort}", why, "explain the tides", left[0]),
    ]
    assert gone(story.log, story.state) == wanted
    assert gone(story.log, story.state, 2) == wanted[:2]
    then = story.log.state(story.session, left[1])
    assert gone(story.log, then) == wanted[2:]


def test_what_came_back_is_not_gone(story: Story) -> None:
    """Until it leaves again; then it is named once."""
    fact = story.happens(learned("the moon pulls"))
    story.happens(evicted(fact, turn=3))
    story.happens(recalled(fact, "the moon pulls"))
    assert gone(story.log, story.state) == []
    version = story.happens(evicted(fact, turn=9))
    (one,) = gone(story.log, story.state)
    assert (one.version, one.what) == (version, f"fact {fact}")


def test_words_that_were_taken_away(story: Story) -> None:
    """Are shown as such."""
    fact = story.happens(learned("my secret"))
    story.happens(superseded(fact))
    events = story.log.pick(story.session, [fact])
    redact_events(story.log, events, "private", story.world)
    (one,) = gone(story.log, story.state)
    assert (one.text, one.why) == ("[redacted]", "superseded")


def test_what_stands_for_exchanges_that_are_too_old(story: Story) -> None:
    """Those that the state no longer holds, by what compacted them, the newest first."""
    effort = story.happens(opened("explain the tides"))
    story.happens(*(event for n in range(1, 4) for event in exchanged(n)))
    summary = story.happens(summed_up("they talked", "exc_1_000", "exc_2_000"))
    version = story.happens(concluded(effort, "exc_3_000", before=9, after=1))
    assert compacted(story.log, story.state) == []
    story.happens(*(event for n in range(4, 103) for event in exchanged(n)))
    (one,) = compacted(story.log, story.state)
    assert one == Compacted(
        ("exc_1_000", "exc_2_000"), summary, f"summary {summary} stands for it", summary
    )
    story.happens(*exchanged(103))
    told = compacted(story.log, story.state)
    assert [(c.exchanges, c.stands, c.version) for c in told] == [
        (("exc_3_000",), effort, version),
        (("exc_1_000", "exc_2_000"), summary, summary),
    ]
    assert compacted(story.log, story.state, 1) == told[:1]
