"""How much memory a process took."""

import resource
import sys
from pathlib import Path


def peak() -> float:
    """The most memory that this process had, MiB.

    Where Linux tells it by process: ``ru_maxrss`` counts what the parent had when it started this.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (1 << 20 if sys.platform == "darwin" else 1024)
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024
