"""What a mind is shown of a long dialogue: bounded, explained, the same where nothing changed."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st

from commands.artifacts.upkeep import loose_in
from domain.config import Config
from domain.context import (
    ARTIFACT_SIZE,
    LEAST,
    RECENT,
    Context,
    assemble,
    is_over,
    worded,
)
from domain.dialogue import Exchange
from domain.events import EffortFocused, Event
from domain.protocol.compact import MARKER, TOTAL_SIZE, render_compact
from domain.protocol.observe import HEADS, context_of, observe
from domain.protocol.render import render
from domain.sampling import Sample
from domain.session import Session, evolve
from domain.tokens import estimate
from tests.domain.happened import (
    accepted,
    asked,
    concluded,
    drafted,
    evicted,
    exchanged,
    excluded,
    expanded,
    happens,
    invoked,
    learned,
    one_of_two,
    opened,
    pruned,
    recalled,
    rejected,
    reopened,
    resolved,
    routed,
    started,
    summed_up,
    superseded,
)
from tests.spec import recorded

NOW = "2026-05-02T10:30:00+00:00"


class Past:
    """What has happened so far; saying what happens next tells its version."""

    def __init__(self, **settings_: Any) -> None:
        self.state: Session | None = None
        self.exchanges = 0
        self(started(**settings_))

    def __call__(self, *events: Event) -> int:
        """These events happen; the version of the last."""
        state = self.state
        for one in recorded(events, after=state.version if state else 0):
            state = evolve(state, one)
        self.state = state
        return self.now.version

    @property
    def now(self) -> Session:
        """The state."""
        assert self.state is not None
        return self.state

    def talks(self, count: int = 1, question: str | None = None, answer: str | None = None) -> str:
        """So many exchanges more; the id of the last."""
        for _ in range(count):
            self.exchanges += 1
            sent, was, drafted_, done = exchanged(self.exchanges, question)
            self(sent, was, drafted_.model_copy(update={"text": answer or drafted_.text}), done)
        return f"exc_{self.exchanges}_000"

    def works(self, goal: str = "explain the tides", count: int = 1) -> int:
        """An effort begins and is spoken of for so many exchanges; its version."""
        first = self.talks()
        effort = self(opened(goal, first))
        for _ in range(count - 1):
            self(routed(self.talks(), effort))
        return effort

    def concludes(self, effort: int, resolution: str = "the moon pulls") -> None:
        """It is resolved, and stands for all that belongs to it."""
        thread = self.now.shelf.thread(effort)
        self(resolved(effort, resolution), concluded(effort, *thread, before=500, after=20))

    @property
    def context(self) -> Context:
        """What would be shown."""
        return assemble(self.now, NOW)

    @property
    def loose(self) -> list[str]:
        """Exchanges that nothing stands for, oldest first."""
        return [str(one.exchange) for one in loose_in(self.now)]

    @property
    def shown(self) -> list[str]:
        """The exchanges of it."""
        return list(dict.fromkeys(turn.exchange.id for turn in self.context.turns))

    @property
    def memory(self) -> list[int]:
        """The artifacts of it."""
        return [held.artifact.id for held in self.context.memory]

    @property
    def absent(self) -> dict[str, str]:
        """What is left out, and why."""
        return {left.what: left.why for left in self.context.left_out}


def numbered(*numbers: int) -> list[str]:
    """The names of exchanges."""
    return [f"exc_{number}_000" for number in numbers]


# which exchanges


def test_the_last_ten_are_always_there() -> None:
    """Though a resolved effort stands for every one of them."""
    past = Past()
    effort = past.works(count=14)
    past.concludes(effort)
    assert past.shown == numbered(*range(5, 15))
    whys = {turn.why for turn in past.context.turns}
    assert whys == {"one of the last 10 exchanges"}
    assert past.absent["exc_4_000"] == f"effort {effort} stands for it"


def test_exchanges_that_were_pruned_are_none_of_the_last_ten() -> None:
    """The ten before them are shown in their stead."""
    past = Past()
    past.concludes(past.works(count=14))
    past(pruned("exc_14_000", "exc_12_000"))
    assert past.shown == numbered(3, 4, 5, 6, 7, 8, 9, 10, 11, 13)
    assert past.absent["exc_12_000"] == "it was pruned"


def test_an_open_effort_is_shown_word_for_word() -> None:
    """So is what nothing stands for yet, whatever it belongs to."""
    past = Past()
    past.talks(2)
    effort = past.works(count=3)
    past.talks(12)
    assert past.shown == numbered(*range(1, 18))
    why = {str(turn.exchange.id): turn.why for turn in past.context.turns}
    assert why["exc_1_000"] == "nothing stands for it yet"
    assert why["exc_4_000"] == f"effort {effort} is open"
    assert len(past.loose) == 17


def test_a_resolved_effort_stands_for_its_exchanges() -> None:
    """They leave, and it stays, with how it ended."""
    past = Past()
    effort = past.works("explain the tides", count=3)
    past.concludes(effort, "the moon pulls")
    past.talks(10)
    assert past.shown == numbered(*range(4, 14))
    (held,) = past.context.memory
    assert held.text == "explain the tides\n=> the moon pulls"
    assert held.why == "concluded, spoken of 10 turns ago"
    (left,) = {o for o in past.context.left_out if o.what == "exc_2_000"}
    assert (left.why, left.stands) == (f"effort {effort} stands for it", effort)
    assert past.loose == numbered(*range(4, 14))


def test_a_summary_stands_for_what_nothing_concluded() -> None:
    """It is an artifact like the others."""
    past = Past()
    past.talks(5)
    summary = past(summed_up("they greeted each other", *numbered(1, 2, 3, 4, 5)))
    past.talks(10)
    assert past.shown == numbered(*range(6, 16))
    assert past.absent["exc_3_000"] == f"summary {summary} stands for it"
    assert [held.text for held in past.context.memory] == ["they greeted each other"]


def test_an_expanded_effort_shows_its_exchanges_again() -> None:
    """Those for which a summary stood, too; until it is collapsed."""
    past = Past()
    effort = past.works(count=4)
    past(summed_up("on the way", *numbered(1, 2), effort=effort))
    past.concludes(effort)
    past(concluded(effort, *numbered(3, 4), before=100, after=10))
    past.talks(10)
    assert past.shown == numbered(*range(5, 15))
    past(expanded(effort))
    assert past.shown == numbered(*range(1, 15))
    assert past.context.turns[0].why == f"effort {effort} is expanded"


def test_what_was_asked_for_is_shown_rather_than_what_is_merely_old() -> None:
    """Where there are more exchanges than the settings show."""
    past = Past(history_display_count=26)
    effort = past.works(count=2)
    past.concludes(effort)
    past.talks(18)
    past(expanded(effort))
    assert past.shown == numbered(1, 2, *range(10, 21))
    assert past.absent["exc_9_000"] == "more exchanges than history_display_count shows"


def test_a_reopened_effort_is_spoken_of_word_for_word() -> None:
    """As long as it is open again."""
    past = Past()
    effort = past.works(count=2)
    past.concludes(effort)
    past.talks(10)
    past(reopened(effort))
    assert past.shown == numbered(*range(1, 13))
    assert past.context.turns[0].why == f"effort {effort} is open again"
    assert past.context.memory[0].why == "the effort that is worked on"


def test_what_an_evicted_artifact_stood_for_stays_away() -> None:
    """It left the context and nothing else: what stands for the exchange is still said."""
    past = Past()
    effort = past.works(count=2)
    past.concludes(effort)
    past.talks(10)
    past(evicted(effort))
    assert past.shown == numbered(*range(3, 13))
    assert past.memory == []
    assert past.absent == dict.fromkeys(
        numbered(1, 2), f"effort {effort} stands for it, and has left the context"
    )
    past(recalled(effort, "explain the tides", "effort", resolution="the moon pulls"))
    assert past.memory == [effort]
    assert past.absent["exc_1_000"] == f"effort {effort} stands for it"


def test_what_a_rejected_artifact_stood_for_is_shown_again() -> None:
    """It never was, so nothing stands for these exchanges."""
    past = Past()
    effort = past.works(count=2)
    past.concludes(effort)
    past.talks(10)
    past(rejected(effort))
    assert past.shown == numbered(*range(1, 13))


def test_a_merged_effort_stands_for_the_exchanges_of_both() -> None:
    """Whatever it was that they had belonged to."""
    past = Past()
    one, other = past.works("explain tides", 2), past.works("tides, explained", 2)
    past.concludes(one)
    past.concludes(other)
    past(one_of_two(other, one))
    past.talks(10)
    assert {past.absent[name] for name in numbered(1, 2, 3, 4)} == {f"effort {one} stands for it"}


def test_a_branch_of_an_effort_shows_its_thread_alone() -> None:
    """And what is part of it; the last ten are the last ten of those."""
    past = Past()
    other = past.works("book a room", 3)
    effort = past.works("explain the tides", 2)
    past.talks(11)
    past(EffortFocused(effort=effort))
    assert past.shown == numbered(4, 5)
    why = "it is not of the effort that this session is about"
    assert past.absent == dict.fromkeys(numbered(1, 2, 3, *range(6, 17)), why)
    past.talks()
    part = past(opened("explain neap tides", past.talks(), parent=effort))
    past(resolved(part, "the sun"), concluded(part, "exc_18_000", before=50, after=9))
    assert past.shown == numbered(4, 5, 17, 18)
    assert past.memory == [other, effort, part]
    past(resolved(effort), concluded(effort, *numbered(4, 5, 17), before=50, after=9))
    past.talks(9)
    assert past.shown[:3] == numbered(4, 5, 17)
    assert past.context.turns[0].why == f"effort {effort} is what this session is about"


def test_few_exchanges_where_the_settings_say_so() -> None:
    """The newest; two turns are one exchange, and a half of one would say nothing."""
    past = Past(history_display_count=5)
    past.talks(4)
    assert past.shown == numbered(3, 4)
    past = Past(history_display_count=1)
    past.talks(4)
    assert past.shown == []


def test_an_answer_that_the_state_no_longer_holds() -> None:
    """It is too old, and that is said."""
    past = Past()
    drafts = [drafted(n, f"a draft that is long enough: {n}") for n in range(1, 103)]
    past(asked(), invoked(1), *drafts, accepted(1))
    assert past.absent == {"exc_1_000": "its answer is too old to be in the state"}


# which artifacts


def test_artifacts_stand_in_the_order_in_which_they_came() -> None:
    """One that came back stands where it stood."""
    past = Past()
    first, second = past(learned("the moon pulls")), past(learned("the sun pulls too"))
    third = past(happens("spring tide", "2026-05-16"))
    past(evicted(first), recalled(first, "the moon pulls"))
    assert past.memory == [first, second, third]


def test_what_is_excluded_superseded_or_evicted_is_not_shown() -> None:
    """What is only excluded is named as left out, since it is still on the shelf."""
    past = Past()
    kept, old = past(learned("kept")), past(learned("old"))
    new = past(learned("new"))
    past(superseded(old, new), excluded(kept))
    away = past(learned("away"))
    past(evicted(away))
    assert past.memory == [new]
    assert past.absent == {f"fact {kept}": "it is excluded"}
    past(excluded(kept, excluded=False))
    assert past.memory == [kept, new]


def test_what_stands_for_an_exchange_may_be_excluded() -> None:
    """Then the mind sees neither, and the explanation says so."""
    past = Past()
    effort = past.works()
    past.concludes(effort)
    past(excluded(effort))
    past.talks(10)
    assert past.absent["exc_1_000"] == f"effort {effort} stands for it, and is excluded"


@pytest.mark.parametrize(
    ("when", "expires", "over"),
    [
        ("2026-05-01", None, True),
        ("2026-05-02", None, False),
        ("2026-05-02T10:29", None, True),
        ("2026-05-02T10:30", None, False),
        ("2026-05-01", "2026-05-03", False),
        ("2026-05-09", "2026-05-01", True),
        (None, None, False),
    ],
)
def test_an_event_is_shown_until_it_is_over(
    when: str | None, expires: str | None, over: bool
) -> None:
    """A day lasts to its end; what has no time is never over."""
    past = Past()
    event = past(happens("spring tide", when, expires=expires))
    assert is_over(past.now.shelf.artifacts[0], NOW) is over
    assert past.memory == ([] if over else [event])
    assert past.absent == ({f"event {event}": "it is over"} if over else {})


def test_the_most_wanted_artifacts_get_the_room_that_there_is() -> None:
    """What is worked on, what is open, what is to come, and then what was spoken of last."""
    past = Past(memory_tokens=100)
    facts = [past(learned(f"fact {n}: " + "the moon pulls " * 6)) for n in range(6)]
    other = past.works("the other " + "open one " * 4)
    effort = past.works("the one " + "in work " * 4)
    past.talks()
    past(routed("exc_3_000", effort, mentions=(facts[1],)))
    assert past.context.memory_room == 100
    assert past.memory == [facts[1], other, effort]
    assert [held.why for held in past.context.memory] == [
        "a fact, spoken of now",
        "an open effort",
        "the effort that is worked on",
    ]
    assert past.absent[f"fact {facts[5]}"] == "there is no room left for it"


def test_a_long_artifact_loses_the_middle_of_its_words() -> None:
    """Of its goal and of its resolution, whichever is longer."""
    past = Past()
    effort = past(opened("begin " + "g" * 5000 + " end"))
    past(resolved(effort, "solved " + "r" * 200 + " now"))
    (artifact,) = past.now.shelf.artifacts
    text = worded(artifact)
    assert len(text.encode()) <= ARTIFACT_SIZE
    goal, resolution = text.split("\n=> ")
    assert goal.startswith("begin ggg")
    assert MARKER in goal
    assert goal.endswith("ggg end")
    assert resolution == "solved " + "r" * 200 + " now"


def test_another_message_leaves_the_artifacts_as_they_are() -> None:
    """To the byte, though more of them lie there than have room: so caches hold."""
    past = Past()
    for n in range(40):
        past(learned(f"fact {n}: " + "the moon pulls the near water more " * 3))
    before = past.context.memory
    assert 0 < len(before) < 40
    for message in ("and now?", "why? " * 200):
        past.talks(question=message)
        view = observe(past.now, Sample(()), NOW)
        assert view.memory == tuple(held.seen for held in before)


def test_a_very_long_message_takes_room_of_the_artifacts_too() -> None:
    """Half of it and half again, but never all; the newest exchanges keep theirs."""
    past = Past()
    past.talks(12, "why " * 60, "because " * 100)
    for n in range(40):
        past(learned(f"fact {n}: " + "the moon pulls the near water more " * 3))
    rooms = [assemble(past.now, NOW, taken).memory_room for taken in (500, 2600, 9000)]
    assert rooms == [rooms[0], rooms[0] // 2, rooms[0] // 8]
    crowded = assemble(past.now, NOW, 9000)
    assert len(crowded.turns) == 2 * RECENT
    assert len(crowded.memory) >= 1
    assert crowded.tokens <= LEAST + rooms[2]


# how much of them


def test_the_longest_texts_are_cut_first() -> None:
    """To one length, beginning and end; those that are shorter stay whole."""
    past = Past(history_display_chars=2000)
    past.talks(1, "begin " + "q" * 3000 + " end", "begin " + "a" * 9000 + " end")
    past.talks(3, "short question", "short answer of some words")
    turns = past.context.turns
    cut, whole = [t for t in turns if not t.whole], [t for t in turns if t.whole]
    assert [t.exchange.id for t in cut] == ["exc_1_000"] * 2
    assert len(whole) == 6
    for turn in cut:
        head, tail = turn.text.split(MARKER)
        assert head.startswith("begin")
        assert tail.endswith("end")
        assert 900 < len(turn.text) <= 1000
    assert sum(len(turn.text) for turn in turns) <= 2000


def test_what_takes_more_room_in_a_prompt_is_cut_to_less() -> None:
    """Every line of a turn is indented, and other scripts have more bytes than letters."""
    for text in ("x\n" * 1500, "潮" * 1000, "\x1b" * 1500):
        past = Past(context_tokens=2000)
        past.talks(12, text, text)
        view = observe(past.now, Sample(()), NOW)
        assert estimate(render(view)) <= 2000


def test_where_there_is_no_room_the_oldest_wait() -> None:
    """Rather than that every turn loses nearly all; they are named, and nothing is lost."""
    past = Past()
    past.talks(20, "why " * 60, "because " * 100)
    assert len(past.shown) == 20
    crowded = assemble(past.now, NOW, 3000)
    assert len(crowded.turns) < 40
    gone = [left.what for left in crowded.left_out]
    assert gone == numbered(*range(1, 1 + len(gone)))
    assert {left.why for left in crowded.left_out} == {"there is no room left for it"}


# whatever happens

WORDS = (
    "tide ",
    "the moon pulls. ",
    "def f():\n    return 1\n",
    "潮汐",
    "\x1b[1m",
    "x" * 70,
    "a\nb\n",
)
texts = st.builds(
    lambda word, times: (word * times).strip() or "?",
    st.sampled_from(WORDS),
    st.integers(1, 60) | st.integers(1, 3) | st.integers(100, 900),
)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "context_tokens": st.sampled_from((1000, 2000, 4000, 9000)),
        "memory_tokens": st.sampled_from((100, 1200, 5000)),
        "history_display_count": st.sampled_from((1, 3, 30, 200)),
        "history_display_chars": st.sampled_from((100, 300, 50_000)),
        "thought_display_chars": st.sampled_from((100, 100_000)),
    },
)
STEPS = (
    *("talk",) * 6,
    *("open", "resolve", "fact", "event", "sum up", "route"),
    *("evict", "exclude", "expand", "reopen", "prune", "supersede", "focus", "recall"),
)


def step(past: Past, what: str, pick: int, text: str) -> Iterator[Event]:
    """What this would be in the state as it is; nothing where it makes no sense."""
    history = past.now.dialogue.history
    efforts = [a for a in past.now.shelf.artifacts if a.type == "effort"]
    match what:
        case "fact":
            yield learned(text)
        case "event":
            yield happens(text, ("2026-05-01", "2026-06-01", None)[pick % 3])
        case "recall":
            yield recalled(past.now.version + 1, text, "fact")
        case "sum up" if loose := past.loose[:-RECENT]:
            yield summed_up(text, *loose[: pick + 1])
        case "open" if history:
            parent = efforts[pick % len(efforts)].id if efforts and pick % 2 else None
            yield opened(text, history[-1].id, parent=parent)
        case "prune" if history:
            yield pruned(history[pick % len(history)].id)
        case "focus" if efforts and pick == 3:
            yield EffortFocused(effort=efforts[0].id)
        case _ if past.now.shelf.artifacts:
            yield from happens_to(past, what, pick, text)


def happens_to(past: Past, what: str, pick: int, text: str) -> Iterator[Event]:
    """What this would be for one of the artifacts."""
    shelf, history = past.now.shelf, past.now.dialogue.history
    one = shelf.artifacts[pick % len(shelf.artifacts)]
    match what, one.type, one.status:
        case "resolve", "effort", "open":
            yield resolved(one.id, text)
            yield concluded(one.id, *shelf.thread(one.id), before=1, after=1)
        case "expand", "effort", "resolved":
            yield expanded(one.id)
        case "reopen", "effort", "resolved":
            yield reopened(one.id)
        case "route", "effort", _ if history:
            yield routed(history[-1].id, one.id)
        case "supersede", "fact", _:
            yield superseded(one.id)
        case "evict", _, "resolved" | "current":
            yield evicted(one.id)
        case "exclude", _, _:
            yield excluded(one.id, excluded=bool(pick % 2))


@st.composite
def pasts(draw: st.DrawFn) -> Past:
    """Some dialogue with whatever may come of it, and perhaps a message that awaits."""
    past = Past(**draw(SETTINGS))
    plan = st.tuples(st.sampled_from(STEPS), st.integers(0, 7), texts)
    for what, pick, text in draw(st.lists(plan, max_size=45)):
        if what == "talk":
            past.talks(1 + pick // 2, text, draw(texts))
        else:
            past(*step(past, what, pick, text))
    if draw(st.booleans()):
        number = past.exchanges + 1
        past(asked(draw(texts), f"exc_{number}_000", number), invoked(number))
        if draw(st.booleans()):
            past(drafted(1, draw(texts), number, exchange=f"exc_{number}_000"))
    return past


def eligible(past: Past, context: Context) -> list[Exchange]:
    """The exchanges that could be shown."""
    never = ("it was pruned", "its answer is too old", "it is not of the effort")
    out = {left.what for left in context.left_out if left.why.startswith(never)}
    return [e for e in past.now.dialogue.history if e.id not in out]


@for_all(pasts())
@settings(deadline=None, max_examples=60)
def test_whatever_happens_the_prompt_stays_small(past: Past) -> None:
    """At most ``context_tokens``, or what message, thoughts and drafts leave to the least."""
    view = observe(past.now, Sample(()), NOW)
    config = past.now.config
    rest = estimate(render(view._replace(memory=(), history=()))) + HEADS
    least = rest + LEAST + min(config.memory_tokens, config.context_tokens) // 8
    assert estimate(render(view)) <= max(config.context_tokens, least)
    assert sum(len(turn.text) for turn in view.history) <= max(
        config.history_display_chars, 2 * len(MARKER) + 4
    )
    assert len(view.history) <= config.history_display_count
    assert len(render_compact(view).encode()) <= TOTAL_SIZE


@for_all(pasts())
@settings(deadline=None, max_examples=60)
def test_whatever_happens_all_is_shown_or_explained(past: Past) -> None:
    """Every exchange and artifact of the state, once; the last ten before all others."""
    view = observe(past.now, Sample(()), NOW)
    context = context_of(past.now, view)
    held = [f"{h.artifact.type} {h.artifact.id}" for h in context.memory]
    turns = list(dict.fromkeys(turn.exchange.id for turn in context.turns))
    having = [f"{a.type} {a.id}" for a in past.now.shelf.artifacts]
    having += [exchange.id for exchange in past.now.dialogue.history]
    assert sorted([*held, *turns, *(left.what for left in context.left_out)]) == sorted(having)
    assert sum(h.tokens for h in context.memory) <= context.memory_room
    assert [h.artifact.id for h in context.memory] == sorted(h.artifact.id for h in context.memory)
    order = [exchange.id for exchange in past.now.dialogue.history]
    assert turns == sorted(turns, key=order.index)
    most = past.now.config.history_display_count // 2
    if past.now.config.history_display_chars > 10_000:
        last = [e.id for e in eligible(past, context)[-min(RECENT, most) :]] if most else []
        assert set(last) <= set(turns)
    for turn in context.turns:
        said = turn.exchange.question if turn.sender == "user" else turn.exchange.answer or ""
        assert turn.whole == (turn.text == said)
        if not turn.whole:
            head, tail = turn.text.split(MARKER, 1)
            assert said.startswith(head)
            assert said.endswith(tail)


@for_all(pasts())
@settings(deadline=None, max_examples=40)
def test_whatever_happened_another_message_changes_no_artifact(past: Past) -> None:
    """As long as it is not so long that it takes their room."""
    number = past.exchanges + 2
    found = []
    for asks, text in enumerate(("first", "and then?"), number):
        past(asked(text, f"exc_{asks}_000", asks))
        view = observe(past.now, Sample(()), NOW)
        found.append((view.memory, context_of(past.now, view).memory_room))
    before, after = found
    assert after[0] == before[0] or after[1] < assemble(past.now, NOW).memory_room
    assert assemble(past.now, NOW, 100) == assemble(past.now, NOW, 100)


def test_the_settings_are_those_that_the_rules_are_made_for() -> None:
    """With everything at its limit, artifacts and the newest exchanges have their room."""
    config = Config(model="local")
    past = Past()
    past.talks(20, "why " * 100, "because " * 200)
    for n in range(40):
        past(learned(f"fact {n}: " + "the moon pulls the near water more " * 3))
    full = config.thought_display_chars + config.draft_display_chars
    taken = 200 + estimate(" " * full) + 26 * 16 + 200
    context = assemble(past.now, NOW, taken)
    assert context.memory_room == assemble(past.now, NOW).memory_room
    assert len(context.turns) >= 2 * RECENT
    assert taken + context.tokens <= config.context_tokens
