"""What takes the meaning out of a cue: conditions, hopes, denials, what others said."""

from domain.detection.cues.phrases import any_of

HYPOTHETICAL = any_of(
    r"if|unless|suppose|supposing|assuming|imagine|hypothetically|wish",
    r"would|wouldn't|could have|should|might|may|perhaps|hopefully",
    r"hope|hoping|in case|what if|as if|until|once (?:it|the|that|this|we|i|you|everything|all)"
    r"|whether|can only",
    r"in theory|not sure|unsure|i doubt|i guess|will it|will fix|will work",
    r"let's see|let me see|i'll see|expect(?:ed)?|pretend|wenn|falls|sollte",
    r"hoffe|hoffentlich|würde|wäre|vielleicht|ob|ojalá|espero|quizás",
    r"si|sería|tal vez|needs? to be|to be|must be|used to",
)

REPORTED = any_of(
    r"says?|said|told|wrote|writes|claims?|claimed|according to|reported",
    r"someone|somebody|colleague|had the same|had a similar|a similar|people say|apparently"
    r"|they say|sagt|laut",
    r"dice|según|in (?:the|my|this|a|his|her) (?:novel|film|movie|story|book|series|game|script"
    r"|play|song|episode)|the (?:hero|character)",
)

NEGATED = any_of(
    r"not|never|no|nothing|none|neither|nor|hardly|barely|\w+n't",
    r"dont|doesnt|didnt|isnt|cant|wont|wasnt|still|cannot|without luck",
    r"nicht|nie|kein|keine|nichts|immer noch|todavía|aún|nada|nunca",
    r"far from|except|instead of|almost|nearly|partly|partially|half",
)

PARTIAL = any_of(
    r"but|except|however|though|although|only|just not|apart from|almost",
    r"on my (?:machine|laptop|computer)|before|in the past|the first|sometimes",
    r"aber|nur|pero|solo|sólo|used to|for a (?:while|moment|minute)|most of",
)

BROKEN = any_of(
    "broken", "broke", "fails?", "failed", "failing", "crash(?:es|ed)?", "doesn't", "didn't"
)
"""What after a cue makes it no conclusion."""

UNSURE = any_of(
    r"needs?|want|wants|please|tell me|when|how|explain|let me|make sure",
    r"until|thinks?|thought|ensure|check|else|only|like to see|believes?",
    r"one of|some of|half of|part of|most of",
    r"before|get|getting|waiting|what|why|yesterday|once|that way",
)
"""What before a cue makes it no conclusion."""

DOUBT = any_of(
    r"if|unless|would|could|should|might|maybe|perhaps|hope|wish|but",
    r"still|not|doesn't|didn't|isn't|don't|can't|won't|nothing|almost",
    r"only|except|however|although|tomorrow|will|i'll|again|worse|until",
    r"nicht|noch|aber|kein|no|pero|todavía|first|some|half|want|need",
    r"one of|part|before|trying|what|why|how|where|when",
)
"""What around the evidence makes it none."""

ASKS_BACK = any_of(
    r"i can't|i cannot|i'm unable|i need (?:more|to know)|could you (?:share|send|tell|paste)"
    r"|please (?:share|send|provide|paste)",
)
"""By which an answer says that it is not yet what was asked for."""

ADVICE = any_of(
    r"let me know|try|should|if|can you|please check|once (?:it|the|that|this|we|i|you|everything"
    r"|all)",
)
"""By which an answer says what could be done, and not what is."""
