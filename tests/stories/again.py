"""A past that is worth living again, and a mind to live it with."""

from typing import Any

from commands.dialogue import PruneExchanges, SendMessage
from commands.drafts import AcceptDraft, MarkSeen
from commands.minds.mind import Listener, Mind, Reply, Request
from commands.notes import AddNote
from commands.presence import SetSignal
from commands.replay import Ended, begin_replay, go_on
from commands.sessions import ChangeConfig, LabelMoment
from commands.thinking import InjectThought
from domain.events import Event, MindInvoked
from domain.ids import SessionId
from domain.protocol.prompts import Dialect
from domain.recorded import Recorded
from tests.stories.cast import Rehearsed, Stage
from tests.stories.thinker import reply

BRANCH = SessionId("what-if")


class Steady:
    """A mind whose n-th answer in a branch is always the same, however often it was interrupted."""

    name = "steady"
    dialect: Dialect = "full"

    def __init__(self, stage: Stage, branch: SessionId = BRANCH, word: str = "other") -> None:
        self.stage, self.branch, self.word = stage, branch, word
        self.fails: dict[int, list[BaseException]] = {}
        """What it raises first, before its n-th answer."""
        self.requests: list[Request] = []

    def reply(self, request: Request, listener: Listener | None = None) -> Reply:
        """Its next answer: a thought and a draft."""
        self.requests.append(request)
        mine = [e for e in events(self.stage, self.branch, MindInvoked) if e.model == self.name]
        number = sum(e.outcome != "failed" for e in mine) + 1
        if self.fails.get(number):
            raise self.fails[number].pop(0)
        text = (
            f"thoughts: [{self.word} thought {number}]\ndraft: the {self.word} answer no {number}"
        )
        if listener is not None:
            listener(text)
        return Reply(text, self.name, tokens_in=10, tokens_out=5, cost_usd=0.5, finish="stop")


def story(stage: Stage) -> Stage:
    """All that a user can do: two exchanges are answered, the third one is open."""
    stage.begins("why two tides?", temperature=0.5, embedding_model="off")
    stage.does(
        InjectThought(text="think of Fundy", by="user:ann"),
        SetSignal(presence="reviewing", status="at my desk", time=stage.world.local_time()),
    )
    mind = Rehearsed(
        reply("the far bulge") + "\ndraft: the near water is pulled more",
        "draft: and the far water less than the earth",
        "draft: '+1'",
        "skip: true",
        "draft: at new and full moon they add up",
        "draft: they add up twice a month",
        reply("one more"),
        "draft: the answer to the last one",
    )
    stage.runs(mind=mind, mode="background", iterations=3)
    stage.does(
        MarkSeen(indexes=(1, 3)),
        AddNote(text="for nobody but me"),
        LabelMoment(label="here", version=5),
        ChangeConfig(key="temperature", value="1.0"),
        ChangeConfig(key="model", value="script:another"),
        AcceptDraft(),
        SendMessage(text="and the sun?"),
    )
    stage.runs(mind=mind, iterations=3)
    stage.does(
        SetSignal(presence="engaged", time=stage.world.local_time()),
        AcceptDraft(index=1),
        PruneExchanges(keep=1),
        SendMessage(text="and the wind?"),
    )
    stage.runs(mind=mind, iterations=2)
    return stage


def begun(stage: Stage, branch: str = BRANCH, **more: Any) -> SessionId:
    """A replay of the stage's session that has taken no step."""
    begin_replay(stage.log, stage.session, SessionId(branch), stage.world, **more)
    return SessionId(branch)


def goes_on(stage: Stage, mind: Mind | None = None, branch: str = BRANCH, **more: Any) -> Ended:
    """The steps that are left, with this mind."""
    used = mind or Steady(stage, SessionId(branch))
    log = more.pop("log", stage.log)
    return go_on(log, SessionId(branch), lambda _: used, stage.world, **more)


def lived(stage: Stage, branch: str = BRANCH, mind: Mind | None = None, **more: Any) -> Ended:
    """A whole replay."""
    begun(stage, branch, **more)
    return goes_on(stage, mind, branch)


def events(stage: Stage, session: str, *classes: type[Event]) -> list[Any]:
    """What happened in a session, of these classes; all that its ancestors had included."""
    history = stage.log.read(SessionId(session))
    return [r.event for r in history if isinstance(r.event, classes or Event)]


def own(stage: Stage, session: str = BRANCH) -> list[Recorded]:
    """What a branch has beyond its beginning."""
    beginning = stage.log.newest(SessionId(session), ["replay.begun"])
    assert beginning is not None
    return list(stage.log.read(SessionId(session), after=beginning.version))


def told(stage: Stage, session: str) -> list[tuple[Any, ...]]:
    """What a branch has come to, without what differs between two of the same making."""
    of_runs = ("run.started", "run.stopped", "mind.signalled")
    fields = ("text", "index", "indexes", "presence", "status", "time", "key", "new", "signal")
    said: list[tuple[Any, ...]] = []
    for recorded in own(stage, session):
        e: Any = recorded.event
        if e.kind not in of_runs and not (isinstance(e, MindInvoked) and e.outcome == "failed"):
            facts = tuple(getattr(e, name, None) for name in fields)
            said.append((e.kind, str(recorded.actor), *facts))
    return said
