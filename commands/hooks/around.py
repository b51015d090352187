"""Hooks are called around iterations; one that fails is told of, and costs nothing else."""

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from itertools import takewhile
from pathlib import Path
from traceback import extract_tb, format_exception_only
from typing import Literal

from commands.hooks.hook import Hook
from commands.hooks.turn import Scene, Turn
from domain.errors import LogosphereError
from domain.events import MindInvoked
from domain.recorded import Recorded
from domain.session import Session

PATIENCE = 3
"""Failures in a row, before or after, until a hook is left out of the run."""

Listener = Callable[[str], object]
"""Told in one sentence what did not work."""


class Around:
    """The hooks of one run."""

    def __init__(self, hooks: Sequence[Hook], scene: Scene, on_problem: Listener) -> None:
        self._hooks = list(hooks)
        self._scene, self._on_problem = scene, on_problem
        self._failures: Counter[tuple[int, str]] = Counter()
        self._iteration = 0

    def before(self, session: Session) -> bool:
        """Call the hooks, once for each iteration that is about to begin.

        Returns:
            Whether any was called: hooks take their time, so look at the session again.
        """
        if not self._hooks or self._iteration == session.upcoming:
            return False
        self._iteration = session.upcoming
        self._call("before", session.upcoming, ())
        return True

    def after(self) -> None:
        """Call the hooks, if the iteration has become part of the log."""
        if not self._hooks:
            return
        log, session = self._scene.log, self._scene.session
        invoked = log.newest(session, ["mind.invoked"])
        if invoked is None or not isinstance(invoked.event, MindInvoked):
            return
        if invoked.event.iteration < self._iteration:
            return
        behind = log.read(session, after=invoked.version - 1)
        events = takewhile(lambda r: r.command == invoked.command, behind)
        self._call("after", invoked.event.iteration, tuple(events))

    def _call(
        self, moment: Literal["before", "after"], iteration: int, events: tuple[Recorded, ...]
    ) -> None:
        for hook in tuple(self._hooks):
            turn = Turn(self._scene, hook.name, iteration, events)
            try:
                # stdout is for answers, and may be read by a program
                with turn, redirect_stdout(sys.stderr):
                    hook.before(turn) if moment == "before" else hook.after(turn)
            except (Exception, SystemExit) as error:  # noqa: BLE001 — a hook never breaks a run
                self._failed(hook, moment, iteration, error)
            else:
                self._failures[id(hook), moment] = 0

    def _failed(self, hook: Hook, moment: str, iteration: int, error: BaseException) -> None:
        self._failures[id(hook), moment] += 1
        what = f"Hook {hook.name!r} failed {moment} iteration {iteration}: {_told(error)}"
        if self._failures[id(hook), moment] < PATIENCE:
            self._on_problem(f"{what} The run goes on.")
            return
        # the very object: others may be equal to it
        self._hooks = [other for other in self._hooks if other is not hook]
        self._on_problem(f"{what} It is left out for the rest of this run.")


def _told(error: BaseException) -> str:
    """What was raised and where, on one line."""
    if isinstance(error, LogosphereError):
        return error.sentence
    what = " ".join(" ".join(format_exception_only(error)).split()).rstrip(".")
    frames = extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{what[:300]}{where}."
