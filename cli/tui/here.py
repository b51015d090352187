"""What sentences of the command line tell people to type, said as it is done in the app."""

import re

_WORDS: tuple[tuple[str, str], ...] = (
    (r"\(mind drafts, mind accept\)", "(ctrl+n, /accept)"),
    (r"\(mind drafts\)", "(ctrl+n)"),
    (r"\(mind run\)", "(ctrl+r)"),
    (r" \(mind message \"…\"\)", ""),
    (r"\bmind sessions lists them\b", "/switch lists them"),
    (r"\bmind new NAME\b", "/new NAME"),
    (r"\bmind config --set ", "/config "),
    (r"\bmind project create NAME\b", "/project new NAME"),
    (r"\bmind task create \S+ TITLE\b", "/task new TITLE"),
    (r"\bmind agent undraft -a [^\s)]+", "/undraft"),
    (r"\bmind agent draft ROLE\b", "/draft ROLE"),
    (r"\bmind agent kill ", "/kill "),
)
"""What a refusal says, and what stands for it here; for the rest, a shell is needed."""


def in_app(sentence: str) -> str:
    """The sentence with keys and slash commands where the app has them."""
    for told, here in _WORDS:
        sentence = re.sub(told, here, sentence)
    return sentence
