"""By which words people say that something is solved, failed or given up."""

from domain.detection.cues.phrases import SOFT, THING, any_of, begins

_GOOD = (
    r"(?:works?|working|worked|runs?|running|fine|fixed|solved|resolved|green|sorted(?: out)?"
    r"|perfect|ok|good|up(?: and running)?|done|passing|settled|back to normal|healed|repaired)"
)

_NOW = (
    r"(?: (?:now|again|perfectly|great|fine|well|like a charm|beautifully|flawlessly|as expected"
    r"|nicely|wonderfully|a treat|at last|finally))"
)

SOLVED = any_of(
    rf"{THING}{SOFT} (?:fixed|solved|resolved|cured|did|helped|worked|settled)"
    r"(?: (?:it|that|this|the (?:trick|problem|issue|job)|everything|my (?:problem|issue)|a lot"
    r"|perfectly|great|wonders|like a charm|well|indeed|for me))?",
    rf"{THING}{SOFT}(?:'s| is| are)?{SOFT} {_GOOD}{_NOW}",
    rf"{THING}(?:'s| is| are){SOFT} (?:fixed|solved|resolved|sorted(?: out)?|done|gone|settled)",
    r"(?:problem|issue|bug|error|thing|matter|question|case|ticket|leak|noise|pain|one|topic"
    r"|task)s?(?:'s| is| are| was| were| has been| have been){1,2}(?: (?:now|finally|all"
    r"|completely))? (?:solved|fixed|gone|resolved|sorted|closed|settled|done)",
    r"(?:is|are|has been|have been) (?:now |all |finally |completely )?(?:fixed|solved"
    r"|resolved)(?! (?:rates?|interest|prices?|income|costs?|in|on|when|once|by hand))",
    r"(?:is|are) (?:now |all |finally |completely )?gone(?=\s*[.!,;:)]|\s*$| now| since| after"
    r"| thanks)",
    rf"(?:now )?works?{_NOW}",
    r"(?:it|that|this|everything) works(?= for me|\s*[!.,;]|\s*$)",
    r"now (?:it|everything|that|this|all of it) (?:works|goes through|runs|starts|builds|compiles"
    r"|passes|loads|prints|boots|connects|renders|opens|sleeps|looks (?:right|good|perfect))",
    rf"{THING}(?:'s| is| are) working(?=\s*[!.,;]|\s*$)|can confirm (?:that )?(?:it|this|the fix)",
    r"(?:fixed|solved|resolved|cured) (?:it|this|that|everything|(?:the|my|our) (?:\w+ )?(?:issue"
    r"|problem|bug|error|crash|leak|thing))",
    r"(?:is|are|looks?|look) (?:all |much )?(?:correct|right|good|fine|ok|okay|perfect|normal"
    r"|clean|stable|clear|great) (?:now|again)|as it should|\w+s (?:properly|correctly|fine"
    r"|perfectly|normally|smoothly|reliably|beautifully|well|great) now",
    r"(?:problem|issue|bug|error|pain|noise|it|symptoms?|smell|rash) (?:went away|(?:has "
    r"|have )?(?:disappeared|vanished|gone away))|managed to (?:get (?:it|this|that"
    r"|\w+ \w+) (?:working|running|to work)|fix|solve)",
    r"closing this|(?:did|does) the job|found (?:it|the (?:problem|bug|cause|culprit|reason|issue"
    r"|leak|mistake|error))",
    r"did the trick|does the trick|like a charm|problem solved|issue resolved|case closed",
    r"(?:i )?(?:got|have|made) (?:it|that|this|everything) (?:working|running|to work|to run|fixed"
    r"|solved|done|sorted)",
    r"(?:i|we)(?:'ve| have)? (?:found|figured|worked|sorted|nailed|cracked|solved|fixed) (?:it"
    r"|it out|that out|the (?:problem|bug|cause|culprit|reason|issue|leak|mistake|error))",
    r"(?:the |all |my )?tests? (?:are |is )?(?:all )?(?:green|pass(?:ing|es)?|passed)",
    r"(?:pr|branch|patch|fix|change|it)(?:'s| is| was| has been| got) (?:now )?(?:merged|deployed"
    r"|released|shipped|live|in production)",
    r"(?:we|you|i) can (?:now )?close (?:this|it|that)|(?:i'm|i am|we're"
    r"|we are) (?:all )?done(?: here| with (?:this|that|it))?",
    r"so that's (?:done|that|settled|it|fixed|solved)|that's (?:done|settled|solved|taken care of)",
    r"i (?:consider|call|declare) (?:this|it|that) (?:solved|done|fixed|closed|finished)",
    r"that was (?:it|the problem|the issue|the cause|the culprit|exactly it|exactly what i needed)",
    r"(?:exactly|just) what i (?:needed|was looking for)|makes sense now|it all makes sense"
    r"|that clears it up|that answers (?:it|my question)|you(?:'re| are) a (?:lifesaver|genius"
    r"|star)",
    r"no more (?:\w+ing|errors?|problems?|pain|issues?|trouble|worries|noise|leaks?|crashes)",
    r"finally (?:works|working|fixed|solved|done|running)|back to normal|up and running again",
    r"(?:jetzt |nun |endlich )?(?:geht'?s|geht es|funktioniert(?: es| alles)?|läuft(?: es"
    r"| alles)?)(?: jetzt| wieder| endlich| nun)|jetzt (?:geht'?s|geht es|funktioniert es"
    r"|läuft es)",
    r"(?:hat|haben) (?:geholfen|geklappt|funktioniert)|(?:problem|fehler) (?:ist )?(?:gelöst"
    r"|behoben|weg)|ist (?:gelöst|behoben|erledigt)|das war(?:'s| es)",
    r"(?:ya|ahora|por fin)(?: sí)? funciona|(?:problema )?(?:solucionado|resuelto|arreglado)"
    r"|eso (?:era|funcionó)|funcionó",
)

