"""By which words people say what they want, what troubles them and what they turn to."""

from domain.detection.cues.phrases import any_of, begins

AGAIN = any_of(
    r"again|once more|back again|(?:is|are|'s|has come|have come|came|comes?|coming) back"
    r"|has returned|have returned|returned|re-?appeared|relapse|wieder|otra vez|de nuevo|ha vuelto"
    r"|volvió",
)

TROUBLE = any_of(
    r"broke|broken|breaks|breaking|fail(?:s|ed|ing|ure)?|crash(?:es|ed|ing)?|errors?|bugs?"
    r"|problems?|issues?|hurts?|hurting|pain|ach(?:e|es|ing)|leak(?:s|ing|ed)?|slow|down|stuck"
    r"|dead|died|dies|worse|spots?|noise|scratching|flicker(?:s|ing)?|hangs?|exits?|itch(?:y|es"
    r"|ing)?|[45]\d\d|times? out|timed out|wrong|missing|started|starts|stopped|no longer|kaputt"
    r"|fehler|weh|problema|falla|duele|won't|cannot|can't|doesn't|isn't|drops?|dropped|lost"
    r"|swollen|cough(?:ing)?|fever",
)

NOT_AFTER_ALL = any_of(
    r"not (?:\w+ )?(?:fixed|solved|resolved|done|gone|over|finished) (?:after all|yet)|(?:wasn't"
    r"|was not|isn't|is not|hasn't been) (?:really |actually |quite )?(?:fixed|solved|resolved"
    r"|gone)|re-?open\w*|(?:didn't|did not) last|spoke too soon|celebrated too (?:soon|early)"
    r"|(?:was|been) too (?:quick|early|soon|optimistic)|after all|broke again|doch nicht"
    r"|zu früh gefreut|wieder da",
)

GO_ON = any_of(
    r"(?:want|like|going|decided|need) to (?:go on|continue|resume|carry on|pick up|take up)"
    r"|let's (?:resume|continue|take up|pick up|reopen|revive)|re-?open|do (?:it|that) after all",
)

_WILL = (
    r"(?:want(?:ed)?|need|have|'d (?:like|love)|would (?:like|love)|plan|am planning|'m planning"
    r"|intend|am trying|'m trying|are trying|'re trying|try|am going|'m going|are going|'re going"
    r"|am about|'m about|am supposed|'m supposed|are supposed|'re supposed|must|have been asked"
    r"|'ve been asked|aim|hope|'ve got|are planning|'re planning|am looking|'m looking|are looking"
    r"|'re looking)"
)

WANT = any_of(
    rf"(?:i|we) ?{_WILL} to(?= \S)(?! (?:know|ask|understand|thank|say|tell|mention|hear|see"
    rf"|add that"
    r"|admit|go|leave|run out|be honest|learn more|check with|agree|disagree|believe|think about"
    r"|wait)(?!\w))",
    r"(?:i'm|i am|we're|we are) (?:currently )?(?:working on|setting up|building|writing|planning"
    r"|trying to|preparing|organi[sz]ing|designing|migrating|looking for|moving|renovating"
    r"|struggling with)",
    r"(?:i|we)(?:'ve| have) been (?:trying|struggling|working|looking)|(?:i|we) (?:really |also "
    r"|still )?need (?:a|an|some|your|new|more|ideas|advice|tips)|(?:i'd|we'd) like (?:your|some|a"
    r"|an)",
    r"(?:i'm |i am |we're |we are |been )?thinking (?:about|of)|new project(?= ?:)",
    r"(?:and|but|so) (?:i |we )?(?:want|need|would like) to(?= \S)",
    r"my goal is(?: to)?|our goal is(?: to)?|the goal is(?: to)?|the plan is to|the task is to",
    r"(?:ich|wir) (?:möchten?|wollen?|will|müssen|muss|versuchen?|plane[n]?|brauchen?)",
    r"(?:necesito|necesitamos|quiero|queremos|quisiera|tengo que|tenemos que|intento"
    r"|estoy intentando)",
)

WANT_FIRST = begins(
    r"(?:need|want|trying|have|got|looking) to(?! (?:go|leave|say|know|ask|admit|think)(?!\w))"
    r"|looking for (?:a|an|some|ideas)|(?:struggling|working|stuck) (?:with|on)",
)

HELP = any_of(
    r"help (?:me|us|my \w+|our \w+)(?: to)?|(?:can|could|would) (?:you|someone"
    r"|anyone) (?:please )?help|any (?:ideas?|idea|suggestions?|advice|tips|clue)|please help"
    r"|need (?:some |your )?help(?: with)?|kannst du mir (?:bitte )?helfen|hilf mir|ayúdame"
    r"|me ayudas|puedes ayudarme",
)

HELP_LAST = r"(?:,|\.|-)\s*(?:help|pls\ help|please\ help|help\ please|help\ pls|hilfe|ayuda)\W*$"

