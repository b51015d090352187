"""The receipt of anything, as a person asks for it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Mind


@pytest.fixture
def mind(within: Mind) -> Mind:
    """Commands within this process: there are many here."""
    return within


@pytest.fixture
def told(asked: Mind) -> Mind:
    """Two drafts and a signal, a thought and a presence of the user's, and one acceptance."""
    for words in (
        ("think", "what of the wind?"),
        ("run",),
        ("signal", "-p", "r", "back soon"),
        ("run", "-b", "2"),
        ("accept", "2"),
        ("fork", "later", "--at", "draft:2", "--stay"),
    ):
        assert asked(*words).code == 0
    return asked


def test_every_name_of_a_thing_can_be_asked_for(told: Mind) -> None:
    """Drafts, answers, thoughts, iterations, versions, moments; here or in a named session."""
    events = {
        what: told("why", what, "--json").data["event"]
        for what in ("main@draft:1", "exc_1_000:2", "exc_1", "iter:2", "main@2", "head")
    }
    assert [event["kind"] for event in events.values()] == [
        "draft.emitted",
        "draft.emitted",
        "draft.emitted",
        "mind.invoked",
        "message.sent",
        "draft.accepted",
    ]
    assert events["exc_1"] == events["exc_1_000:2"]  # the accepted one
    thought = told("why", "main@thought:3", "--json")
    assert thought.data["event"]["summary"] == "(injected) what of the wind?"
    assert told("why", "3", "--json") == thought


def test_a_draft_is_told_to_people(told: Mind) -> None:
    """What it answers, which mind, what that was shown, who saw and accepted it."""
    shown = told("why", "exc_1_000", "--depth", "9").out
    for words in (
        "draft 2 of exc_1_000  iteration 2, accepted",
        "answers      why two tides a day?",
        "presence     reviewing, “back soon”",
        "outcome      ok",
        "seen by      nobody",
        "accepted by  user:ann",
        "injected: user:ann",
        "signal.changed  reviewing, “back soon”",
        "in answer to  message.sent",
    ):
        assert words in shown
    assert "seen by      user:ann" in told("why", "draft:1").out
    assert "not taken    #2 of exc_1_000" in told("why", "draft:1").out
    assert "signal 3 of exc_1_000" in told("why", "draft:3").out


def test_everything_else_is_told_to_people(told: Mind) -> None:
    """An iteration, a message, an acceptance, a thought."""
    iteration = told("why", "iter:1").out
    assert "iteration 1  ok" in iteration
    assert "brought:" in iteration
    message = told("why", "2").out
    assert "answered     #2 of exc_1_000, user:ann" in message
    accepted = told("why", "head").out
    assert "because of    draft.emitted" in accepted.replace("because of  ", "because of    ")
    thought = told("why", "thought:3").out
    assert "shown to     3 of the next 3 iterations: 1, 2, 3" in thought
    assert "It came from no other thought." in thought


def test_lists_are_cut_unless_all_is_asked_for(told: Mind) -> None:
    """And it is said how to see the rest."""
    cut = told("why", "iter:1", "-n", "1").out
    assert "more: -n 0" in cut
    everything = told("why", "iter:1", "-n", "0").out
    assert "more: -n 0" not in everything
    assert len(everything.splitlines()) > len(cut.splitlines())
    back = [told("why", "draft:2", "--json", "-d", n).data["causes"] for n in ("0", "2")]
    assert [len(steps) for steps in back] == [0, 2]


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("draft:9", "draft:3"),
        ("exc_7_000", "exc_1_000"),
        ("0", "has no moment '0'"),
        ("thought:2", "is a message.sent"),
        ("thought:999", "does not exist"),
        ("thought:x", "names nothing that could be explained"),
        ("cluster:٣", "thought:42, cluster:7"),
        ("cluster:7", "There is no cluster 7"),
        ("", "use draft:3"),
        ("nobody@draft:1", "There is no session 'nobody'; there are main"),
        ("A B@thought:1", "can't name a session"),
    ],
)
def test_what_is_not_there_is_refused(told: Mind, what: str, words: str) -> None:
    """In one sentence, with what there is."""
    ran = told("why", what)
    assert (ran.code, ran.out) == (2, "")
    assert len(ran.err.strip().splitlines()) == 1
    assert words in ran.err


def test_an_open_exchange_has_no_answer(asked: Mind) -> None:
    """Its drafts are named instead; before the first one, what to do."""
    assert "run the mind first" in asked("why", "exc_1_000").err
    asked("run", "-b", "2")
    ran = asked("why", "exc_1_000")
    assert ran.code == 2
    assert "(exc_1_000:1, exc_1_000:2)" in ran.err


