"""Jobs are had by name or from a file of the user's, and say of themselves what is so."""

from pathlib import Path

import pytest

from domain.errors import Refused
from projections.fleet.built_in import BUILT_IN
from projections.fleet.jobs import BadJob
from projections.fleet.load import Code, code_of, load

ROWS = "def rows(branch, events):\n    yield {'session': branch.session}\n"


def written(directory: Path, source: str) -> Path:
    """A job file."""
    file = directory / "mine.py"
    file.write_text(source, encoding="utf-8")
    return file


def test_built_in_jobs_are_had_by_name() -> None:
    """Each has a sentence and says its columns with their meaning."""
    for name in BUILT_IN:
        job = load(code_of(name))
        assert job.name == name
        assert job.about.endswith(".")
        assert all(column.about for column in job.columns)


def test_a_function_of_a_file_is_a_job(tmp_path: Path) -> None:
    """Its attributes say what it wants; the first line of its docstring what it is."""
    file = written(
        tmp_path,
        "from datetime import datetime\n"
        "def lengths(branch, events):\n"
        '    """How long.\n\n    More."""\n'
        "    yield {}\n"
        "lengths.columns = {'day': str, 'n': int, 'share': float}\n"
        "lengths.kinds = ['draft.emitted']\n"
        "lengths.whole = True\n"
        "lengths.by = ('day',)\n",
    )
    job = load(code_of(f"{file}:lengths"))
    assert (job.name, job.about, job.whole) == ("lengths", "How long.", True)
    assert [(column.name, column.type) for column in job.columns] == [
        ("day", "text"),
        ("n", "int"),
        ("share", "float"),
    ]
    assert (job.kinds, job.by, job.families) == (("draft.emitted",), ("day",), ("session",))


def test_a_file_alone_means_its_function_rows(tmp_path: Path) -> None:
    """FILE.py is FILE.py:rows."""
    file = written(tmp_path, ROWS)
    assert code_of(str(file)) == code_of(f"{file}:rows")


def test_the_version_of_code_is_of_what_it_says(tmp_path: Path) -> None:
    """Another source, function or version of ours is another version; another place is none."""
    source = ROWS.encode()
    versions = [
        Code("rows", "mine.py", source).version,
        Code("rows", "mine.py", source + b"#").version,
        Code("lengths", "mine.py", source).version,
        Code("sessions").version,
    ]
    assert len({*versions}) == 4
    assert Code("rows", "elsewhere.py", source).version == versions[0]


def test_a_file_is_read_once(tmp_path: Path) -> None:
    """What is changed while a job runs changes nothing about it."""
    file = written(tmp_path, ROWS)
    code = code_of(str(file))
    written(tmp_path, "raise ValueError")
    assert load(code).name == "rows"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("session", "no job 'session'; there are sessions"),
        ("", "there are sessions"),
        ("nowhere.py", "no job file 'nowhere.py'"),
        ("os.path:join", "no job 'os.path:join'"),
        ("../mine.txt:rows", "no job"),
    ],
)
def test_what_is_no_job_is_refused(text: str, words: str) -> None:
    """The nearest names are told, and how a file is named."""
    with pytest.raises(BadJob, match=words):
        code_of(text)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("x = 1", "no function 'rows' in .*: it has none at all"),
        ("def other(b, e): ...\ndef _own(b, e): ...\nrows = 7", "it has other"),
        ("from statistics import median as rows", "has to take two"),
        ("def rows(events): ...", "has to take two things"),
        ("def rows(a, b, c): ...", "has to take two things"),
        ("1 / 0", "can't be run: ZeroDivisionError"),
        ("import sys; sys.exit(0)", "can't be run: SystemExit"),
        ("def rows(", "can't be run: SyntaxError"),
        ("\0", "can't be run"),
        (f"{ROWS}rows.whole = 1", "say True or False"),
        (f"{ROWS}rows.columns = ['a']", "give a dict"),
        (f"{ROWS}rows.columns = {{'a': list}}", "a column is of str, int, float, bool, datetime"),
        (f"{ROWS}rows.columns = {{7: int}}", "column 7"),
        (f"{ROWS}rows.kinds = 'draft.emitted'", "a tuple of names"),
        (f"{ROWS}rows.kinds = ('draft.made',)", "draft.made.*there is draft"),
        (f"{ROWS}rows.families = ('agents',)", "there is agent"),
        (f"{ROWS}rows.by = ('day',)", "by names 'day'.*none at all"),
        (
            f"{ROWS}rows.columns = {{'day': str, 'who': str}}\nrows.by = ('day',)",
            "'who' can't be added up",
        ),
    ],
)
def test_a_file_that_holds_no_job_is_refused(tmp_path: Path, source: str, words: str) -> None:
    """In one sentence that says what is wrong."""
    file = written(tmp_path, source)
    with pytest.raises(Refused, match=words):
        load(code_of(str(file)))
