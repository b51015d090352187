"""The demo: one real question, a mind on this machine, drafts, a choice, the log, a branch.

    make demo                       the 1.5B model
    MODEL=small make demo           the half-size one
    TEXT=docs/demo/wiki.md make demo

Everything happens in ``demo-store/`` (or DEMO_STORE), which is made anew.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
STORE = Path(os.environ.get("DEMO_STORE", ROOT / "demo-store"))
MIND = Path(sys.executable).with_name("mind")
MODELS = {"local": "local", "small": "local:small", "tiny": "local:tiny"}


def main() -> None:
    """Show the whole way of an exchange, with the commands that a user would type."""
    wanted = os.environ.get("MODEL", "local")
    if wanted not in MODELS:
        sys.exit(f"MODEL={wanted} is none of {', '.join(MODELS)}.")
    model, text = MODELS[wanted], os.environ.get("TEXT", "docs/demo/tides.md")
    if STORE.exists() and not (STORE / "log.db").exists():
        sys.exit(f"{STORE} is no store of an earlier demo: name another place in DEMO_STORE.")
    shutil.rmtree(STORE, ignore_errors=True)
    shown = STORE.relative_to(ROOT) if STORE.is_relative_to(ROOT) else STORE
    run("model", "pull", model)
    run("init", str(shown), "-f", text, "-m", model)
    run("run", "3")
    for _ in range(3):  # a small mind may have said nothing that could be an answer
        if any(not draft["signal"] for draft in drafts()):
            break
        run("run", "1")
    run("drafts")
    run("think", "What would somebody who knows better object to?")
    run("thoughts")
    run("cluster", "status")
    first = next((str(draft["index"]) for draft in drafts() if not draft["signal"]), "1")
    reason = "what if I had taken the first one?"
    run("fork", "what-if", "--at", f"draft:{first}", "--stay", "--reason", reason)
    run("accept")
    run("accept", first, "--session", "what-if")
    run("diff", "main", "what-if", "--text")
    run("why", "exc_1_000", "--depth", "0")
    run("history")
    run("message", "That answers it, thank you! Remind me to look at a tide table on Friday.")
    run("artifact", "list")
    run("context")
    run("search", "two bulges")
    run("project", "create", "demo")
    run("task", "create", "demo", "Check the answer")
    run("agent", "draft", "reviewer", "--model", model)
    run(
        "agent",
        "ask",
        "Name one weakness of this claim, in one sentence: the Moon alone makes tides.",
    )
    run("agent", "undraft")
    run("log")
    run("at", "iter:1", "drafts")
    run("sessions")
    run("query", "SELECT exchange, drafts, accepted FROM exchanges_of('what-if')")
    run("report", "overview")
    run("verify")
    print(f"\nIt is all in {STORE}: .venv/bin/mind status --store {STORE}", flush=True)


def run(*words: str) -> None:
    """One command, as it would be typed, and what it prints."""
    print(f"\n$ mind {shlex.join(words)}", flush=True)
    done = subprocess.run([MIND, *words], cwd=ROOT, env=environment(), check=False)
    if done.returncode:
        sys.exit(done.returncode)


def drafts() -> list[dict[str, object]]:
    """The drafts of the open exchange, as the program that reads JSON sees them."""
    shown = subprocess.run(
        [MIND, "drafts", "--json"], cwd=ROOT, env=environment(), check=True, capture_output=True
    )
    found: list[dict[str, object]] = json.loads(shown.stdout)["drafts"]
    return found


def environment() -> dict[str, str]:
    """The user's own, except that their current store is left as it is."""
    return {**os.environ, "MIND_STORE": str(STORE), "XDG_STATE_HOME": str(STORE / ".state")}


if __name__ == "__main__":
    main()