def test_the_past_knows_nothing_of_what_came_later(told: Mind) -> None:
    """No acceptance, no later draft, no later iteration; and no session that began later."""
    then = told("at", "iter:1", "why", "draft:1", "--json").data
    assert (then["draft"]["accepted"], then["draft"]["closed"]) == (None, None)
    assert then["effects"]["invocation"] is None
    for ref, what, words in (
        ("iter:1", "draft:2", "draft:1."),
        ("iter:1", "iter:2", "iter:1."),
        ("iter:2", "exc_1_000", "No draft of 'exc_1_000' has been accepted yet"),
        ("main@head", "later@head", "There is no session 'later'; there is main."),
    ):
        ran = told("at", ref, "why", what)
        assert (ran.code, ran.out) == (2, "")
        assert words in ran.err
    assert told("why", "later@head").code == 0


def test_branches_of_branches_explain_what_they_inherit(asked: Mind) -> None:
    """Within an iteration, too; the stream that holds an event is named."""
    asked("run", "-b", "2")
    asked("accept", "2")
    asked("fork", "b", "--at", "draft:2")
    asked("fork", "b/c", "--at", "head")
    here = asked("why", "draft:2", "--json").data
    assert (here["event"]["session"], here["draft"]["accepted"]) == ("main", None)
    assert [event["kind"] for event in here["wish"]] == ["mind.invoked", "thought.added"]
    asked("run")
    found = asked("why", "draft:3", "--json").data
    assert found["event"]["session"] == "b/c"
    assert found["draft"]["message"]["session"] == "main"
    branched = asked("why", "b@head", "-d", "1")
    assert "branched at" in branched.out
    assert "main: " in branched.out


def test_texts_can_not_command_the_terminal(mind: Mind, tmp_path: Path) -> None:
    """Nothing that a user or a mind wrote is obeyed, in any receipt."""
    escapes = r"\e]0;owned\a \e[31mred \x9b31m \b\r\x7f \u202e"
    reply = f'thoughts: ["{escapes} a thought"]\ndraft: "{escapes} an answer, long enough"'
    (tmp_path / "hostile.txt").write_text(reply, encoding="utf-8")
    raw = "\x1b]0;owned\x07\x1b[31mred\x9b0m\u202egnp"
    settings = ("-m", "script:hostile.txt", "--set", "embedding_model=off")
    assert mind("init", "store", f"why {raw}?", *settings).code == 0
    mind("think", raw)
    mind("signal", "-p", "r", raw)
    mind("run")
    mind("accept")
    for what in ("1", "2", "3", "4", "draft:1", "iter:1", "head", "thought:7"):
        for more in (("--full", "-n", "0", "-d", "9"), *([("--json",)] if what == "head" else [])):
            ran = mind("why", what, *more)
            assert ran.code == 0, ran.err
            assert not set(ran.out + ran.err) & set("\x1b\x07\x9b\x08\r\x7f\u202e"), (what, more)


def test_a_thought_leads_back_along_the_nearest(embedding: Mind) -> None:
    """What the mind was shown, the most similar first; its cluster, and how that came to be."""
    for text in ("the moon pulls the sea", "bread needs a hot oven", "the moon pulls water"):
        embedding("think", text)
    embedding("think", "the moon draws the sea")
    embedding("run", "1")
    thoughts = embedding("thoughts", "--json").data
    mine = next(t for t in thoughts if t["origin"] == "mind")
    found = embedding("why", f"thought:{mine['version']}", "--json").data
    near = [a["similarity"] for a in found["thought"]["ancestors"]]
    assert len(near) == 4
    assert near == sorted(near, reverse=True)
    assert [o["version"] for o in found["line"]] == [found["thought"]["ancestors"][0]["version"]]
    assert f"shown {len(near)} thoughts:" in embedding("why", str(mine["version"])).out
    cluster = embedding("why", "cluster:1", "--json").data["cluster"]
    assert cluster["standing"]["size"] == 3
    assert cluster["turnings"][0]["because"]["summary"] == "(injected) the moon draws the sea"
    shown = embedding("why", "cluster:1", "-n", "2").out
    assert "cluster 1  3 in the pool, 3 in all" in shown
    assert "with thought 9: (injected) the moon draws the sea" in shown
    assert "newest 2 thoughts" in shown
    assert embedding("at", "2", "why", "cluster:1").code == 2


def test_numbers_are_brought_along_only_for_similarity(asked: Mind, tmp_path: Path) -> None:
    """A receipt without vectors waits for no library of them."""
    asked("think", "what of the wind?")
    asked("run")
    code = (
        "import sys\n"
        "from cli.main import run\n"
        "for what in ('draft:1', 'iter:1', '2', 'thought:3'):\n"
        "    sys.argv = ['mind', 'why', what]\n"
        "    try:\n        run()\n    except SystemExit as end:\n        assert not end.code\n"
        "print('numpy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=str(tmp_path),
        env={"MIND_STORE": "thinking", "MIND_USER": "ann"},
    )
    assert done.stdout.splitlines()[-1] == "False"
    assert "draft 1 of exc_1_000" in done.stdout
