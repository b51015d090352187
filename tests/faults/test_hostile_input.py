"""What people, pipes and minds may send: escape sequences, binaries, novels, paths for names."""

from pathlib import Path

import pytest

from domain.errors import BadName
from domain.ids import session_id
from domain.texts import LONGEST
from tests.faults.machinery import UNEMBEDDED, House, Told, house

ESCAPES = "\x1b]0;owned\x07 \x1b[2J \x1b[31mred\x1b[0m \x9b31m \x08\x08\r\x7f \u202e"
FORBIDDEN = "\x1b\x07\x9b\x08\r\x7f\u202e"
AS_YAML = r'"an answer \e]0;owned\a \e[2J \e[31mred \x9b31m \b\b\r\x7f \u202e long enough"'


@pytest.fixture
def hostile(home: House) -> House:
    """A store in which every text that can be given holds escape sequences."""
    replies = [
        {"text": f"thoughts: [{AS_YAML}]\ndraft: {AS_YAML}"},
        {"text": f"{ESCAPES} this is: [no reply"},
        {"text": f'draft: {AS_YAML[:-1]}, the second"'},
        {"text": "thoughts: []\ndraft: an answer that is harmless and long enough"},
    ]
    words = ("-m", home.script(replies), f"why {ESCAPES}?", *UNEMBEDDED)
    home.here("init", home.store, *words).fine()
    home.here("think", f"thought {ESCAPES}").fine()
    home.here("signal", "-p", "r", f"back {ESCAPES}").fine()
    return home


def harmless(args: tuple[object, ...], told: Told) -> None:
    """Check that a command printed nothing that a terminal would obey."""
    assert "Traceback" not in told.err, told.err
    for where in (told.out, told.err):
        assert not set(where) & set(FORBIDDEN), (args, ascii(where))


def test_nothing_reaches_the_terminal(hostile: House) -> None:
    """Escape sequences in messages, thoughts, drafts, titles … are shown, never obeyed."""
    hostile.here("new", "titled", f"x {ESCAPES}", "--title", f"title {ESCAPES}").fine()
    hostile.here("fork", "f", "--reason", f"because {ESCAPES}", "--stay", "-s", "main").fine()
    for args in (
        ("run", "1", "-s", "main"),
        ("step", "--debug", "-s", "main"),
        ("run", "1", "--stream", "-s", "main"),
        ("drafts", "--full", "-s", "main"),
        ("drafts", "diff", "1", "2", "-s", "main"),
        ("accept", "1", "-s", "main"),
        ("history", "--full", "-s", "main"),
        ("log", "-n", "0", "-s", "main"),
        ("thoughts", "--full", "-s", "main"),
        ("signal", "-a", "-s", "main"),
        ("status", "-s", "titled"),
        ("sessions",),
        ("show", "head", "-s", "f"),
    ):
        harmless(args, hostile.here(*args))
    for args in (("log", "-s", "main"), ("switch", f"x{ESCAPES}")):
        harmless(args, hostile.mind(*args))


def test_json_is_data_and_still_no_command(hostile: House) -> None:
    """JSON keeps every character, escaped where a terminal would obey it."""
    hostile.here("run", "1").fine()
    for args in (("drafts", "--json"), ("thoughts", "--json"), ("log", "--json", "-n", "0")):
        harmless(args, hostile.here(*args))


def test_refusals_do_not_obey_either(home: House) -> None:
    """What is quoted in a refusal is quoted harmlessly."""
    home.init([])
    for args in (
        ("switch", f"x{ESCAPES}"),
        ("show", f"x{ESCAPES}"),
        ("config", "--set", f"model=x{ESCAPES}"),
        ("log", "--kind", f"x{ESCAPES}"),
        ("message", "-f", f"x{ESCAPES}"),
        ("status", "--store", f"x{ESCAPES}"),
    ):
        harmless(args, home.here(*args))