DONE_FIRST = begins(
    r"solved|fixed|resolved|sorted|success",
    r"working(?: now| again)|figured it out",
    r"bingo|eureka|hurray|hooray",
    r"it'?s alive|works(?: now| again| perfectly| great| like a charm)?|worked|got it",
    r"found it|gelöst|behoben|erledigt|geschafft|listo",
    r"solucionado|arreglado|resuelto|geht(?: jetzt| wieder)?|funktioniert|klappt",
)

STEP_FIRST = begins("done", "finished", "erledigt", "fertig", "listo", "hecho")
"""Said of a step as well as of the whole."""

CAUSE = any_of(
    r"the (?:real |actual |root )?(?:trick|culprit|problem|cause|root cause|reason|fix|solution"
    r"|issue|key|mistake|answer) (?:was|is|turned out to be)",
    r"(?:it|that) (?:was|turned out to be|had been|were|has been) (?:just |only |simply "
    r"|indeed )?(?:the|a|an|my|our|one|some|because|caused by|due to)",
    r"turn(?:s|ed) out|had expired|was (?:missing|wrong|stale|expired|misconfigured|broken|loose"
    r"|empty|corrupt(?:ed)?|too \w+|set to|pointing)|had (?:a|an|the|two|forgotten|to)|needed"
    r"|i forgot|es lag an|es lag am|lag (?:am|an)|es war|era (?:el|la|un|una)|because|after i"
    r"|by \w+ing|since i|thanks to|all along",
)

CAUSE_ALONE = any_of(
    r"what (?:finally |really |actually )?(?:fixed|solved|helped|worked|did)(?: it"
    r"| the trick)?(?: in the end| for me)? (?:was|is)",
    r"it was (?:\w+ ){1,6}all along|(?:the )?(?:culprit|root cause|cause) (?:was|turned out to be)",
    r"it (?:was|turned out to be) (?:just |only |simply )?(?:the|a|an|my) (?:\w+ ){0,4}after all",
    r"the (?:trick|fix|solution) (?:was|is|turned out to be)|es lag (?:am|an)",
    r"it was (?:just |only |simply |indeed )?(?:a|an|the|my) (?:\w+ )?(?:missing|wrong|typo|stale"
    r"|old|bad|broken|loose|expired|outdated|corrupt(?:ed)?|faulty|forgotten|extra|hidden|dead"
    r"|misconfigured|mistake)",
)

FOUND = any_of("found", "figured", "solved", "fixed", "works", "got it", "sorted", "gefunden")

