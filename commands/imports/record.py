"""Conversations become sessions; the ways that were left in the source become branches of them."""

from pathlib import Path

from commands.imports.desk import Desk, Options
from commands.imports.files import Opened, Told, look_at, silent
from commands.imports.names import LONGEST as SLUG
from commands.imports.report import Report
from commands.imports.sources import Format, Read, reader
from commands.imports.talk import Conversation
from commands.sessions import changed
from commands.world import World
from domain.config import Config
from domain.errors import BadBundle, BadSetting
from domain.ids import session_id
from domain.log import Log

LONGEST_NAME = 64
"""Characters of a name, so that its branches can have one too."""


def import_file(
    log: Log,
    format_: Format,
    path: Path,
    world: World,
    options: Options = Options(),
    *,
    checking: Told = silent,
    told: Told = silent,
) -> Report:
    """Bring the conversations of a file into a log.

    All of the file is read before anything is written. An import that breaks off leaves sessions
    that the next one goes on with.

    Args:
        log: where they go.
        format_: what wrote the file.
        path: the file.
        world: time, chance and the present user.
        options: names, settings, and whether to write at all.
        checking: is told the bytes that have been read, while the file is checked.
        told: the same, while it is imported.

    Raises:
        BadBundle: the file is not of that format, or not complete; nothing was written.
        BadName, BadSetting: the options can't be.
        StoreIsFull, StoreIsBusy, StoreIsReadOnly: what was acknowledged is there.
    """
    config = Config()
    for key, value in options.settings.items():
        config = changed(config, key, value)
    _check_names(options)
    file, read = look_at(path), reader(format_)
    stage = checking

    def tell(done: int, whole: int) -> None:
        stage(done, whole)

    report = Report()
    count, only = _checked(read, file, report, tell)
    if options.name is not None and count > 1:
        raise BadSetting(f"{file.name!r} holds {count} conversations: give --prefix, not --name.")
    stage = told
    report = report if only is not None else Report()
    desk = Desk(log, format_, file, world, options, config, report)
    for conversation in [only] if only is not None else read(file, report, tell):
        desk.take(conversation)
    return report


def _check_names(options: Options) -> None:
    """Make sure that whatever is imported can be named so."""
    for name in (options.name, options.prefix):
        if name is not None:
            session_id(name)
    longest = len(options.prefix or "") + (len(options.name) if options.name else SLUG)
    if longest > LONGEST_NAME:
        raise BadSetting(
            f"Names would be too long for their branches: take at most {LONGEST_NAME - SLUG}"
            f" characters for --prefix, or {LONGEST_NAME} for it and --name together."
        )


def _checked(
    read: Read, file: Opened, report: Report, told: Told
) -> tuple[int, Conversation | None]:
    """How many conversations there are, all of them read without a fault.

    A single one that needs not be read anew for its report is given as well.
    """
    count, only = 0, None
    for conversation in read(file, report, told):
        count += 1
        only = conversation if count == 1 and conversation.proven else None
        if not conversation.proven:
            for _ in conversation.turns():
                pass
    if not count:
        raise BadBundle(file.name, "it holds no conversation")
    return count, only
