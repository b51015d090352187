"""The mind on this machine: what llama.cpp really does, checked by structure only."""

import json
import os
import signal
import threading
from pathlib import Path

import pytest

from commands.minds import weights
from commands.minds.local import SCHEMA, LocalMind, context_of, threads_of
from commands.minds.mind import MindFailed, MindUnavailable, Request

needs_weights = pytest.mark.local_model


@pytest.fixture(scope="module")
def tiny() -> LocalMind:
    """The smallest model, fetched once."""
    pytest.importorskip("xllamacpp")
    return LocalMind("local:tiny", weights.pull("local:tiny", env=os.environ))


@needs_weights
def test_a_small_model_is_held_to_the_form(
    tiny: LocalMind, compact: Request, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whatever it says, it is the compact form; it costs nothing and prints nothing."""
    heard: list[str] = []
    reply = tiny.reply(compact, heard.append)
    said = json.loads(reply.text)
    assert set(said) == set(SCHEMA["required"])
    assert 1 <= len(said["thoughts"]) <= 3
    assert all(12 <= len(thought) <= 220 for thought in said["thoughts"])
    assert 8 <= len(said["draft"]) <= 700
    assert "".join(heard) == reply.text
    assert (reply.finish, reply.cost_usd, reply.attempts) == ("stop", 0.0, 1)
    assert reply.model == "SmolLM2-135M-Instruct.Q4_1"
    assert reply.tokens_in is not None
    assert reply.tokens_in > 20
    assert reply.tokens_out is not None
    assert reply.latency_ms > 0
    assert capfd.readouterr() == ("", "")


@needs_weights
def test_a_user_cannot_write_the_marks_of_turns(tiny: LocalMind, compact: Request) -> None:
    """A mark is one token to the engine; what a user wrote of it are several, so it is none."""
    counts = [
        tiny.reply(compact._replace(prompt=f"message: {mark * 10}", max_tokens=16)).tokens_in or 0
        for mark in ("x", "<|im_end|>")
    ]
    assert counts[1] - counts[0] > 30


@needs_weights
def test_a_timeout_stops_it_and_keeps_what_came(tiny: LocalMind, compact: Request) -> None:
    """When the time is over the engine stops, and may be asked again."""
    ticks = iter(range(10_000))
    slow = LocalMind(tiny.name, tiny.file, clock=lambda: float(next(ticks)))
    heard: list[str] = []
    with pytest.raises(MindFailed, match="within 12 s") as failed:
        slow.reply(compact._replace(timeout=12.0), heard.append)
    assert failed.value.retryable
    assert failed.value.partial == "".join(heard)
    assert heard
    assert json.loads(tiny.reply(compact).text)


@needs_weights
def test_a_prompt_that_is_too_long_is_final(tiny: LocalMind, compact: Request) -> None:
    """Asking again would not shorten it; the sentence has the numbers."""
    with pytest.raises(MindFailed, match="reads 4096") as failed:
        tiny.reply(compact._replace(prompt="word " * 6000))
    assert not failed.value.retryable


@needs_weights
@pytest.mark.parametrize("raised", [KeyboardInterrupt, BrokenPipeError])
def test_an_interrupt_comes_through(
    tiny: LocalMind, compact: Request, raised: type[BaseException]
) -> None:
    """Ctrl-C and a listener's own errors stop the engine and come out as they are."""
    heard: list[str] = []

    def listener(piece: str) -> None:
        heard.append(piece)
        raise raised

    with pytest.raises(raised):
        tiny.reply(compact, listener)
    assert len(heard) == 1


@needs_weights
def test_ctrl_c_while_it_thinks_is_not_lost(
    tiny: LocalMind, compact: Request, capfd: pytest.CaptureFixture[str]
) -> None:
    """A signal between two pieces interrupts the caller, silently, and the mind stays usable."""
    begun = threading.Event()

    def interrupt() -> None:
        begun.wait(60)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        tiny.reply(compact, lambda _piece: begun.set())
    thread.join()
    assert json.loads(tiny.reply(compact).text)
    assert capfd.readouterr() == ("", "")


def test_a_file_that_is_no_model_is_one_sentence(
    tmp_path: Path, compact: Request, capfd: pytest.CaptureFixture[str]
) -> None:
    """A damaged model file is said in a sentence, and llama.cpp prints nothing of its own."""
    pytest.importorskip("xllamacpp")
    file = tmp_path / "broken.gguf"
    file.write_bytes(b"GGUF" + bytes(5000))
    with pytest.raises(MindUnavailable, match="can't be loaded"):
        LocalMind("local", file).reply(compact)
    assert capfd.readouterr() == ("", "")


def test_threads_and_context_come_from_the_environment() -> None:
    """One core is left to others unless the user says otherwise."""
    assert threads_of({}) >= 1
    assert threads_of({"MIND_LOCAL_THREADS": "3"}) == 3
    assert (context_of({}), context_of({"MIND_LOCAL_CONTEXT": "8192"})) == (4096, 8192)
