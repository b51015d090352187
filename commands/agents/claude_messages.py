"""What Claude Code says in a turn, as what a backend hears.

A message of the model comes in pieces first, then whole, one block at a time; the result comes
last. Its costs and tokens by model are those of the whole conversation, earlier turns included;
so are they before the turn, and what the turn took is the difference.
"""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from claude_agent_sdk import (
    AssistantMessage,
    Message,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
)

from commands.agents.backend import (
    Called,
    Compacted,
    Heard,
    Opened,
    Text,
    ToolBegan,
    ToolEnded,
    Warned,
)

SYNTHETIC = "<synthetic>"
"""The model that Claude Code names where it speaks itself."""

BETWEEN = "\n\n"
"""Stands in an answer between what was said before tools were used and after."""

SERVER = "mind"
"""The name under which Claude Code knows our tools."""

PREFIX = f"mcp__{SERVER}__"
"""How it calls them."""


class Took(NamedTuple):
    """What a conversation has taken so far."""

    cost_usd: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    cache_read: int = 0
    cache_creation: int = 0

    @classmethod
    def of(cls, cost: float, models: Mapping[str, Any]) -> "Took":
        """From a cost, and the tokens of each model."""
        each = [model for model in models.values() if isinstance(model, dict)]
        return cls(
            cost,
            sum(model.get("inputTokens") or 0 for model in each),
            sum(model.get("outputTokens") or 0 for model in each),
            sum(model.get("cacheReadInputTokens") or 0 for model in each),
            sum(model.get("cacheCreationInputTokens") or 0 for model in each),
        )

    @property
    def tokens(self) -> tuple[int, int, int, int]:
        """In, out, read from a cache and put into one."""
        return self[1:]


def took_so_far(usage: Mapping[str, Any] | None) -> Took | None:
    """What a conversation had taken before a turn, as Claude Code says; None if it does not."""
    session = (usage or {}).get("session")
    if not isinstance(session, dict) or "total_cost_usd" not in session:
        return None
    return Took.of(session["total_cost_usd"] or 0.0, session.get("model_usage") or {})