EVIDENCE: tuple[tuple[float, str], ...] = (
    (2.0, any_of(
        r"(?:was|were|turned out to be) (?:the (?:culprit|cause|reason|problem|issue)|indeed"
        r"|clogged|cracked|loose|wrong|missing|empty|expired|outdated|stale|corrupt(?:ed)?"
        r"|misconfigured|broken|dirty|blocked|full|worn|the wrong \w+|set to|too \w+"
        r"|not (?:plugged|connected|installed|enabled))",
        r"it (?:was|turned out (?:to be|that))|turns out|turned out|had (?:forgotten|expired)"
        r"|es lag|era (?:el|la)",
    )),
    (2.5, any_of(
        r"helped(?=\W*$)|all (?:good|fine|well|set|sorted|clear)(?: now| again)?"
        r"|mission accomplished|rock solid|nailed it|as good as new|tick (?:that|this|it) off"
        r"|call(?:ing)? it (?:done|a day|solved|fixed)|(?:been |am |i'm )?\w+[- ]free for"
        r"|i can finally|(?:went|goes) as planned|now i (?:get|understand)|all (?:done|ported"
        r"|moved|migrated|finished|sent)|gave in|alles (?:gut|bestens)|todo (?:bien|en orden)"
        r"|as expected now|took care of it|that settles it|back in business",
    )),
    (1.5, any_of(
        r"did it|got rid of|(?:ever |not a \w+ |not once |never )since|dry since|since then"
        r"|no (?:more )?\w+(?: \w+)? (?:for|since|in) (?:\d+|a|two|three|the|days|then|that)"
        r"|hasn't \w+ (?:since|for)|haven't \w+ (?:since|for)",
        r"no (?:leaks?|errors?|pain|noise|problems?|issues?|drops?|timeouts?|crash\w*)|we're good"
        r"|went from \S+ to|(?:runs?|is|are) green|\w+ly now|love it|the last \w+|done(?=\s*!)"
        r"|(?:went|goes) (?:very |really )?(?:great|perfectly|smoothly)|i'm good|spot on"
        r"|touch wood|knock on wood|fingers crossed|no more \w+|seems? to hold|holds now"
        r"|makes? (?:a |all the )?(?:huge |big )?difference|relief|relieved|happy (?:now|again"
        r"|with)|good to go|ready to go|wieder (?:dicht|da|gesund|in ordnung|heil)|ya no \w+"
        r"|level now|fine now|ok now|okay now|healthy again",
        r"(?:is|are) (?:dry|quiet|clean|gone|fast|stable|smooth|healthy|back)(?: now| again)?",
    )),
    (1.0, any_of(
        r"(?:replaced|swapped|cleaned|changed|tightened|removed|added|updated|upgraded|downgraded"
        r"|set|emptied|cleared|restarted|reinstalled|reset|rebuilt|fixed|repaired|bought|moved"
        r"|switched|disabled|enabled|increased|raised|lowered|deleted|rewrote|adjusted|patched"
        r"|loosened|watered|repotted|called|signed|took|chose|accepted)",
    )),
    (1.0, any_of(
        r"thanks(?: to you| so much| a lot)?|thank you|thx|ty|cheers|great tip|good (?:call|tip)"
        r"|you rock|you(?:'re| are| were) (?:right|the best|great|awesome)|your (?:idea|tip|advice"
        r"|hint|suggestion)|hurra+h?|hooray|yay|perfecto|genial|phew|finally|danke|gracias|woohoo"
        r"|yes+",
    )),
)  # fmt: skip
"""What adds up to a conclusion, though no word of it says so."""

ENOUGH, RESULT = 2.5, 1.5
"""Evidence that makes a conclusion, where at least one of it weighs as much as a result does."""

ACHIEVED = any_of(
    r"sold|signed|submitted|came through|came back|arrived|passed|delivered|launched|published"
    r"|paid(?: up)?|got (?:the|it|my|our|a)|gave the|handed (?:it )?in|won|defended|booked|bought"
    r"|received|installed|moved in|(?:is|are) (?:in|out|live|here|sold|signed|booked|submitted"
    r"|published)",
)
"""What somebody did who reached what they were after."""

