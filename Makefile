# Two commands for everybody: `make run` and `make test`. They set up everything they need in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed-for
ADK := .venv-adk
# What the tests in tests/interop work with, each in an environment of its own: their dependencies and ours differ.
ADK_2 := $(ADK)/2.13.0
ADK_1 := $(ADK)/1.39.1
# The oldest one that the engine is tested with.
ADK_0 := $(ADK)/1.25.0
export INSPECTOR_ADK_PYTHON ?= $(CURDIR)/$(ADK_2)/bin/python
export INSPECTOR_ADK_1_PYTHON ?= $(CURDIR)/$(ADK_1)/bin/python
export INSPECTOR_ADK_1_25_PYTHON ?= $(CURDIR)/$(ADK_0)/bin/python

export PIP_DISABLE_PIP_VERSION_CHECK = 1
# The tests start hundreds of processes: without compiled files, each compiles all that it imports.
unexport PYTHONDONTWRITEBYTECODE
unexport PYTHONUNBUFFERED

.PHONY: run test environments test-all check lint fmt soak layout bench docs dist install uninstall clean
.DELETE_ON_ERROR:

run: $(STAMP)
	@$(BIN)/python -m inspector_app.support.system_check
	@$(BIN)/python -m inspector_app.demo

# A test file at a time for each processor and one more, as many tests wait; at most four. Slow folders come first, so that the
# last files are short, and no processor waits long for another.
WORKERS := $(shell $(PYTHON) -c 'import os; print(min((os.cpu_count() or 1) + 1, 4))')
EACH := -n $(WORKERS) --dist loadfile --no-loadscope-reorder
SLOWEST := --durations=50 --durations-min=1

# The runtime's unit tests run where Qt cannot be imported, all others after them.
test: export QT_QPA_PLATFORM = offscreen
test: $(STAMP)
	@$(BIN)/python -m inspector_app.support.system_check
	@$(MAKE) --no-print-directory -j 2 lint environments
	$(BIN)/python -m pytest $(EACH) $(SLOWEST) -p tests.without_qt -p no:pytest-qt -W ignore::pytest.PytestConfigWarning tests/unit --ignore=tests/unit/inspector_app
	$(BIN)/python -m pytest $(EACH) $(SLOWEST) --ignore-glob='tests/unit/[!i]*'

environments: $(ADK_0)/installed $(ADK_1)/installed $(ADK_2)/installed

# The same with each Python from 3.11 that is found here, in an environment of its own. Its last lines report each.
test-all:
	+@$(PYTHON) -m tests.interpreters $(MAKE) --no-print-directory test

# Style, types, import contracts and words: what needs no test run.
lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.architecture.prose

# What ruff can mend by itself.
fmt: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Before each commit, within a minute: lint, and the tests nearest to what changed since `main`.
check: export QT_QPA_PLATFORM = offscreen
check: lint
	$(BIN)/python -m tests.of_changes -q $(EACH)

# The same kill sweeps, fuzzers and random closings as in `make test`, with their full counts, all engines on all versions, and 300 changed
# lines, each of which what `make check` runs must find.
soak: export QT_QPA_PLATFORM = offscreen
soak: export INSPECTOR_SOAK = 1
soak: $(STAMP) environments
	@$(BIN)/python -m inspector_app.support.system_check
	$(BIN)/python -m pytest -m sweep --timeout 7200
	$(BIN)/python -m pytest $(EACH) -m 'not sweep' tests/interop/engines
	$(BIN)/python -m tests.mutations --count 300 --seed $${SEED:-$$(date +%j)}

# The packages' folders floor by floor, with the folders each of them imports; fails if an arrow points up.
layout: $(STAMP)
	@$(BIN)/python -m tests.architecture.layout

# What must be fast beside the version before (the last tag, or BEFORE=COMMIT). Then ours, google-adk's (in an environment of its own) and
# the physical limit, measured in turn: about half an hour on a quiet machine.
bench: $(STAMP) $(ADK_2)/installed
	$(BIN)/python -m bench.speed $(if $(BEFORE),--before $(BEFORE))
	$(BIN)/python -m bench
	$(BIN)/python -m bench.storage
	$(BIN)/python -m bench.stream
	$(BIN)/python -m bench.memory
	$(BIN)/python -m bench.tail
	$(BIN)/python -m bench.tail --mode wal
	$(BIN)/python -m bench.tail_rate
	$(BIN)/python -m bench.live_child
	$(BIN)/python -m bench.idle
	$(BIN)/python -m bench.browse
	$(BIN)/python -m bench.blocking_tool
	$(BIN)/python -m bench.engines
	$(BIN)/python -m bench.attach
	$(BIN)/python -m bench.recorder
	$(BIN)/python -m bench.commands
	$(BIN)/python -m bench.timeline

