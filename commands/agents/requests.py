"""What an agent's model is shown, in the words of pydantic-ai. Takes seconds to import."""

from collections.abc import Callable, Iterator
from typing import Any, cast

from genai_prices.data_snapshot import get_snapshot
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from commands.agents.backend import Call, Spoken
from commands.agents.model import Shown, Step
from commands.agents.words import answered, introduced, object_in, told
from commands.minds.names import Service
from commands.minds.services import text_of


async def listen(
    model: Model[Any], service: Service, shown: Shown, take: Callable[[str, int], bool]
) -> ModelResponse:
    """One request, answered piece by piece.

    Args:
        model: an open model.
        service: whose protocol it speaks.
        shown: what it is shown.
        take: called with the text that each piece adds, which may be none, and the size of the
            piece; False ends the request.
    """
    asking = model_request_stream(
        model,
        messages(shown),
        model_settings=settings(service, shown),
        model_request_parameters=parameters(shown),
    )
    async with asking as stream:
        async for event in stream:
            if not take(text_of(event), _size(event)):
                break
        return stream.get()


def messages(shown: Shown) -> list[ModelMessage]:
    """The conversation as turns of the chat: system, what was said, and what is said now."""
    with_tools = bool(shown.tools)
    prompts = introduced(shown)
    turns: list[ModelMessage] = [ModelRequest(parts=[SystemPromptPart(shown.instructions)])]
    for turn, prompt in zip(shown.turns, prompts, strict=False):
        turns.append(ModelRequest(parts=[UserPromptPart(prompt)]))
        turns.extend(_turn(turn, with_tools=with_tools))
    turns.append(ModelRequest(parts=[UserPromptPart(prompts[-1])]))
    for step in shown.steps:
        turns.extend(_step(step))
    return turns


def _turn(turn: Spoken, *, with_tools: bool) -> Iterator[ModelMessage]:
    """What was done and said; without tools to speak of, as text alone."""
    if not with_tools:
        yield ModelResponse(parts=[TextPart(told(turn))])
        return
    for number, call in enumerate(turn.calls, 1):
        # the ids that a provider gave need not be unique beyond a turn
        yield from _call(call, f"turn-{turn.turn}-{number}")
    yield ModelResponse(parts=[TextPart(answered(turn))])


def _call(call: Call, called: str) -> Iterator[ModelMessage]:
    yield ModelResponse(parts=[ToolCallPart(call.name, object_in(call.arguments), called)])
    yield ModelRequest(parts=[_result(call.name, call.result, called, failed=call.failed)])


def _step(step: Step) -> Iterator[ModelMessage]:
    said = step.said
    yield cast("ModelResponse", said.raw)
    yield ModelRequest(
        parts=[
            _result(wanted.name, outcome.text, wanted.id, failed=outcome.failed)
            for wanted, outcome in zip(said.wanted, step.outcomes, strict=True)
        ]
    )


def _result(name: str, text: str, called: str, *, failed: bool) -> ToolReturnPart:
    return ToolReturnPart(name, text, called, outcome="failed" if failed else "success")


def parameters(shown: Shown) -> ModelRequestParameters:
    """The tools that the model may call."""
    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(
                name=tool.name,
                description=tool.description,
                parameters_json_schema=dict(tool.parameters),
            )
            for tool in shown.tools
        ]
    )


def settings(service: Service, shown: Shown) -> ModelSettings:
    """How far the reply may go, in the words that this provider understands."""
    chosen: dict[str, Any] = {"max_tokens": shown.most_tokens}
    if service == "openrouter":
        chosen["openrouter_usage"] = {"include": True}
    if service == "anthropic":
        # each call is shown all that the one before was shown, and more; others do so unasked
        chosen["anthropic_cache"] = True
        chosen["anthropic_cache_instructions"] = True
    return cast("ModelSettings", chosen)


def window(service: Service, model: str) -> int | None:
    """What a model can be shown, as far as the price list knows; None where it does not."""
    if service in {"ollama", "url"}:
        return None  # a model of the same name elsewhere says nothing about this one
    try:
        _, info = get_snapshot().find_provider_model(model, None, service, None)
    except LookupError:
        return None
    return info.context_window


def _size(event: object) -> int:
    """How many characters a piece has, whatever they are: a runaway is one in its thoughts, too."""
    match event:
        case PartStartEvent(part=TextPart(content=text) | ThinkingPart(content=text)):
            return len(text)
        case PartStartEvent(part=ToolCallPart(args=str(text))):
            return len(text)
        case PartDeltaEvent(delta=ToolCallPartDelta(args_delta=str(text))):
            return len(text)
        case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=str(text))):
            return len(text)
        case _:
            return len(text_of(event))
