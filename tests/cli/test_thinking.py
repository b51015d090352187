"""Thoughts as a person meets them: with the embedder of this machine, and without one."""

import json
from typing import Any

from tests.cli.conftest import Mind


def added(mind: Mind) -> list[dict[str, Any]]:
    """The thoughts of the log, with their envelopes."""
    shown = mind("log", "-n", "0", "--kind", "thought.added", "--json").out
    return [json.loads(line) for line in shown.splitlines()]


def test_thoughts_find_company_while_the_mind_runs(embedding: Mind) -> None:
    """Each thought gets its vector as it is recorded; the same words again store none."""
    assert embedding("run", "-b", "2").code == 0
    assert embedding("think", "compare with Fundy").err.startswith("It is in the pool")
    thoughts = added(embedding)
    vectors = [e["data"].get("embedding") for e in thoughts]
    assert [vector is not None for vector in vectors] == [True, True, False]
    assert thoughts[2]["data"]["embedding_of"] == thoughts[1]["version"]
    assert {e["data"]["dimension"] for e in thoughts} == {384}
    status = embedding("status", "--json").data
    assert "waiting" not in status["thoughts"]
    assert embedding("embed", "--missing").err.strip() == "Embedded 0 thoughts."
    assert embedding("verify").code == 0


def test_thoughts_wait_where_there_is_no_embedder(asked: Mind) -> None:
    """They are kept, and get their vectors when there is one."""
    asked("run", "-b", "2")
    asked("think", "what of the wind?")
    assert "3 waiting for a vector" in asked("status", "--json").data["thoughts"]
    assert {e["data"].get("embedding") for e in added(asked)} == {None}
