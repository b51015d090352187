"""What a client is subscribed to: the same numbers and no event twice, whatever the wire does."""

import itertools
from typing import Any

from cli.client.client import Notification


class Following:
    """One subscription."""

    def __init__(self, there: int, session: str | None, position: int) -> None:
        self.there: int | None = there
        """Its number at the server, over the present connection; None while there is none."""
        self.session, self.position = session, position
        """All events up to here were heard."""


class Followed:
    """All subscriptions of a client; numbers of its own stand for those that the server gave."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._all: dict[int, Following] = {}

    def begun(self, answer: dict[str, Any], session: str | None) -> dict[str, Any]:
        """A new one: the server's answer, with the number that it has here."""
        number = next(self._numbers)
        self._all[number] = Following(answer["subscription"], session, answer["position"])
        return {**answer, "subscription": number}

    def there(self, number: Any) -> Any:
        """How the server calls one; what is none is passed on, for the server to refuse."""
        found = self._all.get(number) if isinstance(number, int) else None
        return found.there if found is not None else number

    def ended(self, number: Any, answer: dict[str, Any]) -> dict[str, Any]:
        """One less: the server's answer, with the number that it had here."""
        self._all.pop(number, None)
        return {**answer, "subscription": number}

    def lost(self) -> list[tuple[int, dict[str, Any]]]:
        """All of them, and how to ask for what follows: the connection is another one."""
        asked: list[tuple[int, dict[str, Any]]] = []
        for number, one in self._all.items():
            one.there = None
            asked.append((number, {"fromPosition": one.position, "session": one.session}))
        return asked

    def resumed(self, number: int, answer: dict[str, Any]) -> None:
        """It goes on over the present connection."""
        self._all[number].there = answer["subscription"]

    def refused(self, number: int, sentence: str) -> Notification:
        """It can't go on: what its listener is told."""
        one = self._all.pop(number)
        told = {"subscription": number, "reason": sentence, "position": one.position}
        return "cut_off", told

    def told(self, method: str, params: dict[str, Any]) -> Notification | None:
        """A notification with the numbers of this client; None where it was heard before."""
        if method not in {"event", "cut_off"} or "subscription" not in params:
            # a connection that is cut off is made again, and nothing is missed
            return (method, params) if method != "cut_off" else None
        there = params["subscription"]
        number = next((n for n, one in self._all.items() if one.there == there), None)
        if number is None:
            return None
        told = {**params, "subscription": number}
        if method == "cut_off":
            del self._all[number]
            return method, told
        one = self._all[number]
        if params["position"] <= one.position:
            return None
        one.position = params["position"]
        return method, told
