"""Takes pictures of a conversation: ``python -m tests.cli.tui.readme_pictures``.

They go to docs/pictures. The replies are recorded; thoughts are embedded and gathered on this
machine, as they always are.
"""

import asyncio
import json
import os
import tempfile
from pathlib import Path

from commands.dialogue import SendMessage
from commands.drafts import AcceptDraft
from commands.minds.mind import Mind
from commands.presence import SetSignal
from tests.cli.tui.house import Sitting, picture, sitting
from tests.stories.cast import Stage

PICTURES = Path(__file__).parents[3] / "docs" / "pictures"
SIZE = (112, 32)

REPLIES = (
    """\
thoughts:
  - The Moon pulls the near water more strongly than the Earth's centre.
  - The Moon pulls the far water less strongly than the Earth's centre.
  - Most people expect a single bulge, towards the Moon.
draft: |
  Because the Moon does not only pull the water: it pulls the **Earth away from the far
  water**, too.
""",
    """\
thoughts:
  - What matters is the difference of the Moon's pull across the Earth.
  - The Moon pulls the Earth's centre, and the far water is left behind.
draft: |
  The Moon's pull is strongest on the near side, weaker at the Earth's centre, weakest on the far
  side. Seen from the Earth, only the *differences* remain: one bulge towards the Moon, and one away
  from it.
""",
    """\
thoughts:
  - The Bay of Fundy has sixteen metres between high and low water.
  - In the Baltic there is next to no tide.
  - The shape of a bay decides how high the tide in it is.
draft: |
  The coast decides. In a long bay the tide runs like water in a bathtub:

  - the **Bay of Fundy** swings in nearly the tide's own rhythm: 16 metres
  - the **Baltic** is all but closed: a few centimetres
""",
    """\
thoughts:
  - A bay has a rhythm of its own, as a bathtub has.
  - The Bay of Fundy swings in twelve and a half hours.
draft: |
  The Moon raises barely half a metre in the open ocean; coasts do the rest:

  - the **Bay of Fundy** swings in about 12.5 hours, nearly the tide's own rhythm: up to 16 metres
  - the **Baltic** is all but closed: a few centimetres
  - a **lake** is too small for the pull to differ across it
""",
)


def _converse(stage: Stage) -> None:
    """One exchange, and a second message with two drafts."""
    from cli.wiring import gatherer_for  # noqa: PLC0415 — brings numpy along

    gatherer = gatherer_for(stage.log)
    stage.does(
        SetSignal(presence="engaged", status="reading along", time=stage.world.local_time()),
        SendMessage(text="Why are there two tides a day, and not one?"),
    )
    for iterations in (1, 1):
        stage.runs(mind=_mind(), iterations=iterations, gatherer=gatherer)
    stage.does(AcceptDraft(index=2))
    stage.does(
        SendMessage(text="And why are they so high in some places, and hardly there in others?")
    )
    stage.runs(mind=_mind(), iterations=1, gatherer=gatherer)
    stage.runs(mind=_mind(), iterations=1, mode="background", gatherer=gatherer)


def _mind() -> Mind:
    from commands.minds.script import read_script  # noqa: PLC0415 — as above

    return read_script("script:tides.jsonl", Path("tides.jsonl"))


async def _drafts(at: Sitting) -> None:
    await at.sees("Drafting", "Bay of Fundy", "cluster")
    await at.presses("ctrl+n")
    await _take(at, "chat")
    await at.presses("ctrl+t", "ctrl+l", *["left"] * 9)
    while "draft.emitted" not in next(line for line in at.screen.splitlines() if "│ ▸" in line):
        await at.presses("left")
    await at.settles()
    await _take(at, "chat-past")


async def _take(at: Sitting, name: str) -> None:
    at.app.mind.work.latency = 2300
    at.app.mind.draw_title()
    at.app.mind.tell("")
    await at.pilot.pause()
    svg = picture(at.app.export_screenshot(title="mind chat"))
    (PICTURES / f"{name}.svg").write_text(svg, encoding="utf-8")


async def _main(stage: Stage) -> None:
    async with sitting(Sitting, stage, SIZE) as at:
        await _drafts(at)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        os.chdir(home)
        lines = [
            json.dumps(
                {"text": text, "tokens_in": 1800 + 90 * n, "tokens_out": 210, "cost_usd": 0.0021}
            )
            for n, text in enumerate(REPLIES)
        ]
        Path("tides.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        stage = Stage(Path(home) / "store").begins(None, model="script:tides.jsonl")
        _converse(stage)
        asyncio.run(_main(stage))
        os.chdir(PICTURES)
