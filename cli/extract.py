"""Looking through a past for artifacts: artifact extract."""

from collections import Counter
from typing import Annotated

import typer

from cli import output as out
from cli.artifacts import app
from cli.attention import detector_of
from cli.options import JsonFlag, StoreOption
from cli.rebuild import progress
from cli.wiring import desk
from commands.detection.attend import attend

_COUNTED = {
    "effort.opened": "effort",
    "fact.learned": "fact",
    "event.noted": "event",
    "effort.resolved": "resolution",
    "context.compacted": "compaction",
}


@app.command()
def extract(
    session: Annotated[
        str | None, typer.Argument(help="The session; the one that is worked on by default.")
    ] = None,
    store: StoreOption = None,
    json: JsonFlag = False,
) -> None:
    """Look at all that was said and that nobody has looked at yet, such as an imported past.

    It can be broken off (Ctrl-C) and goes on where it was.

    Example: mind artifact extract payments
    """
    with desk(store, session) as at, progress("Looking") as told:
        at.only_now()
        head = at.state.version
        done = attend(
            at.log,
            at.session,
            detector_of(at.state),
            at.world,
            progress=lambda upto: told(upto, head),
        )
        found = Counter(
            recorded.event.kind for recorded in at.log.read(at.session, after=head, kinds=_COUNTED)
        )
    counts = {word: found[kind] for kind, word in _COUNTED.items()}
    if json:
        out.as_json({"session": at.session, "looks": done.looks, "found": counts})
        return
    what = [out.count(number, word) for word, number in counts.items() if number]
    out.talk(
        f"Looked {out.count(done.looks, 'time')} and found {', '.join(what) or 'nothing'}."
        + (" See them: mind artifact list" if what else "")
    )