# The documentation as a web site in build/docs, with pictures drawn from the window. Warnings are errors.
docs: $(STAMP)
	@$(BIN)/python -m inspector_app.support.system_check
	@$(BIN)/python docs/pictures.py
	$(BIN)/python -m sphinx -q -W -b html docs build/docs
	@echo "Open build/docs/index.html."

# The source archive and the wheel in dist, the wheel made from the archive, so that nothing outside it is needed. The version is the newest
# tag's, such as v0.2.0, with the number of commits since then. The URLs are those of the repository this one was cloned from, if it is a
# public one; REPOSITORY=URL names another.
REPOSITORY ?= $(shell git remote get-url origin 2>/dev/null | sed -nE 's|^git@([^:]+):|https://\1/|; s|//[^/@]*@|//|; s|\.git$$||; /^https:/p')
dist: export AGENT_INSPECTOR_REPOSITORY = $(REPOSITORY)
dist: $(STAMP)
	@rm -rf dist
	@log=$$($(BIN)/python -c 'from setuptools import build_meta; build_meta.build_sdist("dist")' 2>&1) || { echo "$$log"; exit 1; }
	@$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist dist/*.tar.gz
	@ls dist

$(ADK)/%/installed:
	@echo "Installing google-adk $* into $(@D), for the tests with the real one."
	@$(PYTHON) -m venv --clear $(@D)
	@$(@D)/bin/python -m pip install --quiet 'google-adk==$*' sqlalchemy aiosqlite asyncpg greenlet debugpy
	@touch $@

PREFIX ?= /usr/local
INSTALLED := $(PREFIX)/lib/agent-inspector
SHARED := share/applications/agent-inspector.desktop share/metainfo/io.github.agent_inspector.metainfo.xml
ICONS := $(patsubst resources/desktop/icons/%/agent-inspector.png,share/icons/hicolor/%/apps/agent-inspector.png,$(wildcard resources/desktop/icons/*/*.png)) \
	share/icons/hicolor/scalable/apps/agent-inspector.svg

# The program with its dependencies in an environment of its own below PREFIX, and its entry in the desktop's menu. With DESTDIR, the
# package alone, for distributions: its dependencies are packages there. What an earlier build left would be installed too, deleted modules
# included.
install:
	rm -rf build/lib build/bdist.*
ifdef DESTDIR
	$(PYTHON) -m pip install --no-deps --no-build-isolation --ignore-installed --root '$(DESTDIR)' --prefix '$(PREFIX)' .
else
	$(PYTHON) -m venv --clear '$(INSTALLED)'
	'$(INSTALLED)/bin/python' -m pip install --quiet -c constraints.txt '.[postgres,mcp]'
	mkdir -p '$(PREFIX)/bin'
	ln -sf '$(INSTALLED)/bin/agent-inspector' '$(PREFIX)/bin/agent-inspector'
	for file in $(SHARED) $(ICONS); do \
		install -D -m 644 "$(INSTALLED)/$$file" "$(PREFIX)/$$file" || exit; done
endif

uninstall:
	rm -rf '$(INSTALLED)' '$(PREFIX)/bin/agent-inspector'
	cd '$(PREFIX)' && rm -f $(SHARED) $(ICONS)

clean:
	rm -rf $(VENV) .venv-3.* $(ADK) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache inspector.png
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A virtual environment knows its own path: a checkout that was moved or copied gets a new one.
ifneq ($(shell cat $(STAMP) 2>/dev/null),$(CURDIR))
.PHONY: $(STAMP)
endif

$(STAMP): pyproject.toml setup.py constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Agent Inspector needs Python 3.11 or newer; name one: make PYTHON=python3.12")'
	@echo "Installing into $(VENV); the first time this takes a minute or two."
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[test]'
	@echo '$(CURDIR)' > $@