_MAKE = (
    r"(?:write|draft|make|create|generate|build|design|implement|refactor|translate|summari[sz]e"
    r"|compose|prepare|rewrite|convert|fix|debug|review|plan|organi[sz]e|proofread|sketch|outline"
    r"|add|remove|rename|set up|develop|edit|shorten|calculate|simplify|optimi[sz]e|port"
    r"|schreib[e]?|übersetze?|erstelle?|fasse?|plane?|entwirf|escribe|escríbeme|traduce|resume"
    r"|redacta|crea|haz|hazme|prepara)"
)

REQUEST = begins(
    r"(?:(?:can|could|would) you (?:please )?)?(?:check (?:my|our|this|the)|find (?:me|us))(?= \S)",
    rf"(?:(?:can|could|would|will) (?:you|we) (?:please |maybe |also )?|kannst du (?:mir )?"
    rf"|puedes )?"
    rf"{_MAKE}(?= \S)(?! (?:it|this|that|them|these|those|sure|sense|me (?:laugh|happy)|one"
    rf"|another)(?!\w))",
)

DELIVERED = begins(
    r"(?:(?:can|could|would|will) you (?:please |maybe |also )?|kannst du (?:mir )?"
    r"|puedes )?(?:write|draft|create|make|generate|translate|summari[sz]e|compose|prepare|rewrite"
    r"|convert|proofread|outline|shorten|calculate|simplify|refactor|schreibe?|übersetze?"
    r"|erstelle?|fasse|escribe|escríbeme|traduce|resume|redacta)(?= \S)",
)
"""What an answer can be, and not only speak of."""

EDIT = begins(
    r"(?:(?:can|could|would) you (?:please )?)?(?:shorten|edit|rewrite|review|add|remove|rename"
    r"|simplify|list|convert|translate|proofread|make (?:the|it|this)|fix the|update|change|move)",
)
"""What is asked about a thing that is there already."""

LETS = begins(
    r"let's (?:set up|build|plan|write|design|make|create|implement|organi[sz]e|start (?:with|on"
    r"|by)?|work on|prepare|fix|figure out|find|sort out|migrate|refactor|move|add|renovate|tackle"
    r"|draft)",
    r"lass uns|vamos a",
)

WHY_MY = any_of(
    r"why (?:does|do|is|are|did|has|have|won't|doesn't|don't|can't|isn't|aren't) (?:my|our|this"
    r"|these)",
    r"how (?:can|do|could|should) (?:i|we) (?:fix|solve|get rid of|debug|stop|repair|prevent"
    r"|recover|save|get (?:my|our|the) \w+ (?:back|to)|make (?:my|our))",
    r"(?:what's|what is) wrong with (?:my|our|this)|warum (?:geht|funktioniert|ist"
    r"|startet) (?:mein|unser|der|die|das)|por qué no",
)

PROBLEM = any_of(
    r"(?:another|a new|other|different|next) (?:problem|issue|bug|error)(?= ?[,:.-])",
    r"(?:get|gets|getting|got|gives?|giving|throws?|shows?|returns?|see|seeing|receive|bekomme"
    r"|kriege|recibo|sale) (?:\w+ ){0,5}(?:errors?|exceptions?|[45]\d\d|warnings?|timeouts?|fehler"
    r"|failures?)",
    r"(?:crash|hang|freeze|fail|leak|flicker|overheat|wilt|smell|rattle|squeak|drip|ache|hurt"
    r"|break|disconnect|stutter|shut)(?:s|es|ing)(?: down)?|(?:times|timing|keeps timing) out"
    r"|hurts",
    r"keeps? \w+ing|(?:tests?|builds?|jobs?|requests?|but|and|always|often|sometimes) (?:fail"
    r"|crash|hang)|shows? (?:\S+ ){0,3}instead of|can't be right|(?:have|got) (?:mice|rats|ants"
    r"|moths|mou?ld|bedbugs)|stopped (?:working|responding|charging|starting|growing|eating)",
    r"(?:won't|refuses? to|fails? to|doesn't|does not|don't|isn't|aren't) (?:start|work|load|open"
    r"|sleep|eat|print|connect|boot|build|compile|install|run|turn|rise|grow|charge|respond|render"
    r"|show|save|find|sync|update|stop|give|pay|refund|fit|close|drain|heat|working|starting"
    r"|loading|rising|eating|growing)",
    r"(?:can't|cannot|can not|cant|couldn't) (?:get|log|login|sign|connect|open|install|build"
    r"|start|reach|access|upload|download|figure|fix|sleep|move|import|print|find out)",
    r"no longer (?:works?|starts?|loads?|opens?|responds?|prints?)|not working|broken|is stuck"
    r"|are stuck",
    r"(?:is|are|comes? out|turns? out|gets?|getting|has become|became) (?:\w+ )?(?:too |very |so "
    r"|extremely |really )?(?:slow|dense|dry|soggy|bitter|blurry|down|dying|yellow|brown|mouldy"
    r"|swollen|corrupt(?:ed)?)",
    r"(?:takes|took|taking) (?:\w+ ){1,4}(?:now|longer)|exits? (?:\w+ ){0,3}(?:after|with|on)"
    r"|(?:runs?|sends?|fires?|executes?) (?:\w+ ){0,4}twice|refuses to|turned down my"
    r"|grows? (?:\S+ ){0,5}until",
    r"(?:makes?|making) (?:\w+ ){0,4}(?:noises?|sounds?|smells?)|(?:has|have) been (?:red|down"
    r"|broken|slow|failing|sick|ill|offline|stuck|limping|coughing)|(?:is"
    r"|are) (?:currently )?(?:down|offline|red|failing)",
    r"there(?:'s| is| are) (?:a|an|some|something) (?:\w+ ){0,3}(?:leak|bug|problem|issue|noise"
    r"|crack|errors?|smell|mou?ld|stain|rash|wrong)|(?:got|have|has|having) (?:a |an "
    r"|some )?(?:weird|strange|odd|annoying|rash|problem|issue|bug|leak|cough|fever|trouble"
    r"|difficulties)",
    r"(?:has|have) (?:started|begun) (?:to \w+|\w+ing)|only lasts|something(?:'s| is) (?:off|wrong"
    r"|odd|strange|fishy)|nobody (?:answers|replies|responds)|acting up|out of (?:memory|sync"
    r"|space)",
    r"(?:geht|funktioniert|startet|lädt|druckt|springt|läuft) (?:\w+ ){0,3}nicht|no (?:funciona"
    r"|arranca|imprime|carga|abre)|(?:ist|sind) kaputt|tut weh|está rot[oa]|me duele",
)

