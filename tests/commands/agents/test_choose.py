"""From the name of an agent's model to what answers; what is missing is said first."""

from pathlib import Path

import pytest

from commands.agents.backend import BackendUnavailable
from commands.agents.choose import make_backend, make_model
from commands.agents.hosted import CAREFUL, OLLAMA, HostedModel
from commands.agents.neutral import NeutralBackend
from domain.errors import BadSetting


def test_every_kind_of_model_has_its_backend(tmp_path: Path) -> None:
    """A neutral one for all that the minds know."""
    script = tmp_path / "s.jsonl"
    script.write_text("{}")
    for name in (f"script:{script}", "ollama:qwen3", "http://127.0.0.1:9/v1#m"):
        backend = make_backend(name, {})
        assert isinstance(backend, NeutralBackend)
        assert backend.model.name == name


def test_a_name_that_nobody_knows_is_refused() -> None:
    """With the forms that there are."""
    with pytest.raises(BadSetting, match="names no mind"):
        make_backend("gpt", {})


def test_weights_that_are_not_here_are_said(tmp_path: Path) -> None:
    """With the command that fetches them."""
    with pytest.raises(BackendUnavailable, match="mind model pull local:small"):
        make_backend("local:small", {"XDG_CACHE_HOME": str(tmp_path)})


@pytest.mark.parametrize(
    ("name", "careful", "free"),
    [
        ("ollama:qwen3", OLLAMA, True),
        ("ollama:big-cloud", OLLAMA, False),
        ("http://127.0.0.1:9/v1#gpt-5-mini", CAREFUL, False),
    ],
)
def test_a_window_that_nobody_knows_is_not_guessed(name: str, careful: int, free: bool) -> None:
    """A model of the same name elsewhere says nothing; a careful number of tokens is shown."""
    model = make_model(name, {})
    assert isinstance(model, HostedModel)
    assert (model.window, model.careful, model.free) == (None, careful, free)
