"""JSON-RPC 2.0 to the letter, and the sentences in which calls are refused."""

import asyncio
import json
import sys
from typing import Any

import pytest

from cli.rpc.dispatcher import MOST_IN_BATCH, Dispatcher
from cli.rpc.errors import CODES, as_rpc_error, code_of
from cli.rpc.method import Method, Nothing, Peer
from domain.agent_errors import NoSuchAgent
from domain.errors import BadSetting, LostRace, Refused
from tests.cli.rpc.serving import Answer, Someone, table

GONE = object()
"""No answer at all."""


def answered(text: str | Any, *more: Method) -> Any:
    """What comes back, read; ``GONE`` where nothing does."""
    text = text if isinstance(text, str) else json.dumps(text)
    answer = asyncio.run(Dispatcher(table(*more)).answer(Someone(), text))
    return GONE if answer is None else json.loads(answer)


def no(code: int, id_: Any = None) -> dict[str, Any]:
    """An answer that says no."""
    return {"jsonrpc": "2.0", "id": id_, "error": code}


def yes(result: Any, id_: Any) -> dict[str, Any]:
    """An answer that says yes."""
    return {"jsonrpc": "2.0", "id": id_, "result": {"answer": result}}


def bare(answer: Any) -> Any:
    """Answers with the code alone of their errors."""
    if isinstance(answer, list):
        return [bare(one) for one in answer]
    if isinstance(answer, dict) and "error" in answer:
        return {**answer, "error": answer["error"]["code"]}
    return answer


# The examples of https://www.jsonrpc.org/specification, in its order. Results are objects here,
# and "sum" takes just three numbers.
EXAMPLES = {
    "positional parameters": (
        '{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}',
        yes(19, 1),
    ),
    "positional parameters, the other way round": (
        '{"jsonrpc": "2.0", "method": "subtract", "params": [23, 42], "id": 2}',
        yes(-19, 2),
    ),
    "named parameters": (
        (
            '{"jsonrpc": "2.0", "method": "subtract",'
            ' "params": {"subtrahend": 23, "minuend": 42}, "id": 3}'
        ),
        yes(19, 3),
    ),
    "named parameters, the other way round": (
        (
            '{"jsonrpc": "2.0", "method": "subtract",'
            ' "params": {"minuend": 42, "subtrahend": 23}, "id": 4}'
        ),
        yes(19, 4),
    ),
    "a notification": ('{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}', GONE),
    "a notification of a method that is not there": (
        '{"jsonrpc": "2.0", "method": "foobar"}',
        GONE,
    ),
    "a method that is not there": (
        '{"jsonrpc": "2.0", "method": "foobar", "id": "1"}',
        no(-32601, "1"),
    ),
    "no JSON": ('{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]', no(-32700)),
    "no request": ('{"jsonrpc": "2.0", "method": 1, "params": "bar"}', no(-32600)),
    "a batch that is no JSON": (
        (
            '[{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},'
            '{"jsonrpc": "2.0", "method"]'
        ),
        no(-32700),
    ),
    "an empty batch": ("[]", no(-32600)),
    "a batch of one that is no request": ("[1]", [no(-32600)]),
    "a batch of three that are no requests": ("[1,2,3]", [no(-32600)] * 3),
    "a batch of everything": (
        """[
        {"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},
        {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]},
        {"jsonrpc": "2.0", "method": "subtract", "params": [42,23], "id": "2"},
        {"foo": "boo"},
        {"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"},
        {"jsonrpc": "2.0", "method": "get_data", "id": "9"}
        ]""",
        [yes(7, "1"), yes(19, "2"), no(-32600), no(-32601, "5"), yes(["hello", 5], "9")],
    ),
    "a batch of notifications": (
        (
            '[{"jsonrpc": "2.0", "method": "notify_sum", "params": [1,2,4]},'
            '{"jsonrpc": "2.0", "method": "notify_hello", "params": [7]}]'
        ),
        GONE,
    ),
}


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_of_the_specification(example: str) -> None:
    """What the specification shows is what comes back."""
    asked, promised = EXAMPLES[example]
    assert bare(answered(asked)) == promised