SOMEBODY = begins(
    r"i (?:don't|do not|can't (?:believe|remember|say|tell)|didn't|think)",
    r"it's not",
    "she",
    "he",
    "you",
    "they",
)

SWITCH = any_of(
    r"(?:another|different|new|separate|other|unrelated|next) (?:problem|issue|topic|thing"
    r"|question|bug|matter|subject|task)|something else|unrelated|on another note|off[- ]topic"
    r"|separately|aside|change of (?:topic|subject)|by the way|btw|was anderes|andere frage"
    r"|anderes thema|übrigens|otra cosa|otro tema|por cierto|just curious",
)

ATTEMPT = any_of(
    r"(?:let's|let us|let me|i'll|i will|we'll|i'm going to|we're going to|i am going to|i'm gonna"
    r"|i could|next i'll|now i'll|we could|shall we|going to) (?:first |now |also |just |then "
    r"|next )?(?:try|test|attempt|experiment with|check|inspect|give|restart|reboot|clear|reset"
    r"|reinstall|update|upgrade|downgrade|replace|swap|change|switch|disable|enable|increase"
    r"|decrease|remove|clean|delete|rebuild|rerun|run|look at|ask|call)(?: out| to)?",
    r"(?:ich|wir) (?:probiere[n]?|versuche[n]?|teste[n]?)|(?:voy a|vamos a|probemos"
    r"|intentemos)(?: probar| intentar)?|lass(?:t)? uns",
)

PART = begins(
    r"let's (?:do|start with|begin with|tackle|take|handle|look at|focus on|work on|get|sort out)",
    r"(?:step|part|phase|chapter|task|point|item) (?:\d|one|two|three|four|five|six)(?: then| now"
    r"| next)?",
    r"(?:the )?(?:first|next|second|third|last) (?:step|part|thing|task|one)(?: is| would be"
    r"| then)?",
)

PART_WORDS = any_of("first", "next", "then", "part", "step", "now", r"step \d", "zuerst", "primero")

BACK = any_of(
    r"(?:back|return|returning|get back|going back|coming back|go back) to|about (?:the|that|my"
    r"|our) .{1,60} again|regarding|concerning|as for|(?:on|about) the (?:subject|topic|matter) of"
    r"|continuing with|continue with|zurück zu[mr]?|zum thema|nochmal zu[mr]?|volviendo a[l]?"
    r"|sobre lo de",
)

GENERIC = any_of(r"bug|issue|problem|error|fehler|problema")

LINKED = r"""^\W*(?:(?:ok|okay|hm+|um|oh|ah|well|right|yes|no|hey|thanks|cool|great|perfect
    |nice)[,.!]?
    \s+){0,3}(?:and|but|so|then|now|still|also|or|what\ if|what\ about|how\ about|what\ else
    |anything
    \ else|else|instead|otherwise|ok|okay|yes|no|yep|nope|sure|hm+|almost|maybe|because|since|it
    |that
    |this|they|these|those|same|here|done|tried|nothing|perfect|great|i\ tried|i\ did|should\ i
    |is\ it
    |does\ it|does\ that|is\ that|would\ that|will\ it|und|aber|dann|jetzt|immer|noch|geht|hier|y
    |pero
    |entonces|ahora|todavía|sigue|go\ on|continue|weiter|more)\b"""

POINTING = any_of(
    r"it|its|that|this|these|those|them|they|same|there|he|she|her|him|your|you (?:said|gave"
    r"|proposed|suggested)|as you|instead|again|another|else|das|es|davon|damit|eso|esto",
)
