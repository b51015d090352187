"""How each provider is spoken to, through pydantic-ai. Importing this takes a second: import late.

The client libraries come with a provider's own retries, which are off, and with its price list.
"""

import ssl
import warnings
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from typing import Any, cast

import httpx
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    SystemPromptPart,
    TextPart,
    TextPartDelta,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.settings import ModelSettings

from commands.minds.mind import Request
from commands.minds.names import Service

Opening = Callable[[], AbstractAsyncContextManager[Model[Any]]]
"""Opens a model on a client of its own, which is closed at the end."""


def opening(service: Service, model: str, url: str, key: str, timeout: float) -> Opening:
    """Import what a provider needs, and tell how its model is opened.

    Args:
        service: whose protocol is spoken.
        model: the provider's name of the model.
        url: the base URL of the API.
        key: the API key; may be empty where none is needed.
        timeout: seconds of silence after which the client gives up.
    """
    # some models take no temperature or seed; a terminal is no place to say so on each request
    warnings.filterwarnings("ignore", "Sampling parameters", UserWarning)
    if service == "anthropic":
        return _anthropic(model, url, key, timeout)
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient  # noqa: PLC0415 - only what is needed

    make = _chat_model(service, model)

    @asynccontextmanager
    async def opened() -> AsyncIterator[Model[Any]]:
        # servers that need no key still want the header
        http = DefaultAsyncHttpxClient(verify=_trusted())
        async with AsyncOpenAI(
            api_key=key or "none", base_url=url, max_retries=0, timeout=timeout, http_client=http
        ) as client:
            yield make(client)

    return opened


@cache
def _trusted() -> ssl.SSLContext:
    """Whom to trust, read once: a client that reads it anew takes longer than many a request."""
    return httpx.create_ssl_context()


def _chat_model(service: Service, model: str) -> Callable[[Any], Model[Any]]:
    """How a model that speaks chat completions is made from a client."""
    from pydantic_ai.models.ollama import OllamaModel  # noqa: PLC0415 - they import openai
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415
    from pydantic_ai.models.openrouter import OpenRouterModel  # noqa: PLC0415
    from pydantic_ai.providers.ollama import OllamaProvider  # noqa: PLC0415
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415
    from pydantic_ai.providers.openrouter import OpenRouterProvider  # noqa: PLC0415

    # a stream that does not say why it ended was cut off
    strict = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
    # servers other than OpenAI's know the older word for the most tokens of a reply
    plain = OpenAIModelProfile(**strict, openai_chat_supports_max_completion_tokens=False)
    match service:
        case "openrouter":
            return lambda client: OpenRouterModel(
                model, provider=OpenRouterProvider(openai_client=client), profile=strict
            )
        case "ollama":
            return lambda client: OllamaModel(
                model, provider=OllamaProvider(openai_client=client), profile=plain
            )
        case _:
            profile = plain if service == "url" else strict
            return lambda client: OpenAIChatModel(
                model, provider=OpenAIProvider(openai_client=client), profile=profile
            )


def _anthropic(model: str, url: str, key: str, timeout: float) -> Opening:
    from anthropic import (  # noqa: PLC0415 - only what is needed
        AsyncAnthropic,
        DefaultAsyncHttpxClient,
    )
    from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415
    from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415

    @asynccontextmanager
    async def opened() -> AsyncIterator[Model[Any]]:
        http = DefaultAsyncHttpxClient(verify=_trusted())
        async with AsyncAnthropic(
            api_key=key, base_url=url, max_retries=0, timeout=timeout, http_client=http
        ) as client:
            yield AnthropicModel(model, provider=AnthropicProvider(anthropic_client=client))

    return opened


def messages(request: Request) -> list[ModelMessage]:
    """The request as turns: system, examples, prompt."""
    turns: list[ModelMessage] = [ModelRequest(parts=[SystemPromptPart(request.system)])]
    for prompt, reply in request.examples:
        turns.append(ModelRequest(parts=[UserPromptPart(prompt)]))
        turns.append(ModelResponse(parts=[TextPart(reply)]))
    turns.append(ModelRequest(parts=[UserPromptPart(request.prompt)]))
    return turns


def settings(service: Service, request: Request) -> ModelSettings:
    """How far the reply may go, in the words that this provider understands."""
    chosen: dict[str, Any] = {"timeout": request.timeout, "max_tokens": request.max_tokens}
    if request.temperature is not None:
        chosen["temperature"] = request.temperature
    if service != "anthropic":
        chosen["seed"] = request.seed
    if service == "openrouter":
        chosen["openrouter_usage"] = {"include": True}
    return cast("ModelSettings", chosen)


def form(model: Model[Any], schema: Mapping[str, Any] | None) -> ModelRequestParameters:
    """What the reply is held to: a JSON schema, where there is one and the model can be held."""
    if schema is None or not model.profile.get("supports_json_schema_output", False):
        return ModelRequestParameters()
    held = OutputObjectDefinition(json_schema=dict(schema), name="reply", strict=True)
    return ModelRequestParameters(output_mode="native", output_object=held)


async def ask(
    model: Model[Any],
    turns: list[ModelMessage],
    chosen: ModelSettings,
    held: ModelRequestParameters,
) -> ModelResponse:
    """One request, answered as a whole."""
    return await model_request(model, turns, model_settings=chosen, model_request_parameters=held)


async def listen(
    model: Model[Any],
    turns: list[ModelMessage],
    chosen: ModelSettings,
    held: ModelRequestParameters,
    hear: Callable[[str], bool],
) -> ModelResponse:
    """One request, answered piece by piece until its end or until ``hear`` returns False."""
    asking = model_request_stream(
        model, turns, model_settings=chosen, model_request_parameters=held
    )
    async with asking as stream:
        async for event in stream:
            piece = text_of(event)
            if piece and not hear(piece):
                break
        return stream.get()


def text_of(event: object) -> str:
    """The text that an event of the stream adds; thinking and the rest add none."""
    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        return event.part.content
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
        return event.delta.content_delta
    return ""


def cost(service: Service, model: str, response: ModelResponse) -> float | None:
    """US dollars: what the provider charged, else its list price, else None."""
    charged = (response.provider_details or {}).get("cost")
    if isinstance(charged, int | float):
        return float(charged)
    match service:
        case "ollama":
            return None if model.endswith("-cloud") else 0.0
        case "url":  # a model of the same name has a price elsewhere, which says nothing here
            return None
        case "openrouter" if model.endswith(":free"):
            return 0.0
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):  # a model without a known price
        return None
