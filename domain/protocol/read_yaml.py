"""Fields from a YAML document: which texts stand under which key."""

from domain.protocol.fields import (
    NOTHING,
    STRUCTURE_IN_LIST,
    Field,
    Reading,
    Refusal,
    Value,
    known,
    shown,
)
from domain.protocol.nodes import Document, Node, Trouble, compose

BROKE_OFF = "The reply broke off in the middle of its last text."


def read_yaml(text: str, *, cut: bool = False) -> Reading | Trouble | Refusal:
    """Read ``text`` as one YAML map; nothing at all is a reading without fields.

    With ``cut`` the mind was stopped before it was done: a last text that nothing closes is
    left out, since nobody can tell whether it was whole.
    """
    document = compose(text)
    if not isinstance(document, Document):
        return document
    root, repairs = document
    if root is None or root.is_null:
        return Reading((), repairs)
    if root.kind != "map":
        return Trouble("it is not a map of keys to texts", at_end=False, quoted=False)
    pairs = zip(root.children[::2], root.children[1::2], strict=True)
    fields = [_field(key, node, text) for key, node in pairs]
    notes = [note for _, note in fields if note]
    reading = Reading(tuple(field for field, _ in fields), (*repairs, *notes))
    last = root.last
    if cut and last.style in {"", "|", ">"} and not text[last.end :].strip():
        return _without_last(reading)
    return reading


def _without_last(reading: Reading) -> Reading:
    *fields, (key, value) = reading.fields
    if not known(key):
        return reading
    if value != NOTHING:
        texts = value.texts[:-1] if known(key) == "thoughts" and value.shape == "list" else ()
        fields.append(Field(key, Value("list", texts) if texts else NOTHING))
    repairs = (*reading.repairs, f"Left out the last text, under {key!r}, which broke off.")
    return Reading(tuple(fields), repairs, BROKE_OFF)


def _field(key: Node, node: Node, text: str) -> tuple[Field, str]:
    name = key.text if key.kind == "scalar" else key.source(text)
    if not known(name) or node.is_null:
        return Field(name, NOTHING), ""
    source = node.source(text) if node.is_lines else None
    if node.kind == "scalar":
        return Field(name, Value("text", (node.text,))), ""
    if node.kind == "map":
        return Field(name, Value("structure", (), source)), ""
    items = [item for item in node.children if not item.is_null]
    texts = tuple(x.text if x.kind == "scalar" else x.source(text) for x in items)
    odd = any(item.kind != "scalar" for item in items)
    note = STRUCTURE_IN_LIST.format(key=shown(name)) if odd else ""
    return Field(name, Value("list", texts, source if items else None)), note
