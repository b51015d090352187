"""How cues are written: phrases, of which any may stand anywhere or at the beginning."""

LEAD = (
    r"(?:(?:(?:hey|hi|hello)(?: there| all| everyone)?|hallo|hola|good morning|good evening"
    r"|guten (?:morgen|tag|abend)|ok|okay|so|and|but|also|well|hmm+|hm|um|oh|ah+|yes|yeah|yay"
    r"|no(?=[,.!])|btw|by the way|übrigens|great|perfect|super|cool|nice|now|then|next|finally"
    r"|please|pls|plz|bitte|por favor|alright|right|thanks|thank you|thx|ty|cheers|danke|gracias"
    r"|unfortunately|sadly|quick update|small correction|small update|update|und|jetzt|y|ahora"
    r"|first|actually|fyi|heads up|everyone|again|wow|hooray|guess what|good news|small question"
    r"|after all that|as i said|like i said|maybe|i think|i guess)[,.:;!]{0,3} ){0,5}"
)
"""What may stand before a cue at the beginning of a sentence."""

THING = r"(?:it|that|this|everything|all|which|das|es|alles|eso|esto|todo)"

SOFT = (
    r"(?: (?:really|totally|actually|finally|just|has|have|had|did|all|indeed|now|already"
    r"|seems to have|appears to have|hat|tatsächlich|jetzt|wirklich|endlich)){0,3}"
)


def any_of(*phrases: str) -> str:
    """A pattern of whole words that finds any of these; blanks are what they look like."""
    return rf"(?<!\w)(?:{'|'.join(phrases)})(?!\w)".replace(" ", r"\ ").replace("#", r"\#")


def begins(*phrases: str) -> str:
    """The same at the beginning of a sentence, after what people say first."""
    return rf"^{LEAD}(?:{'|'.join(phrases)})(?!\w)".replace(" ", r"\ ").replace("#", r"\#")
