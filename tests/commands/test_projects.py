"""Projects and tasks in a real log: names, beginnings, endings, and who was faster."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from commands.eventlog import EventLog
from commands.places import drafted_into, place, project_of, projects, task_of, tasks
from commands.projects import (
    close_project,
    close_task,
    create_project,
    create_task,
    reopen_task,
)
from domain.agent_errors import (
    NoSuchProject,
    NoSuchTask,
    ProjectExists,
    ProjectIsClosed,
    ProjectIsVirtual,
    TaskExists,
    TaskIsClosed,
    TasksAreOpen,
)
from domain.errors import BadSetting, BadText, NothingChanges, Refused
from domain.events import AgentDrafted, Caused
from domain.ids import CommandId
from domain.recorded import BEGINNING, Draw
from domain.streams import agent_stream, project_stream, task_stream
from tests.stories.cast import Stage, SteadyWorld


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """A store with a project and a task."""
    stage = Stage(tmp_path / "store")
    create_project(stage.log, stage.world, "payments", description="Cards.")
    create_task(stage.log, stage.world, "payments", "Refunds differ from voids")
    return stage


class Faster(SteadyWorld):
    """A world in which somebody acts just before a wish is recorded."""

    def __init__(self, act: Callable[[], object]) -> None:
        super().__init__("bob")
        self.act: Callable[[], object] | None = act

    def now(self) -> int:
        """The time, once something has happened."""
        self._act()
        return super().now()

    def command_id(self) -> CommandId:
        """The next number; a wish gets it before anybody is kept from writing."""
        self._act()
        return super().command_id()

    def _act(self) -> None:
        act, self.act = self.act, None
        if act is not None:
            act()


def test_a_project_is_as_it_was_made(stage: Stage, tmp_path: Path) -> None:
    """With its roles, each once, and its directory as a whole path without links."""
    (tmp_path / "link").symlink_to(tmp_path)
    made = create_project(
        stage.log,
        stage.world,
        "shop.2-b",
        description="  A shop. ",
        roles=["reviewer", "editor", "reviewer"],
        path=tmp_path / "link",
    )
    assert made == project_of(stage.log, "shop.2-b")
    assert made.created.description == "A shop."
    assert made.created.roles == ("reviewer", "editor")
    assert made.created.path == str(tmp_path.resolve())
    assert (made.open, made.created.virtual) == (True, False)
    assert [project.id for project in projects(stage.log)] == ["payments", "shop.2-b"]
    assert stage.log.sessions() == []


@pytest.mark.parametrize(
    "name", ["", "a/b", "../x", "A", "a b", "x" * 65, "payments\n", "a:b", "-a", "\ud800", "ä"]
)
def test_what_names_no_project_is_refused(stage: Stage, name: str) -> None:
    """Neither made nor looked for: no name leads into another stream."""
    with pytest.raises(BadSetting, match="can't name a project"):
        create_project(stage.log, stage.world, name)
    with pytest.raises(BadSetting, match="can't name a task"):
        create_task(stage.log, stage.world, "payments", "t", slug=name)
    with pytest.raises(NoSuchProject):
        project_of(stage.log, name)
    with pytest.raises(NoSuchTask):
        task_of(stage.log, "payments", name)
    with pytest.raises(NoSuchProject):
        task_of(stage.log, name, "refunds-differ-voids")
    assert len(stage.log.streams()) == 2


@pytest.mark.parametrize("path", ["relative", "/nowhere/at/all", "/\0", "", "{file}", "{loop}"])
def test_what_is_no_directory_is_refused(stage: Stage, tmp_path: Path, path: str) -> None:
    """A project is never given a place that is not there."""
    (tmp_path / "file").write_text("x")
    (tmp_path / "loop").symlink_to("loop")
    path = path.format(file=tmp_path / "file", loop=tmp_path / "loop")
    with pytest.raises(BadSetting):
        create_project(stage.log, stage.world, "shop", path=path)
    assert len(projects(stage.log)) == 1


def test_other_things_that_make_no_project(stage: Stage) -> None:
    """A name that is taken, a role that can't be one, a text that is binary."""
    with pytest.raises(ProjectExists, match="'payments'"):
        create_project(stage.log, stage.world, "payments")
    with pytest.raises(BadSetting, match="can't name a role"):
        create_project(stage.log, stage.world, "shop", roles=["../editor"])
    with pytest.raises(BadText):
        create_project(stage.log, stage.world, "shop", description="a\0b")
    assert len(projects(stage.log)) == 1


def test_tasks_are_named_by_their_titles(stage: Stage) -> None:
    """Or as somebody wants; of two with the same words the second gets a number."""
    log, world = stage.log, stage.world
    second = create_task(log, world, "payments", "Refunds differ\n from voids", description=" d ")
    third = create_task(log, world, "payments", "Refunds differ from voids")
    named = create_task(log, world, "payments", "Refunds differ from voids", slug="r.1")
    assert [task.created.slug for task in tasks(log, "payments")] == [
        "refunds-differ-voids",
        "refunds-differ-voids-2",
        "refunds-differ-voids-3",
        "r.1",
    ]
    assert (second.created.title, second.created.description) == ("Refunds differ from voids", "d")
    assert (third.id, named.id) == ("payments/refunds-differ-voids-3", "payments/r.1")
    with pytest.raises(TaskExists, match=r"'r\.1'"):
        create_task(log, world, "payments", "x", slug="r.1")


