"""A whole conversation, read message by message as it goes on."""

from collections.abc import Iterator

from domain.artifacts import Place, Shelf, evolve
from domain.detection.findings import HERE, Findings, Passage
from domain.detection.rules import detect
from domain.events import (
    EffortOpened,
    EffortReopened,
    EffortResolved,
    Event,
    EventNoted,
    ExchangeRouted,
    FactLearned,
    FactSuperseded,
)
from domain.ids import ExchangeId
from tests.detection.score import NOW


class Talk:
    """A shelf that grows with what is said; every event is one version."""

    def __init__(self) -> None:
        self.shelf = Shelf()
        self.version = 0
        self.said: list[tuple[str, str]] = []

    def say(self, question: str, answer: str = "I see.") -> Findings:
        """Send a message and accept an answer; what the message left."""
        turn = self.shelf.turn + 1
        exchange = ExchangeId(f"exc_{turn}_001")
        self.shelf = self.shelf._replace(turns=turn, turn=turn, exchange=exchange)
        before = tuple(self.said[-3:])
        found = detect(Passage(exchange, question, None, before, NOW), self.shelf)
        self._record(exchange, found)
        after = detect(Passage(exchange, question, answer, before, NOW), self.shelf)
        self._record(exchange, after)
        self.said.append((question, answer))
        return found

    def _record(self, exchange: ExchangeId, found: Findings) -> None:
        opened: int | None = None
        for proposed in _events(exchange, found, self.shelf):
            self.version += 1
            event = proposed
            if isinstance(event, EffortResolved) and event.effort == HERE:
                assert opened is not None
                event = event.model_copy(update={"effort": opened})
            self.shelf = evolve(self.shelf, event, self.version)
            if isinstance(event, EffortOpened):
                opened = self.version

    def efforts(self) -> list[tuple[str, str, str | None]]:
        """Goals, how they stand, and what came of them."""
        return [
            (a.text, a.outcome or a.status, a.resolution)
            for a in self.shelf.artifacts
            if a.type == "effort"
        ]

    def texts(self, type_: str) -> list[str]:
        """The facts or events that lie there."""
        return [a.text for a in self.shelf.artifacts if a.type == type_]


def _events(exchange: ExchangeId, found: Findings, shelf: Shelf) -> Iterator[Event]:
    if found.opened is not None:
        yield EffortOpened(goal=found.opened.goal, parent=found.opened.parent, exchange=exchange)
    if found.effort and found.effort != shelf.effort_of(exchange):
        yield ExchangeRouted(exchange=exchange, effort=found.effort, mentions=found.mentions)
    for id_ in found.reopened:
        yield EffortReopened(effort=id_)
    for one in found.resolved:
        yield EffortResolved(effort=one.effort, resolution=one.resolution, outcome=one.outcome)
    for fact in found.learned:
        yield FactLearned(statement=fact.statement)
        if fact.supersedes is not None:
            yield FactSuperseded(fact=fact.supersedes)
    for event in found.noted:
        yield EventNoted(what=event.what, when=event.when, expires=event.expires)


def test_a_bug_an_aside_attempts_and_a_conclusion() -> None:
    """Efforts, attempts, an event and facts, out of what people just write."""
    talk = Talk()
    talk.say("hi!", "Hello!")
    talk.say("I'm getting a weird error in auth, every call gives a 401", "What changed last?")
    talk.say("nothing that I know of", "Let's look at the token then.")
    talk.say("also, remind me to call mom tomorrow", "Noted.")
    talk.say("back to that bug - here's the log\n```\nERROR 401\n```", "Refresh the token.")
    talk.say("ok let's try refreshing the token", "Tell me how it went.")
    talk.say("no luck, same error", "Then inspect the payload of the JWT.")
    talk.say("let me try to inspect the JWT payload", "Look at the audience.")
    talk.say("Found it: the token had the wrong audience claim. Works now!", "Great!")
    talk.say("thanks a lot!", "You're welcome.")
    talk.say("By the way, we use Stripe API v2023-10.", "Good to know.")
    talk.say("What's the capital of Bhutan?", "Thimphu.")
    talk.say("We've upgraded to Stripe API v2024-06.", "All right.")
    talk.say("the 401 is back :(", "Is it the same claim?")

    told = "Found it: the token had the wrong audience claim"
    assert talk.efforts() == [
        ("I'm getting a weird error in auth, every call gives a 401", "open", None),
        ("Refreshing the token", "failed", "No luck, same error"),
        ("Inspect the JWT payload", "done", told),
    ]
    assert talk.texts("event") == ["Call mom"]
    assert talk.texts("fact") == ["We've upgraded to Stripe API v2024-06"]


def test_a_talk_without_a_goal_leaves_nothing() -> None:
    """Until it turns out that something was solved."""
    talk = Talk()
    talk.say("what does idempotent mean?", "Doing it twice is doing it once.")
    talk.say("and is PUT idempotent?", "Yes.")
    talk.say("how do I undo the last commit in git?", "`git reset --soft HEAD~1`.")
    assert talk.efforts() == []
    talk.say("great, that worked", "Good.")
    talk.say("thank you!", "You're welcome.")
    assert [effort[:2] for effort in talk.efforts()] == [
        ("How do I undo the last commit in git", "done")
    ]


def test_a_request_is_done_when_its_text_was_accepted() -> None:
    """What the answer is, is what was asked for; a change to it opens nothing new."""
    talk = Talk()
    poem = "Roses are red,\nviolets are blue,\nthe logs of my server\nare readable too."
    talk.say("write a short poem about logs", poem)
    assert [effort[:2] for effort in talk.efforts()] == [("Write a short poem about logs", "done")]
    talk.say("make it funnier", poem)
    assert len(talk.efforts()) == 1


def test_two_efforts_side_by_side() -> None:
    """Each message belongs to the one that it speaks of."""
    talk = Talk()
    talk.say("My sourdough bread keeps coming out dense.", "Let it proof longer.")
    talk.say("Something else: I need to write the speech for the wedding.", "How long?")
    first, second = (a.id for a in talk.shelf.open_efforts)
    assert talk.say("five minutes, and it should be funny").effort == second
    assert talk.say("how long should the sourdough proof in summer?").effort == first
    assert talk.say("back to the speech: who goes first?").effort == second
    assert Place(ExchangeId("exc_4_001"), first) in talk.shelf.threads
