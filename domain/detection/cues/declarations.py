"""By which words people say what holds, what was decided and what is to come."""

from domain.detection.cues.phrases import any_of, begins

MARKED = begins(
    r"(?:just )?(?:so you know|for the record|for your information|for context|note(?: that)?"
    r"|keep in mind(?: that)?|remember(?: that)?|important|fact|it turns out(?: that)?"
    r"|turns out(?: that)?|be aware(?: that)?|don't forget that|for reference|to be clear|zur info"
    r"|nur zur info|merk dir|wichtig|para que sepas|recuerda que|ten en cuenta(?: que)?)(?: ?[:,]"
    r"| that| dass| que)?",
)

NOTED = any_of(
    "fyi",
    "keep (?:that|this|it) in mind",
    "note that",
    "for the record",
    "heads up",
    "btw",
    "by the way",
    "übrigens",
    "por cierto",
)

WE_USE = begins(
    r"(?:we|i|our \w+|all our \w+|my \w+)(?: (?:always|only|currently|mostly|never|usually"
    r"|generally|still|now|both|all))?(?:'ve| have|'re| are)? ?(?:use|uses|using|run|runs|host"
    r"|deploy|store|require|support|target|prefer|charge|rent|own|live|lives|moved|work (?:with|at"
    r"|in|as|for)|keep|follow|name|switched|migrated|upgraded|take|takes|eat|avoid|drive|speak"
    r"|teach|grow|weigh|employ|have (?:\d+|two|three|four|five|six|ten|a dozen)|no longer \w+"
    r"|(?:don't|do not) (?:eat|drink|smoke|use|drive|have|own|speak|support|allow|ship|deploy"
    r"|accept|work))(?: to| from)?",
    r"(?:wir|ich) (?:verwenden?|benutzen?|nutzen?|arbeiten? mit|setzen? auf|haben? uns|wohnen?"
    r"|nehmen?)",
    r"(?:usamos|uso|utilizamos|trabajamos con|vivo en|tenemos|prefiero)",
)

I_AM = begins(
    r"(?:[\w'-]+ ){1,3}(?:is|are) (?:\w+ )?(?:lactose|gluten|allergic|vegetarian|vegan|diabetic"
    r"|coeliac|celiac|pregnant|colou?r ?blind|left-handed)|(?:her|his|their|its) name(?:'s| is)"
    r"|i only have|(?:we're|we are) a (?:team|family|company|group|couple|band|club|class) of",
    r"(?:i'm|i am|we're|we are) (?:an? |the )?(?:allergic|vegetarian|vegan|diabetic|pregnant|based"
    r"|from|left-handed|colou?r ?blind|lactose|gluten|coeliac|\w+ist|\w+er|\w+or|\w+ian|student"
    r"|nurse|\d+ years)|(?:hi )?i'm [a-z]+, i (?:run|work|live|am|own|teach)",
    r"i have (?:\w+ )?(?:\d+|two|three|four|five|diabetes|asthma|celiac|coeliac|kids|children"
    r"|a (?:dog|cat|son|daughter|degree|background|budget|licen[sc]e|garden|nut allergy"
    r"|peanut allergy))",
    r"(?:ich bin|wir sind) (?:vegetarier(?:in)?|veganer(?:in)?|allergisch|diabetiker(?:in)?"
    r"|schwanger|aus|\d)|(?:soy|somos) (?:alérgic[oa]|vegetarian[oa]|vegan[oa]|diabétic[oa]|de)",
)

MINE_IS = begins(
    r"(?:my|our|the|mum|mom|dad|meine?|unsere?|mi|nuestr[oa])(?: [\w/.'-]+){1,7}? (?:is|are|was"
    r"|has|have|takes|lives|runs|starts|started|expires|uses|supports|costs|works|studies|weighs"
    r"|measures|contains|belongs|ist|sind|hat|liegt|heißt|es|son|tiene|está|usa|ends|begins"
    r"|are called|is called|closes|opens|listens|allows)",
)

THIRD = begins(
    r"(?!(?:it|this|that|there|what|who|here|everything|nothing|nobody|he|she|they|you|i|we|which"
    r"|where|when|how|one|people|someone)(?!\w))[\w'-]+(?: [\w'-]+){0,3} (?:now )?(?:(?:runs|owns"
    r"|handles|leads|manages|heads|maintains|coordinates|works (?:at|for|as|in)) (?:now )?(?:the"
    r"|our|my|at|for|a|an)|(?:is|are) (?:now )?(?:(?:the|our|my) (?:\w+ )?(?:contact|lead|leader"
    r"|owner|manager|boss|maintainer|admin|head|director|doctor|lawyer|teacher|landlord|landlady"
    r"|supervisor|editor|host|treasurer)|in charge|responsible))",
)

