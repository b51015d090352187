"""What the rules find in a message, and above all what they do not."""

import pytest

from domain.artifacts import Place, Shelf
from domain.detection.findings import Findings, Learned, Noted, Opened, Passage, Resolved
from domain.detection.prose import sentences
from domain.detection.rules import detect
from domain.ids import ExchangeId
from tests.detection.score import EXCHANGE, NOW, artifact
from tests.domain.detection.reader import BUG, STRIPE, TRY, read

NOTHING = Findings()


def found(findings: Findings) -> Findings:
    """What changes artifacts, without where the message belongs and what it mentions."""
    return findings.model_copy(update={"effort": None, "mentions": (), "words": None})


# --- openings


@pytest.mark.parametrize(
    ("message", "goal"),
    [
        ("I'm getting a 401 from the orders API.", "I'm getting a 401 from the orders API"),
        ("Hello! I want to plan a trip to Japan, any ideas?", "Plan a trip to Japan"),
        ("can you help me fix the tap in the kitchen pls", "Fix the tap in the kitchen"),
        ("Write a limerick about tax forms, please!", "Write a limerick about tax forms"),
        ("Ich möchte meinen Rahmen lackieren.", "Ich möchte meinen Rahmen lackieren"),
        ("la impresora no funciona", "La impresora no funciona"),
        ("parse_invoice fails on empty files", "parse_invoice fails on empty files"),
    ],
)
def test_a_goal_or_a_problem_opens_an_effort_in_short_words(message: str, goal: str) -> None:
    """Without greeting, without how it was asked."""
    assert read(message) == Findings(effort=0, opened=Opened(goal=goal))


def test_a_goal_that_points_back_takes_along_what_it_points_to() -> None:
    """``it`` alone would tell nobody anything later."""
    goal = read("My landlord keeps the deposit. I'd like to get it back.").opened
    assert goal is not None
    assert goal.goal == "My landlord keeps the deposit: get it back"


def test_a_goal_is_never_longer_than_a_line() -> None:
    """However long the sentence is, it ends at a word."""
    opened = read(f"I want to {'understand my very long sentence and ' * 9}fix it.").opened
    opened = opened or read(f"I want to build {'a very large house ' * 20}").opened
    assert opened is not None
    assert len(opened.goal) <= 120
    assert opened.goal.endswith("…")


@pytest.mark.parametrize(
    "message",
    [
        *("hello!", "thanks", "ok", "What's the capital of Bhutan?", "tell me a joke"),
        *("How do I convert a string to a date?", "explain how a mutex works", "make it shorter"),
        *("I want to thank you", "I have to say I like this", "I don't know what you mean"),
        *("I would like to know how vaccines work", "It's raining here.", "yes please", "👍", "?!"),
        "What would you recommend for dinner tonight",
        "In the film the deadline is tomorrow and nobody cares",
    ],
)
def test_ambient_talk_leaves_nothing(message: str) -> None:
    """Greetings, thanks and plain questions are answered and that is all."""
    assert read(message) == NOTHING


def test_what_is_open_already_is_not_opened_again() -> None:
    """A problem told a second time belongs to the effort that it opened."""
    findings = read("I'm still getting the 401 from the orders API", BUG)
    assert findings.opened is None
    assert findings.effort == 7


def test_another_problem_opens_another_effort() -> None:
    """Even while one is open, when the user says that it is another."""
    findings = read("Another problem: the search page shows deleted products.", BUG)
    assert findings.effort == 0
    assert findings.opened == Opened(goal="The search page shows deleted products")


# --- attempts


def test_an_attempt_is_a_part_of_the_open_effort() -> None:
    """Its outcome is known later."""
    opened = Opened(goal="Refreshing the token", parent=7)
    assert read("Let's try refreshing the token first.", BUG).opened == opened


def test_an_attempt_after_an_aside_is_at_the_problem_that_is_open() -> None:
    """People turn aside and go on without saying so."""
    opened = Opened(goal="Refreshing the token", parent=7)
    assert read("let's try refreshing the token", BUG, current=None).opened == opened
    assert read("no luck", BUG, current=None).effort == 7


def test_an_attempt_without_an_open_effort_is_none() -> None:
    """There is nothing it would be a part of."""
    assert read("Let's try that").opened is None


def test_no_luck_ends_the_attempt_and_not_the_effort() -> None:
    """The effort goes on."""
    findings = read("no luck, same error", BUG, TRY)
    [one] = findings.resolved
    assert (one.effort, one.outcome) == (9, "failed")


def test_no_luck_without_an_attempt_ends_nothing() -> None:
    """That it failed once does not end an effort."""
    assert read("no luck, same error", BUG) == Findings(effort=7)


def test_the_next_attempt_belongs_to_the_effort_too() -> None:
    """Attempts stand side by side, and the failed one ends in the same message."""
    findings = read("That didn't help. Let me try to clear the DNS cache.", BUG, TRY)
    assert [(one.effort, one.outcome) for one in findings.resolved] == [(9, "failed")]
    assert findings.opened == Opened(goal="Clear the DNS cache", parent=7)


def test_an_attempt_that_works_ends_the_problem_it_was_for() -> None:
    """``it works now`` is said of the problem."""
    findings = read("Bingo, it works now: the audience was wrong.", BUG, TRY)
    assert [(one.effort, one.outcome) for one in findings.resolved] == [(9, "done"), (7, "done")]


def test_attempts_that_are_open_still_end_with_their_effort() -> None:
    """Nobody says of each that it is over."""
    findings = read("It works now!", BUG, TRY, "11 open of 7: Ask the provider", current=7)
    ended = [(one.effort, one.outcome) for one in findings.resolved]
    assert ended == [(7, "done"), (9, "abandoned"), (11, "abandoned")]


# --- conclusions


@pytest.mark.parametrize(
    ("message", "resolution"),
    [
        ("Oh! The token had expired, works now!", "The token had expired, works now"),
        ("Found it. It was a stale lock file.", "It was a stale lock file"),
        ("nevermind, found it. I had two .env files", "I had two .env files"),
        ("Super, jetzt geht's! Es lag am Zertifikat.", "Es lag am Zertifikat"),
        ("¡Ya funciona! Era el cable.", "Era el cable"),
        ("replaced the key, all good now", "Replaced the key, all good now"),
        ("Upgrading to 2.4 resolved the issue for me", None),
        ("What fixed it was the new key.", None),
    ],
)
def test_a_conclusion_ends_the_effort_and_says_what_helped(
    message: str, resolution: str | None
) -> None:
    """In the words of the message."""
    [one] = read(message, BUG).resolved
    assert (one.effort, one.outcome) == (7, "done")
    assert resolution is None or one.resolution == resolution


def test_a_conclusion_that_says_nothing_takes_the_advice_it_followed() -> None:
    """``that fixed it`` is about what was answered before."""
    before = [("login is slow", "Add an index on users.email. Then measure.")]
    [one] = read("that fixed it!", BUG, before=before).resolved
    assert one.resolution == "As advised: Add an index on users.email"


def test_a_conclusion_with_no_open_effort_opens_and_resolves_one() -> None:
    """Its goal is what was asked."""
    before = [("How do I undo the last commit?", "`git reset --soft HEAD~1` does that.")]
    findings = read("perfect, that worked, thanks", before=before)
    assert findings.opened == Opened(goal="How do I undo the last commit")
    [one] = findings.resolved
    assert (one.effort, one.outcome, findings.effort) == (0, "done", 0)


def test_a_conclusion_of_nothing_is_none() -> None:
    """Where nobody asked anything there is nothing that could be done."""
    assert read("that worked!") == NOTHING


def test_a_conclusion_is_about_the_effort_that_it_names() -> None:
    """Even while the talk is in another."""
    printer = "3 open: The printer prints blank pages"
    findings = read("By the way, the printer is fixed, it needed a driver.", printer, BUG)
    assert [one.effort for one in findings.resolved] == [3]


def test_a_conclusion_and_the_next_goal_may_stand_in_one_message() -> None:
    """Both are found."""
    findings = read("it works now. Next I want to add the VAT number to invoices.", BUG)
    assert [one.effort for one in findings.resolved] == [7]
    assert findings.opened == Opened(goal="Add the VAT number to invoices")


@pytest.mark.parametrize(
    "message",
    [
        "forget it, I give up",
        "never mind, drop that",
        "We decided not to do it, not worth the time",
    ],
)
def test_what_is_given_up_is_abandoned(message: str) -> None:
    """It ended, and not well."""
    [one] = read(message, BUG).resolved
    assert (one.effort, one.outcome) == (7, "abandoned")


@pytest.mark.parametrize(
    "message",
    [
        *("that works as expected?", "does that work?", "it should work now, right?"),
        *("I wish it worked", "if that fixed it I would be happy", "that didn't fix it"),
        *("still doesn't work", "thanks", "ok great", "it works on my machine, just not there"),
        *("this worked before the update", "not sure if that worked", "I hope this fixed it"),
        *("almost! it works for small files but not for big ones", "I need this fixed by you"),
        *("It worked yesterday, today it's broken again", "My boss thinks it's solved"),
        *("please tell me when it is done", "everything else works fine", "Explain how it works"),
        *('The vendor says "it is solved now"', "A colleague said a reboot fixed it for her"),
        *("> it works now\n\nThat is what they wrote.", "> fixed!", "one of the two is fixed"),
        *(
            "```\necho 'fixed it, works now'\n```",
            "Traceback (most recent call last):\n  raise Fixed()",
        ),
        *("I raised the timeout, will know tomorrow", "Done. What's next?", "nothing works"),
        *("Once that is done, the issue is solved", "Funktioniert das jetzt auch?", "no funciona"),
        *("Geht leider immer noch nicht.", "it only works in Chrome", "Let me check if it's fixed"),
    ],
)
def test_what_only_sounds_like_a_conclusion_is_none(message: str) -> None:
    """Questions, hopes, conditions, denials, parts, other people's words, code, quotations."""
    assert found(read(message, BUG)) == NOTHING


def test_a_conclusion_said_twice_concludes_once() -> None:
    """The exchange before belongs to an effort that ended a moment ago."""
    ended = artifact("7 resolved: Fix the tap => New washer")._replace(referenced=29)
    lying = Shelf(
        (ended,), exchange=EXCHANGE, turn=30, threads=(Place(ExchangeId("exc_8_008"), 7),)
    )
    before = (("the tap drips, I changed the washer, that fixed it", "Good."),)
    passage = Passage(EXCHANGE, "yes, it works great now", None, before, NOW)
    assert detect(passage, lying).opened is None
    assert detect(passage, Shelf(exchange=EXCHANGE, turn=30)).opened is not None


# --- reopenings


@pytest.mark.parametrize(
    "message",
    [
        *("it broke again", "The 401 is back since the deploy.", "I spoke too soon"),
        *("turns out it wasn't fixed after all", "the orders API gives me a 401 again"),
    ],
)
def test_what_comes_back_reopens_the_effort(message: str) -> None:
    """It goes on where it was."""
    findings = read(message, "7 resolved: Fix the 401 from the orders API => New token")
    assert (findings.reopened, findings.effort, findings.opened) == ((7,), 7, None)


@pytest.mark.parametrize(
    "message",
    ["Thanks again for the help with the 401!", "Can you explain again why the token expired?"],
)
def test_again_alone_reopens_nothing(message: str) -> None:
    """People thank again and ask again."""
    findings = read(message, "7 resolved: Fix the 401 from the orders API => New token")
    assert found(findings) == NOTHING


# --- facts


@pytest.mark.parametrize(
    ("message", "statement"),
    [
        ("By the way, we use Stripe API v2023-10.", "We use Stripe API v2023-10"),
        ("fyi I'm allergic to walnuts", "I'm allergic to walnuts"),
        ("The webhook endpoint is /api/webhooks.", "The webhook endpoint is /api/webhooks"),
        ("Remember: the database is read only at night.", "The database is read only at night"),
        ("OK, let's go with the blue tiles.", "Let's go with the blue tiles"),
        ("Ich bin Vegetarierin.", "Ich bin Vegetarierin"),
        ("Usamos Django 5.", "Usamos Django 5"),
    ],
)
def test_what_the_user_declares_is_learned(message: str, statement: str) -> None:
    """About themselves, their things and their decisions."""
    assert found(read(message)) == Findings(learned=(Learned(statement=statement),))


def test_a_new_value_supersedes_the_old_one() -> None:
    """The fact about the same thing no longer holds, others do."""
    findings = read(
        "We've upgraded to Stripe API v2024-06.", STRIPE, "13 fact: The form uses React"
    )
    assert [one.supersedes for one in findings.learned] == [12]


def test_what_is_known_is_not_learned_again() -> None:
    """It is only mentioned."""
    assert read("As I said, we use Stripe API v2023-10.", STRIPE) == Findings(mentions=(12,))


@pytest.mark.parametrize(
    "message",
    [
        *(
            "do we use Stripe or PayPal?",
            "Suppose we used MongoDB",
            "If we used Stripe, what then?",
        ),
        *("He said we use Stripe API 5", "`we use MySQL 5`", "The weather is 20 degrees?"),
    ],
)
def test_what_is_not_declared_is_not_learned(message: str) -> None:
    """Questions, suppositions and what others said."""
    assert read(message).learned == ()


# --- events


@pytest.mark.parametrize(
    ("message", "what", "when"),
    [
        ("remind me to call mom tomorrow", "Call mom", "2026-03-11"),
        ("also, remind me to call mom later", "Call mom", None),
        ("Dentist appointment on Thursday at 9:30", "Dentist appointment", "2026-03-12T09:30"),
        ("our flight leaves next friday at 6:45 am", "Our flight leaves", "2026-03-20T06:45"),
        ("Recuérdame mañana comprar leche", "Comprar leche", "2026-03-11"),
    ],
)
def test_what_is_to_come_is_noted(message: str, what: str, when: str | None) -> None:
    """With its time, where the message says one."""
    assert read(message).noted == (Noted(what=what, when=when),)


def test_an_event_does_not_belong_to_the_effort_that_the_talk_is_in() -> None:
    """It would leave the context with that effort."""
    assert read("also, remind me to call mom later", BUG).effort is None


@pytest.mark.parametrize(
    "message",
    [
        *("I met the architect yesterday at 3", "What will the weather be like tomorrow?"),
        *("That reminds me of a song.", "why do shops close on sunday?", "see you tomorrow"),
    ],
)
def test_what_is_past_or_asked_is_not_noted(message: str) -> None:
    """A date alone makes no event."""
    assert read(message).noted == ()


# --- where it belongs


def test_back_to_that_bug_finds_the_bug() -> None:
    """By what it is, where the message does not name it."""
    findings = read("back to that bug - I tried X", BUG, "9 open: Plan the team offsite")
    assert findings.effort == 7
    assert findings.words == "back to that bug - I tried X"


def test_a_question_of_general_knowledge_belongs_nowhere() -> None:
    """Even while an effort is open."""
    assert read('who wrote "The Left Hand of Darkness"?', BUG).effort is None


def test_a_log_belongs_to_the_effort_that_the_talk_is_in() -> None:
    """People paste it because they were asked for it, and what it says is not theirs."""
    log = "2026-03-10 14:00 ERROR deadline is tomorrow, I need to be fixed"
    assert read(log, BUG) == Findings(effort=7)


# --- answers


def test_an_accepted_text_completes_the_request_for_it() -> None:
    """The answer is what was asked for."""
    [one] = read(
        "write me a note to cancel my gym membership",
        "5 open: Write me a note to cancel my gym membership",
        answer="Dear team,\n\nI hereby cancel my membership as of the next possible date.\n\nBye",
    ).resolved
    assert (one.effort, one.outcome) == (5, "done")


def test_an_answer_that_asks_back_completes_nothing() -> None:
    """What was asked for is not there yet."""
    answer = "Happy to. What is the number of your membership, and until when does it run?"
    message = "write me a note to cancel my gym membership"
    shelf = "5 open: Write me a note to cancel my gym membership"
    assert found(read(message, shelf, answer=answer)) == NOTHING


def test_an_answer_that_says_it_is_solved_ends_the_effort() -> None:
    """Accepting it agrees."""
    findings = read("and?", BUG, answer="I have replaced the token. The 401 is fixed.")
    assert findings.resolved == (Resolved(effort=7, resolution="I have replaced the token"),)


@pytest.mark.parametrize(
    "answer",
    [
        "That should fix the problem. Did it work?",
        "Once all tests pass, the issue is resolved.",
        "Try a new token. It is fixed when you get a 200.",
    ],
)
def test_an_answer_that_is_not_sure_ends_nothing(answer: str) -> None:
    """Advice is not a result."""
    assert found(read("and now?", BUG, answer=answer)) == NOTHING


def test_a_decision_in_an_answer_is_learned() -> None:
    """Where the answer says that it is one."""
    findings = read("write it down", answer="Decision: the survey runs for six weeks.")
    assert findings.learned == (Learned(statement="The survey runs for six weeks"),)


def test_what_is_to_be_done_next_is_not_what_helped() -> None:
    """A reminder beside a conclusion is an event; the effort ended by what was advised."""
    before = [("I grew up inland. Why are there two tides a day?", "The far water is pulled less.")]
    found = read("That answers it! Remind me to look at a tide table on Friday.", before=before)
    [one] = found.resolved
    assert one.resolution == "As advised: The far water is pulled less"
    assert [event.what for event in found.noted] == ["Look at a tide table"]


def test_what_was_asked_is_the_goal_rather_than_what_led_up_to_it() -> None:
    """Of an effort that nobody knew of before it ended."""
    before = [("I grew up inland. Why are there two tides a day?", "The far water is pulled less.")]
    found = read("That answers it, thanks!", before=before)
    assert found.opened is not None
    assert found.opened.goal == "Why are there two tides a day"


def test_a_wrapped_line_goes_on_in_the_next() -> None:
    """A message from a file is often so; a list and a new thought are not."""
    wrapped = (
        "On holiday there were two, a little more than twelve hours apart. Where does the\n"
        "second one come from?"
    )
    said = [sentence.text for sentence in sentences(wrapped)]
    assert said[-1] == "Where does the second one come from?"
    apart = "milk and the other things that we always need at home on a Friday\nBread\nold cheese"
    assert [sentence.text for sentence in sentences(apart)][1:] == ["Bread", "old cheese"]