@pytest.mark.parametrize("id_", ["", "seven", 0, -7, 1.5, 2**70, None])
def test_an_id_comes_back_as_it_came(id_: Any) -> None:
    """Strings, numbers and null are ids."""
    call = {"jsonrpc": "2.0", "id": id_, "method": "get_data"}
    assert answered(call)["id"] == id_


@pytest.mark.parametrize("id_", ["true", "[1]", "{}", "1e999", '"\\ud800"'])
def test_what_can_be_no_id_is_refused(id_: str) -> None:
    """Neither truth, nor lists, nor what can't be said back."""
    answer = answered(f'{{"jsonrpc": "2.0", "id": {id_}, "method": "get_data"}}')
    assert bare(answer) == no(-32600)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "NaN",
        '{"jsonrpc": "2.0", "id": Infinity, "method": "get_data"}',
        "[" * 100_000,
        "9" * 5_000,
        "\x00",
    ],
    ids=["nothing", "half", "NaN", "infinite", "deep", "long number", "NUL"],
)
def test_what_is_no_json_is_said_to_be_none(text: str) -> None:
    """However it is broken."""
    assert bare(answered(text)) == no(-32700)


def test_however_deep_a_request_is_nested_it_is_answered() -> None:
    """Those that can just be read, too: all else goes a little deeper into the stack."""
    dispatcher = Dispatcher(table())

    async def codes() -> set[int]:
        found: set[int] = set()
        for depth in range(2, sys.getrecursionlimit() + 1):
            nested = "[" * depth + "]" * depth
            text = f'{{"jsonrpc": "2.0", "id": 1, "method": "get_data", "params": {nested}}}'
            found.add(json.loads(await dispatcher.answer(Someone(), text) or "")["error"]["code"])
        return found

    assert asyncio.run(codes()) == {-32700, -32602}


@pytest.mark.parametrize(
    ("request_", "id_"),
    [
        ({"id": 1, "method": "get_data"}, 1),
        ({"jsonrpc": "1.0", "id": 1, "method": "get_data"}, 1),
        ({"jsonrpc": "2.0", "id": 1}, 1),
        ({"jsonrpc": "2.0", "id": 1, "method": None}, 1),
        ({"jsonrpc": "2.0", "id": 1, "method": "get_data", "params": None}, 1),
        ({"jsonrpc": "2.0", "id": 1, "method": "get_data", "params": "x"}, 1),
        ({"jsonrpc": "2.0", "id": 1, "method": "greet", "params": ["\ud83d"]}, 1),
        (5, None),
        (None, None),
    ],
)
def test_what_is_no_request_is_refused_with_its_id(request_: Any, id_: int | None) -> None:
    """As far as an id can be made out."""
    assert bare(answered(request_)) == no(-32600, id_)


def test_a_batch_has_a_bound() -> None:
    """One answer to all of it: nothing of it is done."""
    call = {"jsonrpc": "2.0", "id": 1, "method": "get_data"}
    assert len(answered([call] * MOST_IN_BATCH)) == MOST_IN_BATCH
    assert bare(answered([call] * (MOST_IN_BATCH + 1))) == no(-32600)


def said(method: str, params: Any) -> tuple[int, str, dict[str, Any]]:
    """Code, sentence and data of a refusal."""
    error = answered({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})["error"]
    assert error["message"] == error["data"]["sentence"]
    return error["code"], error["message"], error["data"]


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({}, "'greet' needs the parameter 'userName'."),
        ({"userName": 5}, "Parameter 'userName' of 'greet': input should be a valid string."),
        (
            {"userName": "a" * 21},
            "Parameter 'userName' of 'greet': string should have at most 20 characters.",
        ),
        (
            {"userName": "ann", "age": 5},
            "'greet' has no parameter 'age': it takes 'userName', 'times'.",
        ),
        (
            {"user_name": "ann"},
            "'greet' needs the parameter 'userName'.",
        ),
        (["ann", 1, 2], "'greet' takes at most 2 parameters: there are 3."),
    ],
)
def test_wrong_parameters_are_refused_in_a_sentence_that_names_them(
    params: Any, sentence: str
) -> None:
    """As they are called on the wire."""
    assert said("greet", params)[:2] == (-32602, sentence)