DECIDED = any_of(
    r"(?:i|we)(?:'ve| have)? (?:now |finally |both |all )?(?:decided|agreed|settled|opted|chosen"
    r"|chose|picked)(?: (?:on|to|for|that|in favou?r))?",
    r"let's (?:go with|use|stick (?:to|with)|take|settle on|pick|keep|choose|say|agree)",
    r"(?:i|we)(?:'ll| will) (?:go with|use|stick with|take|keep|pick|choose)|the decision is"
    r"|it's decided|wir nehmen|ich nehme|(?:haben|habe) (?:mich|uns) für|nos quedamos con"
    r"|hemos decidido|vamos con",
)

RULE = begins(
    r"(?:from now on|in future|in the future|ab jetzt|ab sofort|a partir de ahora|always|never"
    r"|please always|please never|i prefer|we prefer|i'd rather you|i would prefer|immer|siempre)",
)

CHANGED = any_of(
    r"now|no longer|not any ?more|any ?more|changed|moved|switched|upgraded|migrated|correction"
    r"|actually|instead|new|replaced|renamed|updated|increased|raised|lowered|reduced|became"
    r"|has become|meanwhile|jetzt|nicht mehr|neu|umgezogen|geändert|ahora|ya no|cambiado|nuev[oa]"
    r"|latest|in the meantime",
)

ANSWERED = begins(
    r"(?:decision|decided|conclusion|key (?:finding|point|fact)|finding|fact|result|in conclusion"
    r"|agreed|outcome|entscheidung|fazit|ergebnis|decisión|conclusión)(?: ?:| is that| that|,)",
)

ANSWERED_CAUSE = any_of(
    r"(?:the )?(?:root cause|real cause|culprit|actual cause|underlying cause) (?:is|was)"
    r"|(?:it )?turns out that|(?:die )?ursache (?:ist|war)|la causa (?:es|era)|we(?:'ve"
    r"| have)? agreed (?:that|on|to)",
)

FEELING = any_of(
    r"(?:good|great|nice|bad|funny|fun|beautiful|tired|sorry|sure|happy|sad|glad|interesting"
    r"|amazing|terrible|awful|boring|confus(?:ed|ing)|curious|busy|fine|ok|okay|right|wrong|true"
    r"|weird|strange|crazy|lovely|a bit|kind of|question|idea|guess|wonder(?:ing)?|feeling|opinion"
    r"|joke|gone|worried|thin|typical)",
)

REMIND = any_of(
    r"remind (?:me|us)(?: again)?(?: (?:to|about|of|that))?|(?:don't|do not"
    r"|dont) (?:let me )?forget(?: to| that| about)?|(?:add|put)(?: (?:it|that|this))? (?:to|in"
    r"|on) (?:my|our|the) calendar|set (?:a|an) (?:reminder|alarm|timer)(?: (?:to|for))?"
    r"|i (?:must not|mustn't|can't|shouldn't) forget(?: to)?|save the date|erinnere? (?:mich|uns)"
    r"|nicht vergessen|recuérdame|recuerdame|no (?:me dejes |te )?olvid\w+",
)

HAPPENING = any_of(
    r"appointments?|meeting|deadline|due|exams?|flight|flies|fly|train|leaves?|departs?|arrives?"
    r"|arrive|arriving|hearing|interview|birthday|party|dinner|lunch|breakfast|brunch|visit(?:s"
    r"|ing)?|concert|release|launch(?:es)?|talk|wedding|booster|surgery|operation|scan|check-?up"
    r"|vaccination|conference|workshop|presentation|demo|call|lesson|class|course|match|game"
    r"|ceremony|funeral|anniversary|festival|delivery|delivered|pick[- ]?up|renewal|expires?"
    r"|closes|starts|begins|opens|ends|submission|freeze|review|standup|stand-up|sprint|scheduled"
    r"|booked|reservation|evening|trip|holiday|vacation|moving|move|court|trial|viewing|inspection"
    r"|term|flying|handed in|hand in|comes|coming|come over|doctor|dentist|lawyer|plumber"
    r"|electrician|vet|submit|check-?in|travel(?:ling)?|meet|seeing|hand over|rehearsal|audition"
    r"|recital|marathon|race|dose|election|frist|abgabe\w*|termin|treffen|besprechung|prüfung|flug"
    r"|zug|geburtstag|hochzeit|arzt\w*|zahnarzt\w*|feier|abflug|umzug|cita|reunión|examen|vuelo"
    r"|cumpleaños|boda|plazo|entrega|médico|dentista",
)

TOLD = any_of(
    r"weather|will it|in my novel|was|were|met|went|had|told|happened|used to|gestern|ayer|what if"
    r"|suppose|usually|normally|always|would|could",
)
