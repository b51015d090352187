"""What a mind wrote, understood: forgiving about form, strict about meaning.

The stages: wrapping off (form.py); JSON where the reply is an object (read_json.py), else YAML
(nodes.py, read_yaml.py), and piece by piece where the whole is broken (pieces.py); then the
meaning of each key (meaning.py). What stands where prose was expected is never guessed: plain
talk without a key is no draft, half a draft is no draft, and a ``no`` is the word no.
"""

from domain.protocol.fields import Reading, Refusal, known
from domain.protocol.form import Form, for_yaml, from_first_key, spaced, unwrap
from domain.protocol.meaning import understand
from domain.protocol.nodes import Trouble
from domain.protocol.output import Output, Unparseable
from domain.protocol.pieces import read_pieces
from domain.protocol.read_json import read_json
from domain.protocol.read_yaml import read_yaml

LONGEST_REPLY = 1_048_576
"""Characters; anything longer is refused unread."""


def parse(text: str, *, cut: bool = False) -> Output | Unparseable:
    """Understand one reply. Never raises; an empty reply is silence, an output of nothing.

    Args:
        text: the reply as it came.
        cut: the mind was stopped by a limit before it was done, so a last text that nothing
            closes is left out.
    """
    if len(text) > LONGEST_REPLY:
        return Unparseable(f"The reply has more than {LONGEST_REPLY} characters.")
    form = unwrap(text)
    if form.lost:
        return Unparseable(form.lost, form.repairs)
    if not form.body.strip():
        return Output(repairs=form.repairs)
    reading = _read(form, cut=cut and not form.closed)
    if isinstance(reading, Refusal):
        return Unparseable(reading.reason, form.repairs)
    return understand(reading._replace(repairs=(*form.repairs, *reading.repairs)))


def _read(form: Form, *, cut: bool) -> Reading | Refusal:
    body = form.body
    whole = _whole(body, cut=cut)
    if not isinstance(whole, Trouble):
        return whole
    inner = from_first_key(body)
    if inner is None:
        return Refusal(f"The reply has none of the keys of a reply: {whole.reason}.")
    repairs = []
    if inner != body:
        repairs.append("Left out talk before the first key.")
        whole = _whole(inner, cut=cut)
    if isinstance(whole, Trouble) and (tidy := spaced(inner)) != inner:
        repairs.append("Read tabs that indent lines as two spaces.")
        inner = tidy
        whole = _whole(inner, cut=cut)
    if isinstance(whole, Trouble):
        clean = for_yaml(inner)
        repairs.extend(clean.repairs)
        whole = read_pieces(clean.body, whole, cut=cut or form.doubtful)
    if isinstance(whole, Refusal):
        return whole
    return whole._replace(repairs=(*repairs, *whole.repairs))


def _whole(text: str, *, cut: bool) -> Reading | Trouble | Refusal:
    """Read ``text`` as one object or document that has a known key, or nothing at all."""
    found = read_json(text.lstrip()) if text.lstrip().startswith("{") else None
    if found and found.well_formed:
        reading: Reading | Trouble | Refusal = found.reading
    else:
        clean = for_yaml(text)
        reading = read_yaml(clean.body, cut=cut)
        if isinstance(reading, Reading):
            reading = reading._replace(repairs=(*clean.repairs, *reading.repairs))
        elif isinstance(reading, Trouble) and found:
            reading = found.reading
    if isinstance(reading, Trouble | Refusal) or reading.lost:
        return reading
    if not (reading.fields or reading.repairs) or any(known(x.key) for x in reading.fields):
        return reading
    return Trouble("nothing in it has a meaning here", at_end=False, quoted=False)
