"""The forms in which a mind can be spoken to."""

from domain.protocol.compact import render_compact
from domain.protocol.render import render
from domain.protocol.view import View


def prompt_text(view: View, dialect: str) -> str:
    """The exact text that a mind of this dialect is shown."""
    return render_compact(view) if dialect == "compact" else render(view)