def test_tasks_of_one_project_are_not_those_of_another(stage: Stage) -> None:
    """Also where one name begins as the other does."""
    create_project(stage.log, stage.world, "pay")
    task = create_task(stage.log, stage.world, "pay", "Refunds differ from voids")
    assert tasks(stage.log, "pay") == [task]
    assert len(tasks(stage.log, "payments")) == 1
    assert [task.id for task in tasks(stage.log)] == [
        "payments/refunds-differ-voids",
        "pay/refunds-differ-voids",
    ]


@pytest.mark.parametrize("title", ["", " \n", "x" * 201, "a\0b"])
def test_what_is_no_title_is_refused(stage: Stage, title: str) -> None:
    """A title is one line that somebody can read."""
    with pytest.raises(BadText):
        create_task(stage.log, stage.world, "payments", title)
    assert len(tasks(stage.log)) == 1


def test_what_is_not_there_names_what_is(stage: Stage) -> None:
    """The nearest names first."""
    create_project(stage.log, stage.world, "shop")
    with pytest.raises(NoSuchProject, match="'paymnts': there are payments, shop"):
        place(stage.log, "paymnts", "x")
    with pytest.raises(NoSuchTask, match="'refunds': there is refunds-differ-voids"):
        place(stage.log, "payments", "refunds")
    with pytest.raises(NoSuchTask, match="mind task create shop"):
        place(stage.log, "shop", "refunds")
    with pytest.raises(NoSuchProject):
        tasks(stage.log, "paymnts")


def test_somebody_may_be_drafted_into_an_open_task_alone(stage: Stage) -> None:
    """Not into a closed one, a closed project, or a mere heading."""
    log, world, slug = stage.log, stage.world, "refunds-differ-voids"
    project, task = place(log, "payments", slug)
    assert (project.id, task.id) == ("payments", f"payments/{slug}")
    close_task(log, world, "payments", slug, "done")
    with pytest.raises(TaskIsClosed, match="mind task reopen payments refunds-differ-voids"):
        place(log, "payments", slug)
    assert reopen_task(log, world, "payments", slug, "not done").reason == "not done"
    assert place(log, "payments", slug)[1].open
    close_project(log, world, "payments", with_tasks=True)
    with pytest.raises(ProjectIsClosed):
        place(log, "payments", slug)
    create_project(log, world, "heading", virtual=True)
    with pytest.raises(ProjectIsVirtual):
        place(log, "heading", "x")
    with pytest.raises(ProjectIsVirtual):
        create_task(log, world, "heading", "x")


def test_nothing_happens_twice(stage: Stage) -> None:
    """What is closed is not closed again, what is open not opened."""
    log, world, slug = stage.log, stage.world, "refunds-differ-voids"
    with pytest.raises(NothingChanges, match="open already"):
        reopen_task(log, world, "payments", slug)
    close_task(log, world, "payments", slug)
    with pytest.raises(NothingChanges, match="closed already"):
        close_task(log, world, "payments", slug)
    close_project(log, world, "payments")
    with pytest.raises(NothingChanges, match="closed already"):
        close_project(log, world, "payments", with_tasks=True)
    with pytest.raises(ProjectIsClosed):
        reopen_task(log, world, "payments", slug)
    assert log.stands(task_stream("payments", slug)).version == 2
    assert log.stands(project_stream("payments")).version == 2


def test_a_project_is_not_closed_over_open_tasks(stage: Stage) -> None:
    """Unless they are closed, too; the sentence says which there are."""
    log, world = stage.log, stage.world
    for number in range(9):
        create_task(log, world, "payments", "t", slug=f"t{number}")
    with pytest.raises(TasksAreOpen, match=r"refunds-differ-voids, t0, .* and 2 more: .*--with-"):
        close_project(log, world, "payments")
    assert project_of(log, "payments").open
    close_task(log, world, "payments", "t3", "earlier")
    closed = close_project(log, world, "payments", "over", with_tasks=True)
    assert not closed.open
    assert [task.open for task in tasks(log)] == [False] * 10
    assert task_of(log, "payments", "t3").reason == "earlier"
    assert task_of(log, "payments", "t4").reason == "over"


def test_a_task_never_begins_in_a_project_that_was_just_closed(stage: Stage) -> None:
    """Whoever closes it a moment before the task is recorded is heard."""
    log, ann = stage.log, stage.world
    close = Faster(lambda: close_project(log, ann, "payments", with_tasks=True))
    with pytest.raises(ProjectIsClosed):
        create_task(log, close, "payments", "too late")
    assert len(tasks(log)) == 1


