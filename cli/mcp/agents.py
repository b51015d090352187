"""The tools of whoever has a role: agents, tasks and projects."""

from collections.abc import Callable, Sequence

from cli.mcp.server import Caller
from cli.rpc.service import Service
from commands.agents.agent_tools import agent_tools
from commands.agents.tools import Tool


def tools_of(service: Service) -> Callable[[Caller], Sequence[Tool]]:
    """What gives a caller the tools that its role permits."""

    def of(caller: Caller) -> Sequence[Tool]:
        if caller.role is None:
            return ()
        return agent_tools(
            service.harness,
            service.log,
            service.world,
            client=caller.client,
            permissions=caller.role.permissions,
            role=caller.role.name,
        )

    return of
