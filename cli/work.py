"""Working on one effort alone: effort work."""

from typing import Annotated

import typer

from cli import output as out
from cli.catalogue import artifact_id
from cli.efforts import EffortArgument, app
from cli.options import JsonFlag, SessionOption, StoreOption
from cli.wiring import desk, switch_session
from commands.artifacts.work import work_on


@app.command()
def work(
    effort: EffortArgument,
    name: Annotated[str | None, typer.Option(help="What the branch is to be called.")] = None,
    stay: Annotated[bool, typer.Option("--stay", help="Do not switch to the branch.")] = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Work on one effort in a branch of its own, whose mind is shown that effort's thread alone.

    What comes of it, its end and the facts that were learned, is brought back when it is resolved.

    Example: mind effort work 12
    """
    with desk(store, session) as at:
        at.only_now()
        working = work_on(at.log, at.session, artifact_id(effort), at.world, name=name)
        if not stay:
            switch_session(at.directory, working.session)
    if json:
        out.as_json(
            {"session": working.session, "effort": working.effort.id, "began": working.began}
        )
        return
    how = "branches off for" if working.began else "is the branch of"
    goal = out.one_line(working.effort.text, 80)
    out.talk(f"{working.session} {how} effort {working.effort.id}: {goal}")
    out.talk(f'Next: mind message "…", and in the end mind effort resolve {working.effort.id} "…"')
