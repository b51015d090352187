"""From a model name to the mind behind it. What is missing is said before anything is asked."""

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from commands.minds import weights
from commands.minds.hosted import HostedMind
from commands.minds.local import LocalMind, context_of, threads_of
from commands.minds.mind import Mind, MindUnavailable
from commands.minds.names import ModelName, Service, check_name
from commands.minds.script import read_script


class Way(NamedTuple):
    """How a service is reached."""

    key_variable: str
    url_variable: str
    url: str
    package: str = "openai"
    """What has to be installed beside pydantic_ai."""


WAYS: Mapping[Service, Way] = {
    "openai": Way("OPENAI_API_KEY", "OPENAI_BASE_URL", "https://api.openai.com/v1"),
    "openrouter": Way("OPENROUTER_API_KEY", "OPENROUTER_BASE_URL", "https://openrouter.ai/api/v1"),
    "anthropic": Way(
        "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "https://api.anthropic.com", "anthropic"
    ),
}


def make_mind(name: str, *, env: Mapping[str, str]) -> Mind:
    """The mind of a name; heavy libraries are loaded at its first reply.

    Args:
        name: one of the forms in :data:`commands.minds.names.FORMS`.
        env: the environment; keys are read from here and nowhere else.

    Raises:
        BadSetting: the name has none of the forms.
        MindUnavailable: a key, a package or the weights are missing.
    """
    parsed = check_name(name)
    match parsed.provider:
        case "local":
            return _local(parsed, env)
        case "script":
            return read_script(name, Path(parsed.model).expanduser())
        case "ollama":
            url = ollama_url(env.get("OLLAMA_HOST", ""))
            return _hosted(parsed, "ollama", Way("OLLAMA_API_KEY", "", url), env)
        case "url":
            return _hosted(parsed, "url", Way("OPENAI_COMPATIBLE_API_KEY", "", parsed.url), env)
        case service:
            way = WAYS[service]
            if not env.get(way.key_variable, "").strip():
                raise MindUnavailable(
                    f"{name} needs a key: set {way.key_variable}, or use a mind on this machine"
                    " (mind config --set model=local)."
                )
            return _hosted(parsed, service, way, env)


def _hosted(parsed: ModelName, service: Service, way: Way, env: Mapping[str, str]) -> HostedMind:
    _need(parsed.text, ("pydantic_ai", way.package), "hosted")
    return HostedMind(
        name=parsed.text,
        service=service,
        model=parsed.model,
        url=(env.get(way.url_variable, "") or way.url).rstrip("/"),
        key_variable=way.key_variable,
        key=env.get(way.key_variable, "").strip(),
    )


def _local(parsed: ModelName, env: Mapping[str, str]) -> LocalMind:
    _need(parsed.text, ("xllamacpp",), "local")
    return LocalMind(
        name=parsed.text,
        file=_weights(parsed, env),
        threads=threads_of(env),
        context=context_of(env),
    )


def _weights(parsed: ModelName, env: Mapping[str, str]) -> Path:
    """The model file: the one named, the one that MIND_LOCAL_MODEL names, or the pulled one."""
    own = env.get("MIND_LOCAL_MODEL", "") if parsed.model == "local" else ""
    if parsed.model.lower().endswith(".gguf"):
        own = parsed.model
    if own:
        file = Path(own).expanduser()
        if file.is_file():
            return file
        raise MindUnavailable(f"There is no model file {own!r}: name a GGUF file that is here.")
    if file_here := weights.path(parsed.model, env):
        return file_here
    size = weights.known(parsed.model).bytes / 1e9
    raise MindUnavailable(
        f"The weights of {parsed.text!r} are not on this machine: fetch them once with"
        f" mind model pull {parsed.text} ({size:.1f} GB)."
    )


def _need(name: str, packages: tuple[str, ...], extra: str) -> None:
    for package in packages:
        if importlib.util.find_spec(package) is None:
            raise MindUnavailable(
                f'{name} needs the package {package}: pip install "logosphere[{extra}]".'
            )


def ollama_url(host: str) -> str:
    """The address of an Ollama server from ``OLLAMA_HOST``, in the forms that Ollama takes."""
    scheme, _, rest = host.rpartition("://")
    rest = rest.rstrip("/") or "127.0.0.1"
    # a server listens on all addresses by that name; a client can't call it so
    rest = rest.replace("0.0.0.0", "127.0.0.1", 1)  # noqa: S104 - replaced, not bound
    bare = rest.rpartition("]")[2] if rest.startswith("[") else rest
    if ":" not in bare and not scheme:
        rest += ":11434"
    return f"{scheme or 'http'}://{rest}/v1"
