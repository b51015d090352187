"""What a client is told about a tool, so that it can decide when to ask its user."""

import mcp_types as types

from commands.agents.tools import Permission, Tool

PERMISSION: dict[str, Permission | None] = {
    "draft_agent": "agent-draft",
    "await_agent": "agent-draft",
    "kill_agent": "agent-draft",
    "ask_agent": "agent-draft",
    "list_projects": "projects-list",
    "create_project": "projects-create",
    "list_agents": None,
    "list_tasks": None,
    "get_task_context": None,
}
"""The tools that a role is given, and the permission that each needs."""

_LOOKING = frozenset(
    {"await_agent", "list_projects", "list_agents", "list_tasks", "get_task_context"}
)


def described(tool: Tool) -> types.Tool:
    """A tool as the protocol tells of it."""
    looks = tool.name not in PERMISSION or tool.name in _LOOKING
    return types.Tool(
        name=tool.name,
        title=tool.name.replace("_", " ").capitalize(),
        description=tool.description,
        input_schema=dict(tool.parameters),
        annotations=types.ToolAnnotations(
            read_only_hint=looks,
            destructive_hint=tool.name == "kill_agent",
            idempotent_hint=looks or tool.name == "kill_agent",
            open_world_hint=tool.name in {"draft_agent", "ask_agent"},
        ),
    )
