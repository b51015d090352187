"""From the name of a model to what answers turns. What is missing is said before it is asked."""

from collections.abc import Mapping
from pathlib import Path

from commands.agents.backend import Backend, BackendUnavailable
from commands.agents.model import Model
from commands.agents.neutral import NeutralBackend
from commands.agents.script import read_script
from commands.agents.window import window_set
from commands.minds.choose import WAYS, make_mind
from commands.minds.hosted import HostedMind
from commands.minds.local import LocalMind
from commands.minds.mind import MindUnavailable
from commands.minds.names import check_name

CLAUDE = "claude:"
"""How the names of models begin that are Claude Code's own."""


def make_backend(name: str, env: Mapping[str, str]) -> Backend:
    """What answers the turns of an agent; heavy libraries are loaded at its first one.

    Args:
        name: of its model: ``claude:NAME``, or one of the forms in
            :data:`commands.minds.names.FORMS`.
        env: the environment; keys are read from here and nowhere else.

    Raises:
        BadSetting: the name has none of the forms.
        BackendUnavailable: a key, a package, a file or the weights are missing.
    """
    if name.startswith(CLAUDE):
        from commands.agents.claude import ClaudeBackend  # noqa: PLC0415 — an extra

        return ClaudeBackend(name.removeprefix(CLAUDE), env)
    return NeutralBackend(make_model(name, env))


def make_model(name: str, env: Mapping[str, str]) -> Model:
    """The model of a name, without asking anything; raises as :func:`make_backend`."""
    parsed = check_name(name)
    window = window_set(env)
    if parsed.provider == "script":
        return read_script(name, Path(parsed.model).expanduser(), window)
    way = None if parsed.provider == "local" else WAYS.get(parsed.provider)
    if way is not None and not env.get(way.key_variable, "").strip():
        raise BackendUnavailable(
            f"{name} needs a key: set {way.key_variable}, or draft an agent with another model"
            " (mind agent draft ROLE --model local)."
        )
    try:
        mind = make_mind(name, env=env)
    except MindUnavailable as error:
        raise BackendUnavailable(error.sentence) from error
    match mind:
        case HostedMind():
            from commands.agents.hosted import HostedModel  # noqa: PLC0415 — only what is needed

            return HostedModel(mind, window)
        case LocalMind():
            from commands.agents.local import LocalModel  # noqa: PLC0415 — only what is needed

            return LocalModel(mind, window)
        case _:
            raise BackendUnavailable(f"{name} can't answer for an agent: choose another model.")
