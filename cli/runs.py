"""The mind at work: run, step."""

import signal as signals
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from types import FrameType
from typing import Annotated

import typer

from cli import output as out
from cli.attention import attend_to
from cli.options import JsonFlag, SessionOption, StoreOption
from cli.wiring import desk, gatherer_for, hooks_for, mind_for
from commands.handle import Done
from commands.minds.mind import MindFailed, Reply, Request
from commands.runs import Stopped, run_session
from domain.errors import Broken
from domain.events import DraftEmitted, MindInvoked, MindSignalled, ThoughtAdded

HookOption = Annotated[
    list[str] | None,
    typer.Option(
        "--hook",
        help="Code of yours around each iteration: NAME or FILE.py[:NAME], then ,key=value.",
        metavar="HOOK",
    ),
]


class Onlooker:
    """Tells on stderr what the mind is doing, and prints drafts on stdout."""

    def __init__(self, *, debug: bool = False, quiet: bool = False, stream: bool = False) -> None:
        self._debug, self._quiet, self._stream = debug, quiet, stream
        self._began = 0.0
        self._waits = False

    def asked(self, request: Request) -> None:
        """The mind is about to be asked."""
        self._began = time.monotonic()
        if self._debug:
            out.answer(out.shade("── system", "faint"))
            out.answer(out.safe(request.system))
            for prompt, reply in request.examples:
                out.answer(out.shade("── example", "faint"))
                out.answer(f"{out.safe(prompt)}\n→ {out.safe(reply)}")
            out.answer(out.shade("── prompt", "faint"))
            out.answer(out.safe(request.prompt))
        elif not self._quiet and not self._stream and sys.stderr.isatty():
            self._waits = True
            sys.stderr.write(f"\r\033[Kiteration {request.iteration} …")
            sys.stderr.flush()

    def heard(self, piece: str) -> None:
        """A piece of the reply streamed in."""
        if self._stream:
            sys.stderr.write(out.safe(piece))
            sys.stderr.flush()

    def answered(self, reply: Reply | MindFailed) -> None:
        """The reply is there, or will not come."""
        if self._stream:
            out.talk("")
        self.close()
        if self._debug and isinstance(reply, Reply):
            out.answer(out.shade(f"── reply of {reply.model}", "faint"))
            out.answer(out.safe(reply.text))

    def close(self) -> None:
        """The line that says what is waited for makes way for another one."""
        if self._waits:
            self._waits = False
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    def waiting(self, failure: MindFailed, pause: float) -> None:
        """An attempt failed, and another one follows."""
        self.close()
        if not self._quiet:
            out.talk(f"  ! {out.safe(failure.sentence)} Trying again in {pause:.0f} s.")

    def recorded(self, done: Done) -> None:
        """The iteration is in the log."""
        if self._quiet:
            return
        for event in done.events:
            if isinstance(event, MindInvoked):
                seconds = time.monotonic() - self._began
                out.talk(f"iteration {event.iteration}: {event.outcome}, {seconds:.1f} s")
                for problem in (*((event.error,) if event.error else ()), *event.repairs):
                    out.talk(f"  ! {out.safe(problem)}")
            elif isinstance(event, ThoughtAdded):
                out.talk("  · " + out.block(event.text, indent="    ").lstrip())
            elif isinstance(event, MindSignalled):
                out.talk(f"  {event.signal} signal")
            elif isinstance(event, DraftEmitted):
                late = " (late: the exchange was closed meanwhile)" if event.late else ""
                out.answer(out.shade(f"#{event.index}{late}", "strong"))
                out.answer(out.block(event.text))


@contextmanager
def gentle_interrupt() -> Iterator[list[bool]]:
    """The first Ctrl-C ends the run after this iteration, the second one breaks it off."""
    asked: list[bool] = []

    def on_interrupt(_: int, __: FrameType | None) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(True)
        out.talk("Stopping after this iteration; Ctrl-C again breaks it off.")

    before = signals.signal(signals.SIGINT, on_interrupt)
    try:
        yield asked
    finally:
        signals.signal(signals.SIGINT, before)


def run(
    iterations: Annotated[
        int | None, typer.Argument(min=1, help="Exactly so many iterations.")
    ] = None,
    background: Annotated[
        bool, typer.Option("--background", "-b", help="Leave drafts unseen; do not stop at them.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say only how it ended.")] = False,
    stream: Annotated[bool, typer.Option(help="Show the raw reply as it streams in.")] = False,
    hook: HookOption = None,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Let the mind work until it has a draft, has nothing to say, or demands attention.

    Example: mind run        mind run -b        mind run -b 5 --hook novelty,every=2
    """
    watcher = Onlooker(quiet=quiet or json, stream=stream)
    _run(store, session, watcher, iterations, background=background, json=json, hooks=hook)


def step(
    debug: Annotated[
        bool, typer.Option(help="Print the exact request and the exact reply.")
    ] = False,
    stream: Annotated[bool, typer.Option(help="Show the raw reply as it streams in.")] = False,
    hook: HookOption = None,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Let the mind work for one iteration.

    Example: mind step --debug
    """
    watcher = Onlooker(debug=debug, quiet=json, stream=stream)
    _run(store, session, watcher, 1, background=False, json=json, hooks=hook)


def _run(
    store: StoreOption,
    session: SessionOption,
    watcher: Onlooker,
    iterations: int | None,
    *,
    background: bool,
    json: bool,
    hooks: list[str] | None,
) -> None:
    with desk(store, session) as at, closing(watcher), gentle_interrupt() as asked:
        at.only_now()
        before = at.state.version
        stopped = run_session(
            at.log,
            at.session,
            lambda config: mind_for(config, watcher.waiting),
            at.world,
            mode="background" if background else "observe",
            iterations=iterations,
            watcher=watcher,
            stop_asked=lambda: bool(asked),
            gatherer=gatherer_for(at.log),
            hooks=hooks_for(hooks or ()),
            on_problem=lambda sentence: out.talk(f"  ! {out.safe(sentence)}"),
        )
        presence = at.state.attention.presence
        if stopped.reason == "accepted":
            attend_to(at, before, quiet=json)
    if json:
        out.as_json({**stopped._asdict(), "presence": presence})
    else:
        out.talk(_ended(stopped, presence))
    if stopped.reason == "failed":
        raise Broken(stopped.detail or "The mind failed: mind log shows how.")


_NEXT = {
    "draft": "Next: mind accept, or mind run to refine it.",
    "hard signal": "The mind has no more to say: mind drafts, mind accept.",
    "true silence": "The mind said nothing at all: mind drafts, or mind think to stir it.",
    "limit": "Next: mind drafts.",
    "interrupted": "Everything shown is in the log.",
    "budget": "Raise it with mind config --set budget_usd=…, or accept a draft.",
    "accepted": "The exchange is closed: mind message.",
    "failed": "The run can go on: mind run.",
}


def _ended(stopped: Stopped, presence: str) -> str:
    iterations = out.count(stopped.iterations, "iteration")
    return (
        f"Stopped after {iterations}: {stopped.reason} ({_presences(stopped, presence)})."
        f" {_NEXT.get(stopped.reason, '')}"
    ).rstrip()


def _presences(stopped: Stopped, now: str) -> str:
    """What held while the mind worked, and what holds now where that is something else."""
    held = [presence for presence in stopped.presences if presence != now]
    if not held:
        return f"you are {now}"
    return f"you were {', then '.join(held)}, and are {now}"


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    app.command()(run)
    app.command()(step)
