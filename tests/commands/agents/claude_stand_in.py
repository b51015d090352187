"""A stand-in for the executable of Claude Code: speaks its protocol, follows a scenario.

It is no model and asks no service. The tests write it into an executable file and name that by
``MIND_CLAUDE``. Everything it knows and keeps lies in ``CLAUDE_CONFIG_DIR``:

- ``scenario.json``: for each prompt, the steps of its turn, see ``Turn.step``
- ``WORKING-DIRECTORY/SESSION.json``: a conversation, and what it has taken so far
- ``started.json``: how it was started the last time, and what it was told
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

Json = dict[str, Any]

MODEL = "claude-stand-in"
CALL = {"inputTokens": 100, "outputTokens": 20}
CACHED = {"cacheReadInputTokens": 40, "cacheCreationInputTokens": 7}
COST = 0.01
HOME = Path(os.environ["CLAUDE_CONFIG_DIR"])
SCENARIO = json.loads((HOME / "scenario.json").read_text())
SWITCHES = {"--verbose", "--include-partial-messages", "--strict-mcp-config"}
OPTIONS = {
    *("--output-format", "--input-format", "--system-prompt-file", "--tools", "--allowedTools"),
    *("--permission-mode", "--permission-prompt-tool", "--setting-sources", "--mcp-config"),
    *("--resume", "--session-id", "--model", "--max-turns", "--max-budget-usd"),
}


def options(words: list[str]) -> Json:
    """The flags, as the real one reads them."""
    given: Json = {}
    words = list(words)
    while words:
        name, equals, value = words.pop(0).partition("=")
        if name in SWITCHES:
            given[name] = True
        elif name in OPTIONS:
            given[name] = value if equals else words.pop(0)
        else:
            end(1, f"error: unknown option '{name}'")
    return given


def end(code: int, complaint: str = "") -> NoReturn:
    """End, with a complaint on stderr."""
    if complaint:
        print(complaint, file=sys.stderr, flush=True)
    sys.exit(code)


def say(message: Json) -> None:
    """Say one message."""
    print(json.dumps(message), flush=True)


class Conversation:
    """What is kept of a conversation."""

    def __init__(self, given: Json) -> None:
        resumed = given.get("--resume")
        self.id = resumed or given["--session-id"]
        self.file = HOME / str(Path.cwd()).replace("/", "-") / f"{self.id}.json"
        self.prompts: list[str] = []
        self.calls = 0
        if resumed and not self.file.exists():
            complaint = f"No conversation found with session ID: {self.id}"
            print(complaint, file=sys.stderr, flush=True)
            say(result(self, "error_during_execution", is_error=True, errors=[complaint]))
            end(1)
        if not resumed and self.file.exists():
            end(1, f"Error: Session ID {self.id} is already in use.")
        if resumed:
            kept = json.loads(self.file.read_text())
            self.prompts, self.calls = kept["prompts"], kept["calls"]
        if SCENARIO.get("old"):
            self.calls = 0

    def keep(self) -> None:
        """Write it."""
        self.file.parent.mkdir(exist_ok=True)
        self.file.write_text(json.dumps({"prompts": self.prompts, "calls": self.calls}))

    def models(self) -> Json:
        """What it has taken, by model."""
        took: Json = {name: each * self.calls for name, each in {**CALL, **CACHED}.items()}
        return {MODEL: {**took, "contextWindow": 200_000}} if self.calls else {}


def result(
    conversation: "Conversation", subtype: str, calls: int = 0, turns: int = 0, **more: Any
) -> Json:
    """The last message of a turn: the usage is the turn's, the cost the conversation's."""
    return {
        "type": "result",
        "subtype": subtype,
        "is_error": False,
        "duration_ms": 1,
        "duration_api_ms": 1,
        "num_turns": turns,
        "session_id": conversation.id,
        "stop_reason": None,
        "total_cost_usd": COST * conversation.calls,
        "usage": usage(calls),
        "modelUsage": conversation.models(),
        **more,
    }


def usage(calls: int = 1) -> Json:
    """What calls took, in the words of the service."""
    return {
        "input_tokens": 100 * calls,
        "output_tokens": 20 * calls,
        "cache_read_input_tokens": 40 * calls,
        "cache_creation_input_tokens": 7 * calls,
    }


class Host:
    """Whoever started it: answers what it asks, and asks back."""

    def __init__(self) -> None:
        self.asked: list[Json] = []
        self.number = 0

    def read(self) -> Json:
        """The next message; ends when there is none."""
        line = sys.stdin.readline()
        if not line:
            end(0)
        return dict(json.loads(line))

    def ask(self, request: Json) -> Json:
        """Ask it something, and wait for the answer."""
        self.number += 1
        name = f"stand-in-{self.number}"
        say({"type": "control_request", "request_id": name, "request": request})
        while True:
            message = self.read()
            if message["type"] == "control_request":
                self.asked.append(message)
            elif message["response"]["request_id"] == name:
                return dict(message["response"].get("response") or {})

    def wait_for_interrupt(self) -> None:
        """Do nothing until it wants no more."""
        subtype = ""
        while subtype != "interrupt":
            message = self.asked.pop(0) if self.asked else self.read()
            subtype = message["request"]["subtype"]
            self.reply(message, {})

    def rpc(self, method: str, params: Json, *, identified: bool = True) -> Json:
        """Ask its tool server something."""
        message: Json = {"jsonrpc": "2.0", "method": method, "params": params}
        if identified:
            message["id"] = self.number
        request = {"subtype": "mcp_message", "server_name": "mind", "message": message}
        return dict(self.ask(request)["mcp_response"])

    def reply(self, message: Json, response: Json | str) -> None:
        """Answer a request of its."""
        kind = "error" if isinstance(response, str) else "success"
        field = "error" if isinstance(response, str) else "response"
        about = {"subtype": kind, "request_id": message["request_id"], field: response}
        say({"type": "control_response", "response": about})


class Turn:
    """One turn."""

    def __init__(self, host: Host, conversation: Conversation, given: Json) -> None:
        self.host, self.conversation, self.given = host, conversation, given
        self.calls, self.text, self.tool = 0, "", 0

    def system(self, subtype: str, **more: Any) -> None:
        """Say something that the model did not."""
        say({"type": "system", "subtype": subtype, "session_id": self.conversation.id, **more})

    def run(self, steps: list[Json]) -> None:
        """Follow the steps, unless a bound is reached."""
        end_: Json = {}
        for place, step in enumerate(steps):
            end_ = self.step(step) or {}
            if end_.get("is_error"):
                break
            more = place + 1 < len(steps)
            if more and self.calls >= int(self.given.get("--max-turns", 1000)):
                end_ = {"subtype": "error_max_turns", "is_error": True, "errors": ["Reached"]}
                break
            if COST * self.calls > float(self.given.get("--max-budget-usd", 1000)):
                end_ = {"subtype": "error_max_budget_usd", "is_error": True, "errors": ["Reached"]}
                end_["stop_reason"] = "tool_use" if more else "end_turn"
                break
        about = {"stop_reason": "end_turn", "result": self.text, **end_}
        subtype = about.pop("subtype", "success")
        self.conversation.keep()
        say(result(self.conversation, subtype, self.calls, self.calls + self.tool, **about))

    def step(self, step: Json) -> Json | None:
        """Do one step; what it changes in the result."""
        if "call" in step:
            self.call(step)
        elif "compact" in step:
            about: Json = {"trigger": "auto", "pre_tokens": step["compact"]}
            self.system("compact_boundary", uuid="u", compact_metadata=about)
        elif "retry" in step:
            self.system("api_retry", uuid="u", attempt=1, retry_delay_ms=step["retry"])
        elif "trouble" in step:
            self.assistant("<synthetic>", {"type": "text", "text": step["text"]}, step["trouble"])
            return {"is_error": True, "result": step["text"]}
        elif "until" in step:
            self.host.wait_for_interrupt()
            return {"subtype": "error_during_execution", "is_error": True, "errors": ["[aborted]"]}
        elif "hang" in step:
            self.hang(step["hang"])
        elif "die" in step:
            if step.get("heirs"):
                (HOME / "pids").write_text(str(subprocess.Popen(["sleep", "600"]).pid))
            if step.get("broken"):
                print('{"type": "assis', end="", flush=True)
            end(step["die"], step.get("complaint", ""))
        else:
            print(step["garbage"], flush=True)
        return None

    def call(self, step: Json) -> None:
        """A call of the model: text in pieces (or whole), then perhaps a tool."""
        self.calls += 1
        self.conversation.calls += 1
        pieces, whole = step["call"], step.get("whole", False)
        start = {"id": f"msg_{self.conversation.calls}", "model": MODEL, "usage": usage()}
        if not whole:
            self.event("message_start", message=start)
        if pieces:
            if not whole:
                self.event("content_block_start", index=0, content_block={"type": "text"})
                for piece in pieces:
                    delta = {"type": "text_delta", "text": piece}
                    self.event("content_block_delta", index=0, delta=delta)
            self.text = "".join(pieces)
            self.assistant(MODEL, {"type": "text", "text": self.text})
        if "use" in step:
            self.tool += 1
            about = {"type": "tool_use", "id": f"toolu_{self.tool}", "name": step["use"]}
            self.assistant(MODEL, {**about, "input": step["input"]})
        if not whole:
            why = {"stop_reason": "tool_use" if "use" in step else "end_turn"}
            self.event("message_delta", delta=why, usage={"output_tokens": 20})
        if "use" in step:
            content, failed = self.used(step)
            block: Json = {"type": "tool_result", "tool_use_id": f"toolu_{self.tool}"}
            block |= {"content": content, "is_error": failed}
            self.message("user", {"role": "user", "content": [block]})

    def used(self, step: Json) -> tuple[Any, bool]:
        """What comes of a tool, and whether it failed."""
        name, given = step["use"], step["input"]
        allowed = self.given.get("--allowedTools", "").split(",")
        if name.startswith("mcp__mind__") and name in allowed:
            about = {"name": name.removeprefix("mcp__mind__"), "arguments": given}
            about["_meta"] = {"claudecode/toolUseId": f"toolu_{self.tool}"}
            answer = self.host.rpc("tools/call", about)["result"]
            return answer["content"], answer.get("isError", False)
        if name not in self.given["--tools"].split(","):
            return f"<tool_use_error>Error: No such tool available: {name}.</tool_use_error>", True
        if name not in allowed:
            request = {"subtype": "can_use_tool", "tool_name": name, "input": given}
            answer = self.host.ask({**request, "tool_use_id": f"toolu_{self.tool}"})
            if answer["behavior"] != "allow":
                return answer["message"], True
        return f"{name} has done it", False

    def event(self, kind: str, **more: Any) -> None:
        """A piece."""
        self.message("stream_event", None, event={"type": kind, **more})

    def assistant(self, model: str, block: Json, error: str | None = None) -> None:
        """A whole block of the model's."""
        message: Json = {"id": f"msg_{self.conversation.calls}", "model": model, "content": [block]}
        self.message("assistant", {**message, "usage": usage()}, error=error)

    def message(self, kind: str, message: Json | None, **more: Any) -> None:
        """A message of the conversation."""
        about = {"type": kind, "uuid": "u", "session_id": self.conversation.id, **more}
        say({**about, "message": message, "parent_tool_use_id": None})

    def hang(self, how: str) -> NoReturn:
        """Run a command that does not end, in a session of its own, and wait for it."""
        if how == "deaf":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        command = subprocess.Popen(["sleep", "600"], start_new_session=True)
        (HOME / "pids").write_text(f"{os.getpid()} {command.pid}")
        self.event("content_block_delta", index=0, delta={"type": "text_delta", "text": "…"})
        while True:
            signal.pause()


