"""The settings: what they take, and what they say when they don't."""

from typing import Any

import pytest

from domain.config import Config
from domain.errors import BadSetting

GOOD: list[tuple[str, str, Any]] = [
    ("model", "script:tides.jsonl", "script:tides.jsonl"),
    ("token_limit", "16", 16),
    ("token_limit", "200000", 200_000),
    ("temperature", "0", 0.0),
    ("temperature", "2", 2.0),
    ("temperature", "off", None),
    ("temperature", "None", None),
    ("timeout", "0.5", 0.5),
    ("timeout", "3600", 3600.0),
    ("attempts", "20", 20),
    ("failure_budget", "1", 1),
    ("thought_display_count", "100", 100),
    ("thought_display_chars", "100", 100),
    ("active_pool_size", "1000", 1000),
    ("sampling", "recall", "recall"),
    ("embedding_model", "local:multilingual", "local:multilingual"),
    ("embedding_model", "off", "off"),
    ("embedding_precision", "float32", "float32"),
    ("clustering", "compatible", "compatible"),
    ("clustering", "off", "off"),
    ("granularity", "5", 5.0),
    ("min_cluster_size", "2", 2),
    ("stability", "strict", "strict"),
    ("founder", "hdbscan", "hdbscan"),
    ("centroid_match_threshold", "2", 2.0),
    ("draft_display_count", "1", 1),
    ("draft_display_chars", "200000", 200_000),
    ("history_display_count", "200", 200),
    ("history_display_chars", "100", 100),
    ("hard_signal_threshold", "1", 1),
    ("auto_accept_after", "1000", 1000),
    ("auto_accept_after", "OFF", None),
    ("budget_usd", "0.01", 0.01),
    ("budget_usd", "off", None),
]

COUNT = "it is a whole number from 1 to 100."
CHARS = "it is a whole number from 100 to 200000."
BAD: list[tuple[str, str, str]] = [
    ("model", "", "The setting model does not take '': it is a text."),
    ("model", "x" * 301, "it is a text."),
    (
        "token_limit",
        "15",
        "The setting token_limit does not take '15': it is a whole number from 16",
    ),
    ("token_limit", "200001", "it is a whole number from 16 to 200000."),
    ("token_limit", "80.5", "it is a whole number from 16 to 200000."),
    ("token_limit", "none", "The setting token_limit does not take 'none'"),
    ("temperature", "-0.1", "it is a number from 0 to 2, or off."),
    ("temperature", "2.1", "it is a number from 0 to 2, or off."),
    ("temperature", "nan", "it is a number from 0 to 2, or off."),
    ("temperature", "warm", "The setting temperature does not take 'warm'"),
    ("timeout", "0", "it is a number more than 0 to 3600."),
    ("timeout", "inf", "it is a number more than 0 to 3600."),
    ("timeout", "off", "it is a number more than 0 to 3600."),
    ("attempts", "0", "it is a whole number from 1 to 20."),
    ("failure_budget", "0", COUNT),
    ("thought_display_count", "0", COUNT),
    ("thought_display_count", "101", COUNT),
    ("thought_display_chars", "99", CHARS),
    ("active_pool_size", "1001", "it is a whole number from 1 to 1000."),
    ("sampling", "off", "The setting sampling does not take 'off': it is uniform or recall."),
    ("embedding_model", "", "The setting embedding_model does not take '': it is a text."),
    ("embedding_precision", "float64", "it is float16 or float32."),
    ("clustering", "none", "it is online or compatible or off."),
    ("granularity", "0.4", "it is a number from 0.5 to 5."),
    ("granularity", "nan", "it is a number from 0.5 to 5."),
    ("min_cluster_size", "1", "it is a whole number from 2 to 100."),
    ("stability", "", "it is normal or strict."),
    ("founder", "kmeans", "it is auto or linkage or hdbscan."),
    ("centroid_match_threshold", "0", "it is a number more than 0 to 2."),
    ("draft_display_count", "x", COUNT),
    ("draft_display_chars", "200001", CHARS),
    ("history_display_count", "201", "it is a whole number from 1 to 200."),
    ("history_display_chars", "", CHARS),
    ("hard_signal_threshold", "0", COUNT),
    ("auto_accept_after", "0", "it is a whole number from 1 to 1000, or off."),
    ("budget_usd", "0", "it is a number more than 0 to 100000, or off."),
    ("budget_usd", "-1", "it is a number more than 0 to 100000, or off."),
    ("budget_usd", "nan", "it is a number more than 0 to 100000, or off."),
    ("budget_usd", "100001", "it is a number more than 0 to 100000, or off."),
    ("colour", "blue", "There is no setting 'colour': choose one of model, token_limit, "),
    ("", "1", "There is no setting '': choose one of"),
    ("modle", "local", "There is no setting 'modle': did you mean model"),
    ("__class__", "1", "There is no setting '__class__'"),
]


@pytest.mark.parametrize(("key", "text", "value"), GOOD)
def test_a_value_that_a_setting_takes(key: str, text: str, value: Any) -> None:
    """Read as its own type, and nothing else changes."""
    config = Config()
    assert config.read(key, text) == value
    changed = config.changed(key, value)
    assert getattr(changed, key) == value
    assert changed.model_copy(update={key: getattr(config, key)}) == config


@pytest.mark.parametrize(("key", "text", "sentence"), BAD)
def test_a_value_that_a_setting_does_not_take(key: str, text: str, sentence: str) -> None:
    """Refused in one sentence that gives the valid range."""
    with pytest.raises(BadSetting) as refusal:
        Config().read(key, text)
    assert sentence in refusal.value.sentence
    assert "\n" not in refusal.value.sentence


OFF = {
    "temperature",
    "auto_accept_after",
    "budget_usd",
    "detector_model",
    "detector_budget_usd",
}


def test_only_some_settings_can_be_off() -> None:
    """The others say so."""
    for key in OFF:
        assert getattr(Config().changed(key, None), key) is None
    for key in set(Config.model_fields) - OFF:
        with pytest.raises(BadSetting) as refusal:
            Config().changed(key, None)
        is_ = Config.range_of(key)
        assert refusal.value.sentence == f"The setting {key} can't be off: it is {is_}."
        assert not is_.endswith(", or off")


def test_every_setting_has_a_description() -> None:
    """It is the help of ``mind config``."""
    for key, field in Config.model_fields.items():
        assert field.description, key


def test_a_later_version_s_setting_is_passed_over() -> None:
    """A session that a newer Logosphere began can still be read."""
    assert Config.model_validate({"colour": "blue", "token_limit": 99}).token_limit == 99
