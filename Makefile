# Everything a clone needs, with Python 3.11 or newer, git, make and a C compiler. `make help` lists it.

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
SOURCES := ops gateway workers db pipeline tests
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint format types imports deploy-check lock lock-check upgrade chaos bench bench-detect bench-recall bench-peers bench-cost clean

help:  ## this list
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  \1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do printf '%-16s %s\n' "$$name" "$$text"; done

setup: $(STAMP)  ## make .venv from the hashed locks; does nothing while pyproject.toml and the locks stay as they are

$(STAMP): pyproject.toml requirements/dev.txt requirements/build.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is older than 3.11: make setup PYTHON=python3.11"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/build.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

demo: setup  ## a session becomes recallable memory, on an embedded Postgres and Valkey; options in ARGS
	$(BIN)/afterword demo $(ARGS)

test: setup  ## the tests, two at a time; options in ARGS
	$(BIN)/python -m pytest -n 2 $(ARGS)

lint: setup  ## style, and formatting as committed
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)

format: setup  ## rewrite the sources as the formatter wants them
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

types: setup  ## strict types
	$(BIN)/mypy

imports: setup  ## import contracts, and dependencies declared but unused or used but undeclared
	$(BIN)/lint-imports
	$(BIN)/deptry .

deploy-check: setup  ## the compose file against its schema, the Prometheus files against promtool
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml
	ops/deploy/check-prometheus

lock: setup  ## write the locks again, keeping the releases already in them
	$(call compile,requirements)

upgrade: setup  ## write the locks again with the newest releases allowed
	$(COMPILE) --upgrade pyproject.toml --all-extras -o requirements/dev.txt
	$(COMPILE) --upgrade requirements/build.in -o requirements/build.txt
	$(COMPILE) --upgrade requirements/peers.in -o requirements/peers.txt
	$(call compile,requirements)

# Recompiling over a copy keeps its pins where they still satisfy pyproject.toml, so only a real difference fails.
lock-check: setup  ## fail where the locks no longer follow from pyproject.toml
	@rm -rf build/locks && mkdir -p build/locks && cp requirements/*.txt build/locks/
	$(call compile,build/locks)
	@for lock in build core fleet local dev peers; do diff -u requirements/$$lock.txt build/locks/$$lock.txt || exit 1; done

# Whose models the image can ask.
PROVIDERS ?= openai

# dev.txt holds every extra; the smaller locks are cut to its releases, so that what is tested is what is deployed.
define compile
$(COMPILE) pyproject.toml --all-extras -o $(1)/dev.txt
$(COMPILE) pyproject.toml --extra local --extra openai -c $(1)/dev.txt -o $(1)/local.txt
$(COMPILE) pyproject.toml --extra embedder --extra ner $(PROVIDERS:%=--extra %) -c $(1)/dev.txt -o $(1)/fleet.txt
$(COMPILE) pyproject.toml -c $(1)/dev.txt -o $(1)/core.txt
$(COMPILE) requirements/build.in -o $(1)/build.txt
$(COMPILE) requirements/peers.in -o $(1)/peers.txt
endef

chaos: setup  ## kill workers and flush Redis under load, then count; EVENTS and ARGS pass through
	$(BIN)/python -m tests.chaos.run $(if $(EVENTS),--events $(EVENTS)) $(ARGS)

bench: setup  ## how fast the pipeline goes on this machine; SIZE, EVENTS, DATA and ARGS pass through
	$(BIN)/python -m tests.benchmarks.pipeline $(if $(SIZE),--size $(SIZE)) $(if $(EVENTS),--events $(EVENTS)) $(if $(DATA),--data $(DATA)) $(ARGS)

bench-detect: setup  ## what the detectors find and what they flag without reason; DATA names the folder, ARGS passes through
	$(BIN)/python -m tests.benchmarks.detection $(or $(DATA),../shared/data) $(ARGS)

bench-recall: setup  ## how exact and how fast recall is over 1,000 orgs; SIZE (200000, 1000000), DATA and ARGS pass through
	$(BIN)/python -m tests.benchmarks.recall $(if $(SIZE),--size $(SIZE)) $(if $(DATA),--data $(DATA)) $(ARGS)

# What is compared with, and counted by, is no dependency of ours: an environment of its own, from a lock of its own.
PEERS := .bench/peers
$(PEERS)/.installed: requirements/peers.txt
	@test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --require-hashes -r requirements/peers.txt
	@touch $@

bench-peers: setup $(PEERS)/.installed  ## adding and searching beside mem0 and LangGraph's PostgresStore; ARGS passes through
	$(BIN)/python -m tests.benchmarks.peers --python $(PEERS)/bin/python $(ARGS)

bench-cost: setup $(PEERS)/.installed  ## tokens and price of a model call for an ended session; DATA names the folder, ARGS passes through
	$(BIN)/python -m tests.benchmarks.cost --data $(or $(DATA),../shared/data) --python $(PEERS)/bin/python $(ARGS)

clean:  ## remove what the tools left; .venv stays
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis *.egg-info