def test_a_task_is_never_opened_in_a_project_that_was_just_closed(stage: Stage) -> None:
    """Neither begun nor reopened: a closed project has no open tasks."""
    log, ann, slug = stage.log, stage.world, "refunds-differ-voids"
    close_task(log, ann, "payments", slug)
    with pytest.raises(ProjectIsClosed):
        reopen_task(log, Faster(lambda: close_project(log, ann, "payments")), "payments", slug)
    assert not task_of(log, "payments", slug).open


def test_a_project_is_never_closed_over_a_task_that_just_began(stage: Stage) -> None:
    """The other way round."""
    log, ann = stage.log, stage.world
    close_task(log, ann, "payments", "refunds-differ-voids")
    with pytest.raises(TasksAreOpen, match="one-more"):
        close_project(
            log, Faster(lambda: create_task(log, ann, "payments", "one more")), "payments"
        )
    assert project_of(log, "payments").open


def test_whoever_is_second_with_the_same_words_gets_another_name(stage: Stage) -> None:
    """And whoever wanted just this name is told."""
    log, ann = stage.log, stage.world
    mine = create_task(log, Faster(lambda: create_task(log, ann, "payments", "x")), "payments", "x")
    assert mine.created.slug == "x-2"
    with pytest.raises(TaskExists):
        create_task(
            log, Faster(lambda: create_task(log, ann, "payments", "y")), "payments", "y", slug="y"
        )
    with pytest.raises(ProjectExists):
        create_project(log, Faster(lambda: create_project(log, ann, "shop")), "shop")


def test_many_processes_make_nothing_twice(stage: Stage) -> None:
    """Each of them sees the store with its own eyes; every task gets a name of its own."""

    def one(number: int) -> str:
        with EventLog(stage.directory) as log:
            world = SteadyWorld(f"w{number}")
            try:
                create_project(log, world, "shop")
                made = "made"
            except Refused as refused:
                made = type(refused).__name__
            return f"{made} {create_task(log, world, 'shop', 'Sell things').created.slug}"

    with ThreadPoolExecutor(6) as pool:
        done = [said.split() for said in pool.map(one, range(6))]
    assert sorted(made for made, _ in done) == [*["ProjectExists"] * 5, "made"]
    names = {"sell-things", *(f"sell-things-{n}" for n in range(2, 7))}
    assert {slug for _, slug in done} == names
    assert {task.created.slug for task in tasks(stage.log, "shop")} == names


def test_the_past_is_as_it_was(stage: Stage) -> None:
    """As of a position of the store there is what had happened by then."""
    log, world, slug = stage.log, stage.world, "refunds-differ-voids"
    before = log.position()
    close_project(log, world, "payments", with_tasks=True)
    create_project(log, world, "shop")
    assert [p.id for p in projects(log, upto=before)] == ["payments"]
    assert project_of(log, "payments", upto=before).open
    assert task_of(log, "payments", slug, upto=before).open
    assert tasks(log, "payments", upto=1) == []
    assert projects(log, upto=0) == []
    with pytest.raises(NoSuchProject):
        project_of(log, "shop", upto=before)
    with pytest.raises(NoSuchTask):
        task_of(log, "payments", slug, upto=1)


def test_who_was_drafted_into_a_task(stage: Stage) -> None:
    """Agents of this task alone, oldest first."""
    log, world = stage.log, stage.world
    create_task(log, world, "payments", "other")
    for number, task in enumerate(("refunds-differ-voids", "other", "refunds-differ-voids")):
        drafted = AgentDrafted(
            role="editor",
            instructions="You edit.",
            model="local",
            client="cli",
            project="payments",
            task=task,
        )
        draw = Draw([Caused(drafted)], world.now(), world.actor, world.command_id())
        log.begin(agent_stream(f"editor-{number}").id, BEGINNING, draw)
    found = drafted_into(log, "payments", "refunds-differ-voids")
    assert [agent.id for agent in found] == ["editor-0", "editor-2"]
    assert drafted_into(log, "payments", "refunds-differ-voids", upto=2) == []


def test_a_wish_is_tied_to_who_had_it(stage: Stage) -> None:
    """Every event says who, when, and by which wish, as those of sessions do."""
    [recorded] = stage.log.read(project_stream("payments").id)
    assert str(recorded.actor) == "user:ann"
    assert recorded.command in stage.log.stands(project_stream("payments")).commands
    assert recorded.at == project_of(stage.log, "payments").begun


def test_texts_that_were_redacted_are_gone_and_names_stay(stage: Stage) -> None:
    """Project and task can be worked on as before."""
    log, world = stage.log, stage.world
    targets = {project_stream("payments").id: [1]}
    targets |= {task_stream("payments", "refunds-differ-voids").id: [1]}
    log.redact(targets, "private", Draw([], world.now(), world.actor, world.command_id()))
    project, task = place(log, "payments", "refunds-differ-voids")
    assert project.created.description == "[redacted]"
    assert (task.created.title, task.created.slug) == ("[redacted]", "refunds-differ-voids")
    assert not close_project(log, world, "payments", with_tasks=True).open
