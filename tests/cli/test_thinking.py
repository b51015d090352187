"""Thoughts as a person meets them: with the embedder of this machine, and without one."""

import json
from typing import Any

import pytest

from tests.cli.conftest import Mind


@pytest.fixture
def mind(within: Mind) -> Mind:
    """Commands within this process: there are many here."""
    return within


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


def test_clusters_are_shown_as_of_any_moment(embedding: Mind) -> None:
    """Status, members, graph and timeline; for people and for programs."""
    for text in ("the moon pulls the sea", "the moon pulls water", "the moon draws the sea"):
        assert embedding("think", text).code == 0
    shown = embedding("cluster", "status", "--json").data
    assert shown["thoughts"] == 3
    assert shown["waiting"] == 0
    assert [s["size"] for s in shown["standings"]] == [3]
    cluster = shown["standings"][0]["id"]
    assert embedding("cluster", "status", "--at", "2", "--json").data["clusters"] == 0
    assert embedding("at", "2", "cluster", "status", "--json").data["clusters"] == 0
    members = embedding("cluster", "show", f"cluster_{cluster}", "--json").data
    assert len(members["members"]) == 3
    assert members["turnings"][0]["kind"] == "cluster.formed"
    assert "the moon pulls water" in embedding("cluster", "show", str(cluster)).out
    refused = embedding("cluster", "show", "99")
    assert refused.code == 2
    assert "There is no cluster 99" in refused.err
    assert embedding("cluster", "graph", "--dot").out.startswith("graph clusters {")
    embedding("run", "1")
    stages = embedding("cluster", "timeline", "--json").data
    assert [stage["iteration"] for stage in stages] == [1]


def test_thoughts_are_found_by_what_they_say(embedding: Mind) -> None:
    """The most similar first, whatever was thought in between."""
    for text in ("the moon pulls the sea", "taxes are due in June", "bread needs a hot oven"):
        embedding("think", text)
    found = embedding("thoughts", "--like", "baking a loaf", "-n", "2", "--json").data
    assert found[0]["text"] == "bread needs a hot oven"
    assert len(found) == 2
    assert embedding("thoughts", "--sampled", "7").code == 2


def test_another_embedder_is_chosen_with_open_eyes(embedding: Mind) -> None:
    """The setting alone is refused, with the way to do it; nothing is changed half way."""
    embedding("think", "the moon pulls the sea")
    refused = embedding("config", "--set", "token_limit=99", "--set", "embedding_model=off")
    assert refused.code == 2
    assert "mind embed --model off" in refused.err
    assert embedding("config", "--json").data["token_limit"] != 99
    assert embedding("embed", "--model", "local:multilingual").code == 0
    assert {e["data"]["dimension"] for e in added(embedding)} == {384}
    assert "waiting" not in embedding("status", "--json").data["thoughts"]
    assert embedding("embed", "--model", "nonsense").code == 2
    assert embedding("embed").code == 2
