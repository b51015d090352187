"""Behind a message and an acceptance: artifacts are looked for, and the context is kept small.

The dialogue is in the log before this begins: whatever fails here is told, and nothing is lost.
"""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from cli import output as out
from cli.wiring import Desk
from domain.artifacts import EVOLVE
from domain.errors import LogosphereError
from domain.recorded import Recorded
from domain.session import Session

if TYPE_CHECKING:
    from commands.detection.looked import Detector

_UNTOLD = {"detector.invoked", "exchange.routed", "artifacts.evicted", "effort.collapsed"}
"""What nobody waits for: the log has it."""


def attend_to(
    at: Desk, after: int, *, quiet: bool = False, say: Callable[[str], object] = out.talk
) -> None:
    """Look at what was said behind a version, and tell what it left; if quiet, only what failed."""
    from commands.artifacts.work import bring_back  # noqa: PLC0415 — reading verbs need none of this
    from commands.detection.attend import attend  # noqa: PLC0415

    version = at.log.head(at.session).version
    try:
        detector = detector_of(at.log.state(at.session), say)
        attend(at.log, at.session, detector, at.world, after=after)
        back = bring_back(at.log, at.session, at.world)
    except KeyboardInterrupt:
        say("Broke off looking for artifacts: mind artifact extract looks again.")
        return
    except Exception as error:  # noqa: BLE001 — what was said is in the log, and that is what counts
        why = error.sentence if isinstance(error, LogosphereError) else repr(error)
        say(f"  ! Artifacts were not looked for: {out.safe(why)}")
        return
    if quiet:
        return
    for recorded in at.log.read(at.session, after=version, kinds=KINDS):
        say(f"  {told(recorded)}")
    if back is not None and back.events:
        say(f"  Brought back to {back.session}: {out.count(len(back.events), 'event')}.")


KINDS = tuple(
    kind for event in EVOLVE if (kind := str(event.model_fields["kind"].default)) not in _UNTOLD
)


def told(recorded: Recorded) -> str:
    """One line about what became of an artifact: ``412 effort.opened: fix the login``."""
    from projections.timeline import summary  # noqa: PLC0415 — as above

    words = out.one_line(summary(recorded.event), 100)
    return f"{recorded.version} {recorded.event.kind}: {words}"


def detector_of(state: Session, say: Callable[[str], object] = out.talk) -> "Detector | None":
    """Who looks for artifacts by the settings of a session; None where nobody does."""
    from commands.detection.choose import detector_for  # noqa: PLC0415 — as above
    from domain.detection.rules import detect  # noqa: PLC0415

    return detector_for(state.config, rules=detect, env=os.environ, say=say)
