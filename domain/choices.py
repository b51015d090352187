"""How a user chooses where a talk begins: ``1``, ``3, include 1,2``, ``just continue``."""

import re
from typing import Literal, NamedTuple

from domain.errors import BadSetting

Beginning = Literal["continue", "fork", "new", "fresh"]

_NUMBERED: dict[str, Beginning] = {"1": "continue", "2": "fork", "3": "new", "4": "fresh"}
_NAMED: dict[str, Beginning] = {
    "continue": "continue",
    "just continue": "continue",
    "fork": "fork",
    "new": "new",
    "fresh": "fresh",
    "start fresh": "fresh",
}
_FORM = re.compile(
    r"(?P<what>[a-z ]+?|\d)(?:\s+(?P<chat>\d+))?"
    r"(?:\s*,\s*(?P<how>include|exclude)\s+(?P<which>\d+(?:\s*[,\s]\s*\d+)*))?"
)
HELP = (
    "Say 1 (continue the first chat), 2 (fork the second, or the only one), 3 (new, with the"
    " artifacts; 3, include 1,2 or 3, exclude 3), 4 (fresh), just continue, or continue N and"
    " fork N for another chat."
)


class Choice(NamedTuple):
    """Where the talk begins."""

    what: Beginning
    chat: int | None = None
    """The 1-based number of the chat that is continued or forked."""
    artifacts: tuple[int, ...] = ()
    """The 1-based numbers of the artifacts that a new one begins with."""


def parse_choice(text: str, chats: int, artifacts: int) -> Choice:
    """What a user means.

    Args:
        text: what they said.
        chats: how many related chats they were shown.
        artifacts: how many artifacts.

    Raises:
        BadSetting: it is none of the ways to say it, or names what was not shown.
    """
    found = _FORM.fullmatch(" ".join(text.lower().split()))
    what = _NUMBERED.get(found["what"]) or _NAMED.get(found["what"]) if found else None
    if found is None or what is None or (found["how"] and what != "new"):
        raise BadSetting(f"{text!r} is no choice. {HELP}")
    if what in {"continue", "fork"}:
        # the second chat is what 2 forks, as the list of options says
        first = 2 if found["what"] == "2" and chats > 1 else 1
        chat = int(found["chat"] or first)
        if not 1 <= chat <= chats:
            raise BadSetting(
                f"There is no chat {chat} to {what}: {_shown(chats, 'chat')}. Say 4 to start fresh."
            )
        return Choice(what, chat)
    if found["chat"]:
        raise BadSetting(f"{text!r} is no choice. {HELP}")
    return Choice(what, None, _chosen(found["how"], found["which"], artifacts, what))


def _chosen(how: str | None, which: str | None, artifacts: int, what: str) -> tuple[int, ...]:
    if what == "fresh":
        return ()
    named = [int(number) for number in re.findall(r"\d+", which or "")]
    for number in named:
        if not 1 <= number <= artifacts:
            raise BadSetting(f"There is no artifact {number}: {_shown(artifacts, 'artifact')}.")
    everything = range(1, artifacts + 1)
    if how == "include":
        return tuple(dict.fromkeys(named))
    return tuple(number for number in everything if number not in named)


def _shown(count: int, what: str) -> str:
    if not count:
        return f"no related {what} was found"
    return f"{what}s 1 to {count} were found" if count > 1 else f"one {what} was found"