class Listener:
    """One turn, message by message: says what happens, and keeps what comes of it."""

    def __init__(
        self, hear: Callable[[Heard], None], session: str | None, before: Took | None
    ) -> None:
        """Nothing is heard yet.

        Args:
            hear: told what happens.
            session: the name of a new conversation, which is said once there is one to resume;
                None where it was said in an earlier turn.
            before: what the conversation had taken; None if nobody knows.
        """
        self._hear, self._unsaid, self.before = hear, session, before
        self.result: ResultMessage | None = None
        self.trouble: str | None = None
        """The kind of error that Claude Code itself reported in place of an answer."""
        self.model: str | None = None
        self._text: list[str] = []
        self._streamed = ""
        """What arrived in pieces of a block that has not arrived whole."""
        self._gap = False
        self._calls = 0
        self._running = Took()
        """By what was streamed, for where no result comes."""
        self._context: int | None = None
        self._tools: dict[str, tuple[str, str, float]] = {}
        self._ours: dict[str, tuple[str, Any]] = {}
        self._message: str | None = None
        """The id of the newest message of the model."""
        self._told = False
        self._alive_at = 0.0

    @property
    def text(self) -> str:
        """The answer as far as it has arrived."""
        return "".join(self._text)

    @property
    def tokens(self) -> int:
        """What the turn has taken so far, everything counted."""
        return sum(self._running.tokens)

    # before anything comes of a message

    def look(self, message: Mapping[str, Any]) -> None:
        """Note which tools of ours the model calls, before they are used."""
        if message.get("type") != "assistant":
            return
        for block in (message.get("message") or {}).get("content") or ():
            if isinstance(block, dict) and block.get("type") == "tool_use":
                name = str(block.get("name"))
                if name.startswith(PREFIX):
                    self._ours[str(block["id"])] = (name.removeprefix(PREFIX), block.get("input"))

    def call_of(self, name: str, arguments: Mapping[str, Any]) -> str | None:
        """The id that the model gave to a call of one of our tools that is now to be used."""
        for call, wanted in self._ours.items():
            if wanted == (name, arguments):
                del self._ours[call]
                return call
        return None

    # messages

    def take(self, message: Message) -> bool:
        """Take one message; whether the model is called again after it."""
        match message:
            case StreamEvent(event=event, parent_tool_use_id=None):
                self._piece(event)
            case AssistantMessage(model=model) if model == SYNTHETIC:
                self.trouble = message.error or "unknown"
            case AssistantMessage():
                self._said(message)
            case UserMessage(content=list(blocks)):
                results = [block for block in blocks if isinstance(block, ToolResultBlock)]
                for block in results:
                    self._tool_ended(block)
                return bool(results)
            case SystemMessage(subtype=subtype, data=data):
                self._system(subtype, data)
            case ResultMessage():
                self.result = message
        return False

    def _piece(self, event: Mapping[str, Any]) -> None:
        match event.get("type"):
            case "message_start":
                message = event.get("message") or {}
                self._call_begins(message.get("id"), message.get("usage") or {})
            case "content_block_start":
                self._streamed = ""
            case "content_block_delta":
                delta = event.get("delta") or {}
                if delta.get("type") == "text_delta":
                    self._streamed += delta.get("text", "")
                    self._say(delta.get("text", ""))
                else:
                    self._alive()
            case "message_delta":
                out = (event.get("usage") or {}).get("output_tokens") or 0
                so_far = self._running
                self._running = so_far._replace(tokens_out=so_far.tokens_out + out)

    def _call_begins(self, message: str | None, usage: Mapping[str, Any]) -> None:
        self._open()
        self._message, self._streamed, self._gap = message, "", bool(self._text)
        self._calls += 1
        given = usage.get("input_tokens") or 0
        read = usage.get("cache_read_input_tokens") or 0
        created = usage.get("cache_creation_input_tokens") or 0
        self._context = given + read + created or self._context
        cost, tokens_in, tokens_out, reads, creations = self._running
        self._running = Took(cost, tokens_in + given, tokens_out, reads + read, creations + created)

    def _said(self, message: AssistantMessage) -> None:
        mine = message.parent_tool_use_id is None
        if mine:
            if message.message_id != self._message:  # it did not come in pieces
                self._call_begins(message.message_id, message.usage or {})
            self.model = message.model
        for block in message.content:
            match block:
                case TextBlock(text=text) if mine:
                    # where it came in pieces, only what they lacked is new
                    self._say(text.removeprefix(self._streamed))
                    self._streamed = ""
                case ToolUseBlock(id=call, name=name, input=given):
                    if not name.startswith(PREFIX):
                        arguments = json.dumps(given, ensure_ascii=False)
                        self._tools[call] = (name, arguments, time.monotonic())
                        self._hear(ToolBegan(call, name, arguments))

    def _tool_ended(self, block: ToolResultBlock) -> None:
        call, result, failed = block.tool_use_id, _plain(block.content), bool(block.is_error)
        if call in self._ours:  # it was refused before it came to us
            name, given = self._ours.pop(call)
            arguments = json.dumps(given, ensure_ascii=False)
            self._hear(ToolBegan(call, name, arguments))
            self._hear(ToolEnded(call, name, arguments, result, failed))
        elif call in self._tools:
            name, arguments, began = self._tools.pop(call)
            latency = round((time.monotonic() - began) * 1000)
            self._hear(ToolEnded(call, name, arguments, result, failed, latency))

    def _system(self, subtype: str, data: Mapping[str, Any]) -> None:
        match subtype:
            case "init":
                self.model = data.get("model") or self.model
                for server in data.get("mcp_servers") or ():
                    if server.get("name") == SERVER and server.get("status") == "failed":
                        self._hear(Warned("Claude Code could not be given the tools."))
            case "compact_boundary":
                about = data.get("compact_metadata") or {}
                trigger = str(about.get("trigger", "auto"))
                self._hear(Compacted(int(about.get("pre_tokens") or 0), trigger, 0, ""))
            case "api_retry":
                pause = (data.get("retry_delay_ms") or 0) / 1000
                self._hear(Warned(f"The model did not answer; it is asked again in {pause:.0f} s."))

    # what it took

    def over(self) -> None:
        """Say what the turn took, once; call it at the end, whatever the end is."""
        if self._told:
            return
        self._told = True
        result = self.result
        took, cost = self._took()
        if not self._calls and not any(took.tokens):
            return
        calls = self._calls or (result.num_turns if result is not None else 1)
        self._hear(
            Called(
                calls=calls,
                tokens_in=took.tokens_in,
                tokens_out=took.tokens_out,
                cache_read=took.cache_read,
                cache_creation=took.cache_creation,
                cost_usd=cost,
                context_tokens=self._context,
                context_window=self._window(),
            )
        )

    def _took(self) -> tuple[Took, float | None]:
        result = self.result
        if result is None:
            return self._running, None
        now = Took.of(result.total_cost_usd or 0.0, result.model_usage or {})
        known = result.total_cost_usd is not None
        if self.before is not None:
            # one that did not count on begins at nothing
            start = self.before if now >= self.before else Took()
            each = [
                max(0, after - was) for after, was in zip(now.tokens, start.tokens, strict=True)
            ]
            cost = round(max(0.0, now.cost_usd - start.cost_usd), 9)
            return Took(cost, *each), cost if known else None
        usage = result.usage or {}
        turn = Took(
            0.0,
            usage.get("input_tokens") or 0,
            usage.get("output_tokens") or 0,
            usage.get("cache_read_input_tokens") or 0,
            usage.get("cache_creation_input_tokens") or 0,
        )
        # the cost is this turn's where the tokens by model are
        return turn, now.cost_usd if known and now.tokens == turn.tokens else None

    def _window(self) -> int | None:
        models = (self.result.model_usage if self.result is not None else None) or {}
        if len(models) == 1:
            return next(iter(models.values())).get("contextWindow") or None
        for name, model in models.items():
            if self.model in {name, model.get("canonicalModel")}:
                return model.get("contextWindow") or None
        return None

    # text

    def _open(self) -> None:
        """There is something to resume now."""
        if self._unsaid is not None:
            self._hear(Opened(self._unsaid))
            self._unsaid = None

    def _alive(self) -> None:
        """Say, once a second, that something arrives, although it is no text."""
        now = time.monotonic()
        if now - self._alive_at >= 1:
            self._alive_at = now
            self._hear(Text(""))

    def _say(self, text: str) -> None:
        if not text:
            return
        pieces = [BETWEEN, text] if self._gap else [text]
        self._gap = False
        for piece in pieces:
            self._text.append(piece)
            self._hear(Text(piece))


def _plain(content: str | list[dict[str, Any]] | None) -> str:
    """The text of what a tool said."""
    if content is None or isinstance(content, str):
        return content or ""
    texts = (
        block["text"] if block.get("type") == "text" else f"[{block.get('type')}]"
        for block in content
    )
    return "\n".join(texts)
