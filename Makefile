# Everything runs in .venv, made on first use; PYTHON may name another interpreter (>= 3.11).
PYTHON ?= python3
VENV := .venv
CONSTRAINTS := constraints.txt
BIN := $(VENV)/bin
# Compiled bytecode is kept: tests start many processes, and each would compile all modules anew.
export PYTHONDONTWRITEBYTECODE :=
STAMP := $(VENV)/.installed

.PHONY: help setup demo test test-portable test-oldest check format reproduce graphs football tennis quality matching bench bench-full scale docs dist clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

$(STAMP): pyproject.toml $(CONSTRAINTS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "pairity needs Python >= 3.11; got $$($(PYTHON) --version). Set PYTHON=/path/to/python3.11 or newer." >&2; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || \
	  { echo "python3 -m venv failed: install the venv module of $(PYTHON) (on Debian: python3-venv)." >&2; exit 2; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint $(CONSTRAINTS) --editable '.[dev]'
	@touch $(STAMP)

setup: $(STAMP)  ## make .venv with the package and its tools

demo: $(STAMP)  ## train, validate and predict on embedded real data, both symmetries
	$(BIN)/pairity demo --output build/demo --force

check: $(STAMP)  ## format, lint, types
	$(BIN)/ruff format --check src tests benchmarks experiments examples docs/making
	$(BIN)/ruff check src tests benchmarks experiments examples docs/making
	$(BIN)/mypy

format: $(STAMP)  ## reformat and fix what ruff can fix
	$(BIN)/ruff format src tests benchmarks experiments examples docs/making
	$(BIN)/ruff check --fix src tests benchmarks experiments examples docs/making

test: check  ## check, then all tests on both cores
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal

test-portable: $(STAMP)  ## the laws at every level of vector instructions, about 15 minutes
	$(BIN)/python tests/portable.py

# In an environment of its own, next to that of all other targets.
test-oldest:  ## all tests with the oldest supported versions of what the package needs
	$(MAKE) setup VENV=.venv-oldest CONSTRAINTS=constraints-oldest.txt
	.venv-oldest/bin/python -m pytest --numprocesses 2 --dist worksteal

bench-full: BENCH = --full
reproduce: $(STAMP)  ## the paper's tables beside the paper's own numbers
	$(BIN)/pairity reproduce all --output build/reproduce --force

graphs: $(STAMP)  ## arcs of real graphs: plain, neighbour-mean and diffusion kernels compared
	$(BIN)/python -m experiments.graphs

football: $(STAMP)  ## win, draw and loss of international matches beside an honest Elo
	$(BIN)/python -m experiments.football
	$(BIN)/python -m experiments.football.drifting

tennis: $(STAMP)  ## strengths that drift beside a tuned Elo, 27 years of tennis, about 30 minutes
	$(BIN)/python -m experiments.tennis

quality: $(STAMP)  ## the automatic model beside trees, SVC and others on real tasks, about 20 minutes
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[quality]"
	$(BIN)/python -m experiments.quality

matching: $(STAMP)  ## raw tables matched beside a tuned forest, and 100,000 records against 100,000
	$(BIN)/python -m experiments.matching

bench bench-full: $(STAMP)  ## side by side with peers, ratios first
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[bench]"
	$(BIN)/python -m benchmarks $(BENCH)

scale: $(STAMP)  ## low-rank models: 1 M pairs in one process, 20 M on two workers, about 30 minutes
	$(BIN)/python -m benchmarks.scale

docs: $(STAMP)  ## the site in build/site; no network once its tools are installed
	@$(BIN)/python -c 'import material, mkdocs, mkdocstrings_handlers.python' 2> /dev/null || \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[docs]"
	$(BIN)/python -m docs.making.tables
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict  # not --quiet: that forgets warnings
	$(BIN)/python -m docs.making.outside build/site
	@echo "open build/site/index.html"

dist: $(STAMP)  ## wheel and source archive in dist/
	rm -rf dist
	$(BIN)/python -m build --outdir dist .

clean:
	rm -rf $(VENV) .venv-oldest build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis
