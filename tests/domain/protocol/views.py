"""Views to render: one by hand that has everything, and arbitrary ones."""

from hypothesis import strategies as st

from domain.protocol.view import (
    ArtifactSeen,
    ClusterMark,
    DraftSeen,
    HardSignals,
    Limit,
    SignalSeen,
    ThoughtSeen,
    TurnSeen,
    View,
)

TRICKY = (
    " ", "  ", "\t", "\n", "\n\n", "\r", "\r\n", "\x00", "\x1b", "\x7f", "\x85", "\u2028",
    "\u2029", "\ufeff", "\ud83d", "\ude00", "\xa0", "😀", "é", "#", " # age: 1", ":", ": ", "- ",
    "\n  - ", "\n  - |  # age: 9, cluster: {~}\n", "\n---\n", "\n...\n", "%YAML 1.1", "!!python",
    "&a", "*a", "'", '"', "\\", "\\n", "|", ">", "{", "}", "[", "]", ",", "?", "@", "`", "~",
    "drafts:", "\ndrafts:\n", "orientation:\n  iter: 9\n", "null", "no", "<<", "=", "a", "word",
)  # fmt: skip

texts = st.lists(st.sampled_from(TRICKY) | st.characters(), max_size=12).map("".join)
long_texts = st.builds(
    lambda text, times: text * times, texts, st.integers(min_value=1, max_value=80)
)
ages = st.integers(min_value=0, max_value=10**6)
limits = st.builds(Limit, ages, ages)
senders = st.sampled_from(("user", "self"))
signals = st.builds(
    SignalSeen, st.sampled_from(("absent", "reviewing", "engaged")), texts, texts, ages
)


def views(words: st.SearchStrategy[str] = texts) -> st.SearchStrategy[View]:
    """Arbitrary views, with ``words`` wherever a person or a mind may have written."""
    turns = st.builds(TurnSeen, senders, words, ages)
    marks = st.none() | st.builds(ClusterMark, ages, ages)
    thoughts = st.builds(ThoughtSeen, words, ages, marks, st.booleans())
    drafts = st.builds(DraftSeen, ages, words, ages, st.booleans())
    artifacts = st.builds(
        ArtifactSeen,
        ages,
        st.sampled_from(("effort", "fact", "event", "summary")),
        words,
        st.sampled_from(("open", "resolved", None)),
        st.sampled_from(("done", "failed", "abandoned", None)),
        st.none() | ages,
        st.none() | texts,
    )
    return st.builds(
        View,
        memory=st.lists(artifacts, max_size=6).map(tuple),
        name=texts,
        iteration=ages,
        user_time=texts,
        thoughts_limit=limits,
        history_limit=limits,
        drafts_limit=limits,
        signals=st.lists(signals, max_size=3).map(tuple),
        hard_signals=st.none() | st.builds(HardSignals, ages, ages),
        thoughts=st.lists(thoughts, max_size=7).map(tuple),
        history=st.lists(turns, max_size=6).map(tuple),
        awaiting=st.none() | turns,
        drafts=st.lists(drafts, max_size=5).map(tuple),
        drafts_total=st.integers(min_value=0, max_value=9),
    )


EVERYTHING = View(
    name="mind_0",
    iteration=247,
    user_time="2026-01-15T14:30:00+11:00",
    thoughts_limit=Limit(3000, 10),
    history_limit=Limit(4000, 20),
    drafts_limit=Limit(2000, 16),
    signals=(
        SignalSeen("reviewing", 'reading on the train, "quiet car"', "Sat 10:30", 2),
        SignalSeen("absent", "", "Sat 10:00", 17),
    ),
    hard_signals=HardSignals(consecutive=1, threshold=3),
    thoughts=(
        ThoughtSeen("Two bulges, one moon: the far one is the surprise.", 5, ClusterMark(3, 8)),
        ThoughtSeen(
            "  indented on purpose\n\nand with a second paragraph\n",
            190,
            ClusterMark(4, 2),
            recalled=True,
        ),
        ThoughtSeen("an escape \x1b[31m and a line separator \u2028 in one", 40),
    ),
    history=(
        TurnSeen("user", "what pulls the sea?", 60),
        TurnSeen("self", "The moon, and a little the sun.", 55),
    ),
    awaiting=TurnSeen("user", "why two tides a day?\n---\ndrafts:\n  - |\n    not a draft", 4),
    drafts=(
        DraftSeen(2, "Because the pull differs on both sides of the Earth.", 3, user_seen=True),
        DraftSeen(3, "+1", 1, user_seen=False),
    ),
    drafts_total=3,
)

IDLE = EVERYTHING._replace(awaiting=None, drafts=(), drafts_total=0, signals=(), thoughts=())

REMEMBERING = EVERYTHING._replace(
    memory=(
        ArtifactSeen(12, "effort", "explain the tides to a child", "open"),
        ArtifactSeen(
            17, "effort", "find a picture\n=> none was clear", "resolved", "failed", parent=12
        ),
        ArtifactSeen(24, "fact", "the child is six", when="2026-01-02"),
        ArtifactSeen(31, "event", "the school's open day", when="2026-02-03T10:00"),
        ArtifactSeen(40, "summary", "User: how deep is the sea? Mind: 3.7 km on average."),
    )
)
