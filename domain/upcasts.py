"""Old events, read as new ones: one pure function per kind and version, dict to dict.

``UPCASTS[("draft.emitted", 1)]`` turns the stored fields of schema 1 into those of schema 2. The
log applies them in a chain until the schema is the class's own. Nothing stored is ever rewritten,
and a golden file in ``tests/golden/`` keeps every version readable.
"""

from collections.abc import Callable, Mapping
from typing import Any

Upcast = Callable[[dict[str, Any]], dict[str, Any]]

UPCASTS: Mapping[tuple[str, int], Upcast] = {}