def test_half_a_character(home: House) -> None:
    """A mind that writes half of a surrogate pair breaks neither the log nor any listing."""
    text = r"a\ud800b \udfff \ud83d\ude00"
    home.init([{"text": f'{{"thoughts": ["t {text}"], "draft": "long enough, {text}"}}'}], "?")
    home.mind("run", "1").fine()
    shows = (
        (home.here, "drafts", "--json"),
        (home.here, "log", "--json"),
        (home.here, "show", "iter:1"),
        (home.here, "thoughts", "--json"),
        (home.here, "accept", "--json"),
        (home.mind, "history"),
    )
    for how, *args in shows:
        told = how(*args)
        assert "Traceback" not in told.err, (args, told.err)
        assert told.code in {0, 2}
    home.sound()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"x" * (LONGEST + 1), "at most"),
        (b"x" * (5 * LONGEST), "longer"),
        ("ö".encode() * (LONGEST + 1), "at most"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\xff\xfe", "UTF-8"),
        (b"\xff\xfe\x00h\x00i", "UTF-8"),
        (b"text\x00with a NUL", "NUL"),
        (b"\xed\xa0\x80 half a character", "UTF-8"),
        (b"", "empty"),
        (b" \n\t ", "empty"),
        (b"\xef\xbb\xbf", "empty"),
    ],
    ids=[
        "long",
        "huge",
        "long umlauts",
        "png",
        "utf-16",
        "nul",
        "surrogate",
        "empty",
        "blank",
        "bom",
    ],
)
def test_what_no_text_is(store_at_rest: House, text: bytes, why: str) -> None:
    """Binaries, novels and nothing at all are refused with a reason, and nothing is written."""
    before = store_at_rest.events()
    command = "think" if why == "at most" else "message"
    store_at_rest.here(command, "-", stdin=text).refused(why)
    assert store_at_rest.events() == before


@pytest.fixture(scope="module")
def store_at_rest(tmp_path_factory: pytest.TempPathFactory) -> House:
    """A store that nothing here changes."""
    return house(tmp_path_factory.mktemp("rest")).init([])


def test_the_longest_text_is_taken(home: House) -> None:
    """What is just not too long arrives whole."""
    home.init([])
    text = "ö" * LONGEST
    home.mind("message", stdin=text.encode()).fine()
    assert getattr(home.events()[-1].event, "text", "") == text
    home.sound()


PATHS = ["../x", "/etc/passwd", ".", "..", "a/../b", "a/./b", "a//b", "/", "a/", "C:", "~", "a\\b"]
OTHERS = ["", " ", "A", "a b", "-a", "a-", "ä", "x" * 81, "a\nb", "a\n", "$(id)", "a;b", "a\0b"]


@pytest.mark.parametrize("name", PATHS + OTHERS, ids=ascii)
def test_names_are_no_paths(name: str) -> None:
    """A name that could be anything but a session's is none."""
    with pytest.raises(BadName):
        session_id(name)


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a\0b"])
def test_names_from_everywhere(store_at_rest: House, name: str, tmp_path: Path) -> None:
    """Forks, options, the environment, refs and the note of the current session check names too."""
    home = store_at_rest
    if "\0" not in name:  # which no argument can hold
        home.here("new", name).refused("can't name a session")
        home.here("fork", name).refused("can't name a session")
        home.here("switch", name).refused("can't name a session")
        home.here("status", "--session", name).refused("can't name a session")
        home.here("show", f"{name}@1").refused()
        home.here("init", tmp_path / "new", "--name", name).refused("can't name a session")
        assert not (tmp_path / "new").exists()
        other = home._replace(env=home.env | {"MIND_SESSION": name})
        other.here("status").refused("can't name a session")
    note = home.store / "current"
    before = note.read_bytes()
    note.write_bytes(name.encode())
    try:
        home.here("status").refused("can't name a session")
    finally:
        note.write_bytes(before)
    assert home.kinds() == ["session.started"]
