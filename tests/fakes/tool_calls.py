"""What a provider on loopback does for agents: replies that call tools, and streams that go on."""

import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.provider import Answer, Exchange


@dataclass(frozen=True)
class Calls(Answer):
    """A streamed reply that calls tools, in chat completions or as Anthropic has it."""

    text: str = ""
    calls: tuple[tuple[str, str, str], ...] = ()
    """Id, name and arguments of each."""
    cached: int = 0
    """Of the tokens in, those that came from a cache."""

    def __call__(self, exchange: Exchange) -> None:
        """Behave."""
        if not exchange.path.endswith("/messages"):
            super().__call__(exchange)
            return
        exchange.begin_stream()
        for event in self.anthropic():
            data = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
            exchange.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        exchange.end_stream()

    def usage(self) -> dict[str, Any]:
        """What it took."""
        return {**super().usage(), "prompt_tokens_details": {"cached_tokens": self.cached}}

    def events(self) -> Iterator[dict[str, Any]]:
        """The chunks of chat completions; arguments come in two pieces."""
        head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": self.model}

        def chunk(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
            return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

        for piece in self.text.split(" ") if self.text else ():
            yield chunk({"role": "assistant", "content": f"{piece} "})
        for index, (called, name, arguments) in enumerate(self.calls):
            function = {"name": name, "arguments": arguments[:3]}
            whole = {"index": index, "id": called, "type": "function", "function": function}
            yield chunk({"role": "assistant", "tool_calls": [whole]})
            rest = {"index": index, "function": {"arguments": arguments[3:]}}
            yield chunk({"tool_calls": [rest]})
        yield chunk({}, "tool_calls" if self.calls else "stop")
        yield {**head, "choices": [], "usage": self.usage()}

    def anthropic(self) -> Iterator[dict[str, Any]]:
        """The events of Anthropic's messages."""
        usage = {
            "input_tokens": self.tokens_in - self.cached,
            "output_tokens": 1,
            "cache_read_input_tokens": self.cached,
            "cache_creation_input_tokens": 0,
        }
        message = {"id": "m1", "type": "message", "role": "assistant", "model": self.model}
        yield {
            "type": "message_start",
            "message": {**message, "content": [], "stop_reason": None, "usage": usage},
        }
        blocks: list[tuple[dict[str, Any], dict[str, Any]]] = []
        if self.text:
            delta = {"type": "text_delta", "text": self.text}
            blocks.append(({"type": "text", "text": ""}, delta))
        for called, name, arguments in self.calls:
            block = {"type": "tool_use", "id": called, "name": name, "input": {}}
            blocks.append((block, {"type": "input_json_delta", "partial_json": arguments}))
        for index, (block, delta) in enumerate(blocks):
            yield {"type": "content_block_start", "index": index, "content_block": block}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        stop = "tool_use" if self.calls else "end_turn"
        yield {
            "type": "message_delta",
            "delta": {"stop_reason": stop},
            "usage": {"output_tokens": self.tokens_out},
        }
        yield {"type": "message_stop"}


@dataclass(frozen=True)
class Endless:
    """A stream that goes on until whoever listens hangs up."""

    hung_up: threading.Event = field(default_factory=threading.Event)

    def __call__(self, exchange: Exchange) -> None:
        """Behave."""
        delta = {"role": "assistant", "content": "and "}
        head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        event = {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        exchange.begin_stream()
        try:
            while not exchange.server.released.wait(0.01):
                exchange.event(event)
        except OSError:
            self.hung_up.set()
