# Two commands set everything up: `make demo` and `make test`. Both make .venv first, when it is missing or stale.
# Written for GNU make 3.81, the one macOS has. PYTHON=python3.12 make test takes another Python.

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --no-input

# The name of the stamp holds the Python asked for, so that asking for another one makes .venv anew.
PACKAGES := $(VENV)/.packages-$(subst /,_,$(PYTHON))
READY := $(VENV)/.ready-$(subst /,_,$(PYTHON))

# UPGRADE=1 make lock takes the newest versions; without it the lock keeps what it holds.
UPGRADE ?=
COMPILE := $(VENV)/bin/uv pip compile --quiet --universal --fork-strategy fewest --all-extras \
	--generate-hashes --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock"

# What the other Python needs to decide about clusters and to read a store.
ELSEWHERE := annotated-types eventsourcing msgpack numpy pydantic pydantic-core pyyaml \
	typing-extensions typing-inspection
PYENV = $(wildcard $(or $(PYENV_ROOT),$(HOME)/.pyenv)/versions/3.1[1-9].*/bin/python3)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-slow check lint format types contracts docs-check lock-check elsewhere bench docs lock clean

help: ## Print each target with one sentence.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s  %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(READY) ## Show a dialogue from first message to fork; MODEL=local|small|tiny names the mind.
	$(PY) docs/demo/run.py

# Tests start Python hundreds of times, which takes half as long again wherever compiled files may not be kept.
test: $(READY) ## Run every test that takes seconds.
	PYTHONDONTWRITEBYTECODE= $(PY) -m pytest -n 2 --dist worksteal -m "not slow"

# Its examples are new ones each time, also where CI is set, with which Hypothesis would take the same ones always.
test-slow: $(READY) ## Run the tests that take minutes.
	$(PY) -m pytest -n 2 -m slow --hypothesis-profile=default

check: lint format types contracts docs-check lock-check ## Check style, types, contracts, generated pages and the lock.

lint: $(READY)
	$(PY) -m ruff check .

format: $(READY)
	$(PY) -m ruff format --check .

types: $(READY)
	$(PY) -m mypy

contracts: $(READY)
	$(VENV)/bin/lint-imports

docs-check: $(READY)
	$(PY) docs/generate.py --check

lock-check: $(READY)
	$(PY) -m tests.tools.lock
	$(PIP) check

elsewhere: $(READY) ## Make .venv-elsewhere of another Python, for the tests that replay there.
	@for python in python3.13 python3.12 python3.14 python3.11 $(PYENV); do \
	  "$$python" -c 'import sys; sys.exit("{}.{}".format(*sys.version_info) == sys.argv[1])' \
	    "$$($(PY) -c 'import sys; print("{}.{}".format(*sys.version_info))')" 2>/dev/null || continue; \
	  rm -rf .venv-elsewhere; "$$python" -m venv .venv-elsewhere || continue; \
	  $(PY) -m tests.tools.part $(ELSEWHERE) > .venv-elsewhere/part.txt; \
	  .venv-elsewhere/bin/python -m pip install -qq --disable-pip-version-check --no-deps \
	    --require-hashes --only-binary :all: --requirement .venv-elsewhere/part.txt || exit 1; \
	  echo "Made .venv-elsewhere with $$("$$python" --version)."; exit 0; \
	done; echo "There is no other Python here: the tests that replay there are skipped."

bench: $(READY) ## Measure speed against the floor that SQLite sets.
	$(PY) -m tests.benchmarks
	$(PY) -m tests.benchmarks.quality
	$(PY) -m tests.benchmarks.detection
	$(PY) -m tests.benchmarks.search
	$(PY) -m tests.benchmarks.agents
	$(PY) -m tests.benchmarks.stores
	$(PY) -m tests.benchmarks.workers
	$(PY) -m tests.benchmarks.fleet
	$(PY) -m tests.benchmarks.context --csv build/context.csv --picture docs/pictures/context.svg

docs: $(READY) ## Write the generated pages anew.
	$(PY) docs/generate.py

lock: $(READY) ## Write requirements.txt anew from pyproject.toml; UPGRADE=1 takes the newest versions.
	$(COMPILE) $(if $(UPGRADE),--upgrade) --output-file requirements.txt pyproject.toml
	$(PY) -m tests.tools.lock

clean: ## Remove .venv, every cache and every build.
	rm -rf $(VENV) .venv-elsewhere build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Every package at its pinned version, checked by its hash, and never compiled here: building one would
# fetch unpinned build tools.
$(PACKAGES): requirements.txt
	@command -v "$(PYTHON)" >/dev/null 2>&1 || { echo "Logosphere needs Python 3.11 or newer, and there is no '$(PYTHON)' here: install one, or name it, as in PYTHON=python3.12 make demo." >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo "Logosphere needs Python 3.11 or newer, and '$(PYTHON)' is $$("$(PYTHON)" --version 2>&1 | head -n 1): name a newer one, as in PYTHON=python3.12 make demo." >&2; exit 1; }
	@echo "Making $(VENV) with $$("$(PYTHON)" --version), once; about a minute."
	@rm -rf $(VENV)
	@"$(PYTHON)" -m venv $(VENV) || { echo "'$(PYTHON) -m venv' failed: on Debian and Ubuntu the package python3-venv brings it." >&2; exit 1; }
	@$(PIP) install -qq --require-hashes --only-binary :all: --requirement requirements.txt || { echo "Could not install the pinned packages: the lines above say why. If no package registry was reachable, call make again when one is." >&2; exit 1; }
	@touch $@

$(READY): $(PACKAGES) pyproject.toml
	@$(PIP) install -qq --no-deps --no-index --no-build-isolation --editable .
	@touch $@
