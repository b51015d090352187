"""How clients may be called, over whatever they come: what they draft belongs to that name."""

import re

from domain.errors import BadSetting
from domain.protocol.fields import shown

LONGEST = 64
FORM = r"^\w[\w.@-]*( [\w.@-]+)*$"


def client_name(text: str) -> str:
    """The name, if a client can be called so.

    Raises:
        BadSetting: it can't.
    """
    if len(text) > LONGEST or re.fullmatch(FORM, text) is None:
        raise BadSetting(
            f"{shown(text, 80)} can't name a client: use letters, digits, '.', '_', '@', '-' and"
            f" single spaces, at most {LONGEST} characters."
        )
    return text