def main() -> NoReturn:
    """Serve one host until it says nothing more."""
    given = options(sys.argv[1:])
    started = {"flags": given, "env": sorted(os.environ), "cwd": str(Path.cwd())}
    started["instructions"] = Path(given["--system-prompt-file"]).read_text()
    (HOME / "started.json").write_text(json.dumps(started))
    conversation, host = Conversation(given), Host()
    while True:
        message = host.asked.pop(0) if host.asked else host.read()
        if message["type"] == "user":
            prompt = message["message"]["content"]
            conversation.prompts.append(prompt)
            conversation.keep()
            turn = Turn(host, conversation, given)
            turn.system("init", model=MODEL, mcp_servers=[], cwd=str(Path.cwd()))
            turn.run(SCENARIO["turns"][prompt])
            continue
        subtype = message["request"]["subtype"]
        if subtype == "initialize":
            if json.loads(given["--mcp-config"])["mcpServers"]:
                version = {"protocolVersion": "2025-06-18", "capabilities": {}}
                host.rpc("initialize", {**version, "clientInfo": {"name": "s", "version": "1"}})
                host.rpc("notifications/initialized", {}, identified=False)
                started["tools"] = host.rpc("tools/list", {})["result"]["tools"]
                (HOME / "started.json").write_text(json.dumps(started))
            host.reply(message, {"commands": []})
        elif subtype == "get_usage" and not SCENARIO.get("old"):
            took: Json = {"total_cost_usd": COST * conversation.calls}
            took["model_usage"] = conversation.models()
            host.reply(message, {"session": took})
        else:
            host.reply(message, f"Unsupported control request subtype: {subtype}")


if __name__ == "__main__":
    main()