def test_all_wrong_parameters_are_listed_for_programs() -> None:
    """The sentence tells of the first."""
    assert said("subtract", {"minuend": "x"})[2]["fields"] == ["minuend", "subtrahend"]


def test_a_method_that_is_not_there_names_those_that_are_like_it() -> None:
    """One that was misspelt is found."""
    code, sentence, _ = said("subtrakt", {})
    assert (code, sentence) == (-32601, "There is no method 'subtrakt': did you mean subtract?")


def test_a_refusal_says_what_the_command_line_says() -> None:
    """The same sentence, and the class of the refusal for programs."""
    code, sentence, data = said("idle", {})
    assert code == -32010
    assert sentence == "Session 'main' is idle: send a message first (mind message \"…\")."
    assert data == {"error": "NothingAwaits", "sentence": sentence}
    assert said("task", {})[0] == -32000
    assert said("busy", {})[0] == -32011


def test_a_mistake_of_the_server_is_told_without_its_innards(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """They stand in the log alone."""
    code, sentence, data = said("bug", {})
    assert (code, data["error"]) == (-32603, "InternalError")
    assert "secret" not in sentence
    assert "Traceback" not in str(data)
    assert "ZeroDivisionError: a secret of the server" in caplog.text


def test_the_code_of_an_error_is_that_of_the_nearest_class() -> None:
    """What is refused in a way of its own is refused all the same."""

    class Unheard(Refused):
        """A refusal that nobody listed."""

    assert code_of(Unheard("no")) == -32010
    assert code_of(BadSetting("no")) == -32602
    assert code_of(LostRace("no")) == -32011
    assert as_rpc_error(NoSuchAgent("ann-1")).code == -32001
    assert all(code in CODES for code in (code_of(Unheard("no")), code_of(LostRace("no"))))


def test_numbers_that_json_lacks_become_null() -> None:
    """So that every answer can be read."""

    async def run(_: Peer, __: Nothing) -> Answer:
        return Answer(answer=[float("nan"), {"x": float("inf")}, b"\xff", "half \ud83d"])

    odd = Method("odd", "Odd.", Nothing, Answer, run)
    answer = answered({"jsonrpc": "2.0", "id": 1, "method": "odd"}, odd)
    assert answer["result"]["answer"] == [None, {"x": None}, "ff", "half �"]


def test_calls_begin_in_the_order_in_which_they_came_and_do_not_wait_for_each_other() -> None:
    """A long one does not hold up a short one; those of a batch wait for each other."""
    begun: list[int] = []
    ended: list[int] = []

    async def talk() -> None:
        first_may_end = asyncio.Event()

        async def run(_: Peer, params: Nothing) -> Answer:
            number = len(begun)
            begun.append(number)
            if number == 0:
                await first_may_end.wait()
            ended.append(number)
            return Answer(answer=number)

        dispatcher = Dispatcher(table(Method("wait", "Wait.", Nothing, Answer, run)))
        call = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "wait"})
        tasks = [asyncio.create_task(dispatcher.answer(Someone(), call)) for _ in range(3)]
        await asyncio.gather(*tasks[1:])
        assert ended == [1, 2]
        first_may_end.set()
        await tasks[0]

    asyncio.run(talk())
    assert begun == [0, 1, 2]
    assert ended == [1, 2, 0]


def test_the_calls_of_a_batch_run_one_after_the_other() -> None:
    """Each begins when the one before it has ended."""
    happened: list[str] = []

    async def run(_: Peer, __: Nothing) -> Answer:
        happened.append("begun")
        await asyncio.sleep(0)
        happened.append("ended")
        return Answer()

    call = {"jsonrpc": "2.0", "id": 1, "method": "wait"}
    answered([call, call], Method("wait", "Wait.", Nothing, Answer, run))
    assert happened == ["begun", "ended"] * 2
