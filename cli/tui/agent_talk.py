"""A conversation with an agent, as it is heard and as it is read: the same, whatever comes first.

What is heard while it happens may have gaps, and what is read from the log may be older than what
was heard a moment before. So nothing is ever replaced by less: both are merged, by prompt.
"""

from collections.abc import Iterable

from cli.tui.agent_shapes import Aside, Data, Exchange, Tool

MISSED = "[…] "
"""Stands where pieces of an answer were told while nobody listened, until the answer is whole."""

_RANK = {"waiting": 0, "running": 1}
"""How far a prompt has come; all ends are further."""


class Talk:
    """What was said to one agent, and what came back."""

    def __init__(self, agent: str) -> None:
        self.agent = agent
        self._known: dict[int, Exchange] = {}

    @property
    def exchanges(self) -> list[Exchange]:
        """In the order in which the prompts were submitted."""
        return [self._known[prompt] for prompt in sorted(self._known)]

    @property
    def oldest(self) -> int | None:
        """The first prompt that is known."""
        return min(self._known, default=None)

    @property
    def waiting(self) -> int:
        """How many prompts wait behind the one that is being answered."""
        return sum(one.outcome == "waiting" for one in self._known.values())

    @property
    def turn(self) -> int | None:
        """The turn that goes on."""
        going = (one.turn for one in self._known.values() if one.outcome == "running")
        return next(going, None)

    @property
    def running(self) -> bool:
        """Whether a prompt is being answered."""
        return self.turn is not None

    def read(self, turns: Iterable[Data]) -> None:
        """Take what ``agent_transcript`` says."""
        for turn in turns:
            new = Exchange.of(turn)
            known = self._known.get(new.prompt)
            self._known[new.prompt] = new if known is None else merged(known, new)

    def missed(self) -> None:
        """Nobody was connected for a while: pieces of an answer may be missing."""
        for prompt, one in self._known.items():
            if one.outcome == "running":
                self._known[prompt] = one._replace(gap=True)

    def hear(self, message: Data) -> None:
        """Take what ``channel_message`` tells of this agent."""
        if message.get("sessionId") != self.agent:
            return
        text, data = message.get("content") or "", message.get("metadata") or {}
        match message["type"]:
            case "prompt":
                self._prompted(text, data)
            case "turn":
                self._begun(data)
            case "chunk":
                self._piece(text, data)
            case "tool_use":
                self._using(text, data)
            case "tool_result":
                self._used(text, data)
            case "answer":
                self._answered(text, data)
            case "error":
                self._failed(text, data)
            case "warning":
                self._beside("warning", text)

    # what is told

    def _prompted(self, text: str, data: Data) -> None:
        prompt = data["prompt"]
        if prompt not in self._known:
            self._known[prompt] = Exchange(prompt, text, data.get("sender"))

    def _begun(self, data: Data) -> None:
        one = self._known.get(data["prompt"])
        if one is not None and not one.over:
            begun = one._replace(outcome="running", turn=data["turn"], gap=False)
            self._known[one.prompt] = begun

    def _piece(self, text: str, data: Data) -> None:
        one = self._running(data)
        if one is not None and text:
            between = f"{' ' if one.answer else ''}{MISSED}" if one.gap else ""
            self._known[one.prompt] = one._replace(answer=one.answer + between + text, gap=False)

    def _using(self, name: str, data: Data) -> None:
        one = self._running(data)
        if one is not None and all(tool.call != data["call"] for tool in one.heard):
            tool = Tool(name, data.get("arguments") or "", None, data["call"])
            self._known[one.prompt] = one._replace(heard=(*one.heard, tool))

    def _used(self, text: str, data: Data) -> None:
        one = self._running(data)
        if one is None:
            return
        failed = bool(data.get("failed"))
        tools = tuple(
            tool._replace(failed=failed, said=text if failed else "")
            if tool.call == data["call"]
            else tool
            for tool in one.heard
        )
        self._known[one.prompt] = one._replace(heard=tools)

    def _answered(self, text: str, data: Data) -> None:
        one = self._known.get(data["prompt"])
        if one is not None and not one.over:
            whole = one._replace(outcome="completed", turn=data["turn"], answer=text)
            self._known[one.prompt] = whole

    def _failed(self, text: str, data: Data) -> None:
        one = self._known.get(data.get("prompt", 0))
        if one is None:
            self._beside("error", text)
        elif not one.over:
            lost = data.get("reason") == "lost"
            self._known[one.prompt] = one._replace(
                outcome="lost" if lost else "failed",
                answer=data.get("partial") or one.answer,
                detail=text,
            )

    def compacted(self, tokens: int | None) -> None:
        """The oldest turns have made way for a summary."""
        of = f" of {tokens:,} tokens" if tokens else ""
        self._beside("conversation.compacted", f"the oldest turns{of}")

    def _beside(self, kind: str, text: str) -> None:
        """Show it where the conversation stands now."""
        begun = [one for one in self.exchanges if one.outcome != "waiting"] or self.exchanges
        if begun:
            one, aside = begun[-1], Aside(kind, text)
            if aside not in one.passing:
                self._known[one.prompt] = one._replace(passing=(*one.passing, aside))

    def _running(self, data: Data) -> Exchange | None:
        turn = data.get("turn")
        return next(
            (one for one in self._known.values() if one.outcome == "running" and one.turn == turn),
            None,
        )


def merged(known: Exchange, read: Exchange) -> Exchange:
    """One prompt from both: the one that is further, with all asides."""
    asides = max(known.asides, read.asides, key=len)
    logged = max(known.logged, read.logged, key=len)
    in_log = {aside.kind for aside in asides}
    passing = tuple(aside for aside in known.passing if aside.kind not in in_log)
    both = read._replace(asides=asides, logged=logged, heard=known.heard, passing=passing)
    before, now = (_RANK.get(one.outcome, 2) for one in (known, read))
    if read.outcome == "lost":  # no log has what somebody may have read of it
        return both._replace(answer=read.answer or known.answer)
    if read.over or now > before:
        return both
    return both._replace(
        outcome=known.outcome,
        turn=known.turn or read.turn,
        answer=known.answer,
        detail=known.detail,
        gap=known.gap,
    )