COMPLETED = any_of(
    r"(?:finally |just |now |already )?(?:finished|completed|submitted|booked|signed|handed in"
    r"|sent(?: off| out)?|delivered|installed|launched|published|filed|paid|bought|repaired"
    r"|wrapped up|approved|accepted|transferred|refunded|confirmed|granted|passed|settled on|chose"
    r"|got the|gave in|agreed to|abgeschickt|gebucht|fertig|enviado|terminado)",
)

FAILED = any_of(
    r"no luck|without (?:success|luck)|to no avail|in vain|no (?:change|difference|effect|dice"
    r"|joy)",
    r"(?:did not|didn't|didnt|doesn't|does not|doesnt|won't|hasn't) (?:really )?(?:help|work|fix"
    r"|change|make|do|solve|improve|cut)(?:ed)?",
    r"(?:the )?same (?:error|result|problem|thing|issue|outcome|as before)|made no difference",
    r"still (?:the same|fails?|failing|broken|not|no|happens|getting|doesn't|does not|there)",
    r"no (?:improvement|success)|wasn't it|was not it|is back|doesn't seem to|nichts gebracht"
    r"|same \w+ as before|(?:it |he |she )?still \w+|made (?:\w+ )?(?:even )?worse|are still",
    r"(?:that|it|this) failed|made (?:it|things) worse|nope|dead end"
    r"|hat (?:leider )?nicht (?:geholfen|funktioniert|geklappt)|ohne erfolg|bringt nichts"
    r"|no (?:sirvió|funcionó|ayudó)|sin éxito|sigue igual|hilft nicht|(?:geht"
    r"|funktioniert) (?:leider |immer |noch ){0,3}nicht|no funciona",
)

LOST = any_of(
    r"(?:is|are|it's|they're) (?:all |completely |totally )?(?:dead|lost|ruined|beyond (?:repair"
    r"|saving))|(?:was|were|got|has been) (?:rejected|turned down|refused|denied"
    r"|declined) (?:for good|finally)|too late (?:now|for)|(?:it|that) can't be (?:saved|fixed"
    r"|repaired|done)|there is no way to",
)

ABANDONED = any_of(
    r"forget (?:it|about it|about that|that|about the|about this)|(?:i|we)(?:'ve| have)? (?:give"
    r"|gave|given|giving) (?:it |that |this )?up|giving up|never ?mind|nvm|drop (?:that|it|this"
    r"|the idea)|let's (?:drop|skip|not bother|leave it|abandon|scrap|cancel|shelve)|scrap (?:that"
    r"|it|this)|not worth (?:it|the)|(?:i|we)(?:'ve| have)? (?:decided|chosen|opted) (?:against"
    r"|not to)|(?:i|we) (?:won't|will not|are not going to|aren't going to) (?:be )?(?:bother\w*"
    r"|pursue|do (?:it|that|this)|go(?:ing)? (?:on|through|ahead)) ?|(?:don't|do not"
    r"|no longer) (?:need|want) (?:it|this|that|to)(?: do (?:it|this|that))?(?: any ?more)?"
    r"|call(?:ed|ing)? it off|waste (?:any |any more |more )?time|doesn't matter any ?more"
    r"|live with (?:it|that|the)|can wait|put (?:it|this|that) (?:off|on hold|on ice)|(?:i"
    r"|we) (?:don't|do not) want to (?:do|continue)|(?:is|was|has been|got) (?:cancelled|canceled"
    r"|called off)|vergiss es|lassen wir(?: das)?|ich gebe? (?:es )?auf|hat sich erledigt|olvídalo"
    r"|déjalo|me rindo|ya no (?:hace falta|importa)",
)

POLITE = frozenset(
    """ok okay oh great cool nice perfect super many so very much a lot again thanks thank you thx
    ty cheers danke schön vielen dank gracias muchas lol haha yes no got it i see alright sure
    wow hello hi hey good night morning evening bye hallo hola for the help that was helpful
    dear your all awesome excellent wonderful interesting please enough today really fine
    welcome re
    """.split()  # noqa: SIM905 — a list of strings would be ten times as long
)
"""Words of which greetings and thanks are made: a message of nothing else tells nothing."""
