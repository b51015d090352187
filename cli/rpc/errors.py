"""The codes that an answer of the protocol may say no with, and which refusal has which.

The codes from -32700 to -32600 are those of JSON-RPC 2.0; the others stand for situations of this
project. Each ``data`` holds the class of the refusal and the sentence that the command line prints.
"""

from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from cli.rpc.method import Params, RpcError
from domain import agent_errors as agents
from domain import errors
from domain.errors import Broken, LogosphereError, Refused

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
TASK = -32000
AGENT = -32001
ROLE = -32002
NOT_PERMITTED = -32003
DRAFT_IS_ACTIVE = -32004
NO_ACTIVE_DRAFT = -32005
PROJECT = -32006
REFUSED = -32010
BROKEN = -32011
SLOW_DOWN = -32029

CODES = {
    PARSE_ERROR: "What came is no JSON.",
    INVALID_REQUEST: "It is JSON, but no request; or no handshake came before it.",
    METHOD_NOT_FOUND: "There is no such method.",
    INVALID_PARAMS: "A parameter is missing, unknown or not what the method takes.",
    INTERNAL_ERROR: "The server made a mistake, which its own log describes.",
    TASK: "There is no such task, or it is closed.",
    AGENT: "There is no such agent, or it can't take this now.",
    ROLE: "There is no such role, it can't be read, or the project does not have it.",
    NOT_PERMITTED: "The role of the agent does not permit it.",
    DRAFT_IS_ACTIVE: "This client has drafted an agent already.",
    NO_ACTIVE_DRAFT: "This client has drafted nobody.",
    PROJECT: "There is no such project, or it is closed.",
    REFUSED: "The wish can't be granted as things are; nothing has changed.",
    BROKEN: "The world failed: the store is busy or full, a model did not answer.",
    SLOW_DOWN: "Too many requests at once: try again after `data.retryAfterMs`.",
}
"""Every code with what it means."""

ALWAYS = (INVALID_REQUEST, INVALID_PARAMS, INTERNAL_ERROR, REFUSED, BROKEN, SLOW_DOWN)
"""What any method may answer with."""

_CODE_OF: dict[type[LogosphereError], int] = {
    agents.NoSuchTask: TASK,
    agents.TaskIsClosed: TASK,
    agents.NoSuchAgent: AGENT,
    agents.AgentHasEnded: AGENT,
    agents.TurnIsRunning: AGENT,
    agents.QueueIsFull: AGENT,
    agents.TooManyAgents: AGENT,
    agents.NoSuchRole: ROLE,
    agents.BadRole: ROLE,
    agents.RoleNotInProject: ROLE,
    agents.NotPermitted: NOT_PERMITTED,
    agents.NoSuchTool: NOT_PERMITTED,
    agents.DraftIsActive: DRAFT_IS_ACTIVE,
    agents.NoActiveDraft: NO_ACTIVE_DRAFT,
    agents.NoSuchProject: PROJECT,
    agents.ProjectIsClosed: PROJECT,
    agents.ProjectIsVirtual: INVALID_PARAMS,
    agents.ProjectExists: INVALID_PARAMS,
    agents.TaskExists: INVALID_PARAMS,
    errors.SessionExists: INVALID_PARAMS,
    errors.BadName: INVALID_PARAMS,
    errors.BadText: INVALID_PARAMS,
    errors.BadSetting: INVALID_PARAMS,
    errors.BadRef: INVALID_PARAMS,
    errors.BadExpression: INVALID_PARAMS,
    errors.BadQuery: INVALID_PARAMS,
    Refused: REFUSED,
    Broken: BROKEN,
}


def code_of(error: LogosphereError) -> int:
    """The code of an error, by the nearest of its classes that has one."""
    return next((_CODE_OF[one] for one in type(error).__mro__ if one in _CODE_OF), BROKEN)


def as_rpc_error(error: LogosphereError) -> RpcError:
    """The answer that tells of an error of this project."""
    return said(code_of(error), error.sentence, type(error).__name__)


def said(code: int, sentence: str, error: str, **more: Any) -> RpcError:
    """An answer that says no in a sentence; ``more`` goes to its ``data``."""
    return RpcError(code, sentence, {"error": error, "sentence": sentence, **more})


def bad_request(sentence: str) -> RpcError:
    """What came can't be taken for a request."""
    return said(INVALID_REQUEST, sentence, "BadRequest")


def bad_params(sentence: str, *fields: str) -> RpcError:
    """What came with the method is not what it takes; the fields as they are called on the wire."""
    return said(INVALID_PARAMS, sentence, "BadParams", fields=list(fields))


def of_validation(method: str, takes: type[Params], error: ValidationError) -> RpcError:
    """One sentence that names the first field that is wrong; no value stands in it."""
    wrong = error.errors(include_url=False, include_context=False, include_input=False)
    fields = [".".join(str(part) for part in one["loc"]) for one in wrong]
    first, field = wrong[0], fields[0]
    if first["type"] == "missing":
        sentence = f"{method!r} needs the parameter {field!r}."
    elif first["type"] == "extra_forbidden":
        names = ", ".join(repr(name) for name in names_of(takes))
        takes_what = f"it takes {names}" if names else "it takes none"
        sentence = f"{method!r} has no parameter {field!r}: {takes_what}."
    else:
        # a validator of ours says more than "Value error, "
        why = first["msg"].removeprefix("Value error, ").rstrip(".")
        sentence = f"Parameter {field!r} of {method!r}: {why[:1].lower()}{why[1:]}."
    if len(fields) > 1:
        sentence += f" So it is with {', '.join(fields[1:])}." if _alike(wrong) else ""
    return bad_params(sentence, *fields)


def names_of(takes: type[Params]) -> list[str]:
    """The parameters as they are called on the wire, in the order of :func:`required_first`."""
    return [name for name, _ in required_first(takes)]


def required_first(model: type[BaseModel]) -> list[tuple[str, FieldInfo]]:
    """Its fields as they are called on the wire: by position, what may be left out comes last."""
    fields = [(field.alias or name, field) for name, field in model.model_fields.items()]
    return sorted(fields, key=lambda pair: not pair[1].is_required())


def _alike(wrong: Any) -> bool:
    return len({one["type"] for one in wrong}) == 1
