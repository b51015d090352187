"""Choosing a mind by its name: what is missing is said before anything is asked."""

import subprocess
import sys
from pathlib import Path

import pytest

from commands.minds.choose import make_mind, ollama_url
from commands.minds.hosted import HostedMind
from commands.minds.local import LocalMind
from commands.minds.mind import MindUnavailable
from domain.errors import BadSetting
from tests.commands.minds.conftest import KEY


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("openai:gpt-5-mini", "OPENAI_API_KEY"),
        ("openrouter:a/b", "OPENROUTER_API_KEY"),
        ("anthropic:claude-haiku-4-5", "ANTHROPIC_API_KEY"),
    ],
)
@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_missing_key_names_its_variable(name: str, variable: str, value: str | None) -> None:
    """Without a key the sentence says which variable to set."""
    env = {} if value is None else {variable: value}
    with pytest.raises(MindUnavailable, match=f"set {variable}"):
        make_mind(name, env=env)


@pytest.mark.parametrize("name", ["http://127.0.0.1:1/v1#m", "ollama:qwen3"])
def test_servers_of_your_own_need_no_key(name: str) -> None:
    """An address and an Ollama server are asked without a key."""
    assert make_mind(name, env={}).name == name


def test_weights_that_are_not_here_say_how_to_fetch_them(tmp_path: Path) -> None:
    """A local mind without weights names the command that brings them."""
    with pytest.raises(MindUnavailable, match="mind model pull local:tiny"):
        make_mind("local:tiny", env={"XDG_CACHE_HOME": str(tmp_path)})


def test_a_model_file_of_ones_own_is_taken(tmp_path: Path) -> None:
    """MIND_LOCAL_MODEL stands in for `local`, and a path may be named outright."""
    file = tmp_path / "own.gguf"
    file.write_bytes(b"GGUF")
    by_variable = make_mind("local", env={"MIND_LOCAL_MODEL": str(file)})
    by_path = make_mind(f"local:{file}", env={})
    assert isinstance(by_variable, LocalMind)
    assert isinstance(by_path, LocalMind)
    assert by_variable.file == by_path.file == file
    assert (by_variable.name, by_path.name) == ("local", f"local:{file}")


def test_a_model_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """A path to nothing is said at once, not at the first reply."""
    with pytest.raises(MindUnavailable, match="no model file"):
        make_mind(f"local:{tmp_path}/none.gguf", env={})


@pytest.mark.parametrize("variable", ["MIND_LOCAL_THREADS", "MIND_LOCAL_CONTEXT"])
def test_settings_of_the_local_mind_are_checked(tmp_path: Path, variable: str) -> None:
    """A variable that is no number is refused by name."""
    file = tmp_path / "own.gguf"
    file.write_bytes(b"GGUF")
    with pytest.raises(BadSetting, match=variable):
        make_mind(f"local:{file}", env={variable: "many"})


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),  # noqa: S104 - nothing is bound
        ("box", "http://box:11434/v1"),
        ("box:99", "http://box:99/v1"),
        ("https://box/", "https://box/v1"),
        ("[::1]", "http://[::1]:11434/v1"),
        ("[::1]:99", "http://[::1]:99/v1"),
    ],
)
def test_ollama_is_found_where_its_variable_says(host: str, url: str) -> None:
    """OLLAMA_HOST is read in the forms that Ollama itself takes."""
    assert ollama_url(host) == url


def test_a_key_is_not_in_the_repr() -> None:
    """Whoever prints a mind does not print its key."""
    mind = make_mind("openai:gpt-5-mini", env={"OPENAI_API_KEY": KEY})
    assert isinstance(mind, HostedMind)
    assert KEY not in repr(mind)
    assert mind.key == KEY


def test_choosing_loads_no_heavy_library() -> None:
    """Making a mind imports no model library; its first reply does."""
    code = (
        "import sys; from commands.minds.choose import make_mind;"
        "make_mind('openai:m', env={'OPENAI_API_KEY': 'k'});"
        "heavy = {'pydantic_ai', 'openai', 'anthropic', 'xllamacpp', 'huggingface_hub', 'numpy'};"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
