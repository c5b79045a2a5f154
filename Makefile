# Every target sets up first, which takes no time when it is done already. `make` alone lists them.
SHELL := /bin/sh
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON := .venv/bin/python
PROFILE ?= quick
RESULTS ?= results$(if $(filter full,$(PROFILE)),/full)
JOBS ?= $(shell n=$$(nproc 2>/dev/null || echo 2); [ "$$n" -lt 8 ] && echo "$$n" || echo 8)
ARGS ?=
EXTRAS ?= dev

LATER := table2 table3 table4 table5 table6 table7 table8 table9 table10
.PHONY: help setup lock test lint format reproduce table1 $(LATER) figures report first-real doctor bench verify-alfworld verify-graph

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: ## make .venv with the locked dependencies (uv when it is there, else pip)
	@sh scripts/setup.sh $(EXTRAS)

reproduce: setup ## the main job: Table 1 with radar charts (PROFILE=quick|full JOBS=n ARGS="KEY=VALUE ...")
	@$(PYTHON) scripts/reproduce.py profile=$(PROFILE) results_dir=$(RESULTS) jobs=$(JOBS) $(ARGS)

test: setup ## all tests (ARGS=... goes to pytest)
	@$(PYTHON) -m pytest $(ARGS)

lint: setup ## ruff and mypy --strict
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m ruff format --check .
	@$(PYTHON) -m mypy

format: setup ## let ruff lay out the code
	@$(PYTHON) -m ruff check --fix-only --quiet .
	@$(PYTHON) -m ruff format .

table1: setup ## all runs of Table 1 on all tasks, then the table (ARGS="KEY=VALUE ..." for scripts/run.py)
	@$(PYTHON) -u scripts/run.py -m experiment=table1 results_dir=$(RESULTS) hydra.launcher.n_jobs=$(JOBS) $(ARGS)
	@$(PYTHON) scripts/tables.py table=1 results_dir=$(RESULTS)

$(LATER):
	@echo "$@ is not available yet; docs/paper-map.md says what is." >&2; exit 1

first-real: setup ## No-Memory and STRATA with your model on 20 tasks: MODEL=provider/model BUDGET=dollars
	@$(PYTHON) -u scripts/first_real.py model=$(MODEL) budget=$(BUDGET) results_dir=$(RESULTS) $(ARGS)

report: setup ## results/report/index.html: tables, charts, runs, episodes
	@$(PYTHON) scripts/report.py results_dir=$(RESULTS) $(ARGS)

figures: setup ## radar charts of the runs that are there
	@$(PYTHON) scripts/figures.py figure=3 results_dir=$(RESULTS) $(ARGS)

doctor: setup ## is every environment, backbone, embedder and memory ready?
	@$(PYTHON) scripts/doctor.py $(ARGS)

verify-alfworld: setup ## our ALFWorld engine against the stock one, on every game (ARGS="data=FOLDER"); long
	@$(PYTHON) -u scripts/verify_alfworld.py $(ARGS)

verify-graph: setup ## the STRATA graph against its oracle, 100,000 operations, ten times those of `make test`
	@STRATA_ORACLE_OPERATIONS=100000 $(PYTHON) -m pytest tests/graph/test_oracle.py tests/graph/test_oracle_matched.py $(ARGS)

bench: setup ## speed of both engines' adapters against the stock ones
	@$(PYTHON) -u scripts/bench_alfworld.py
	@$(PYTHON) -u scripts/bench_scienceworld.py

lock: setup ## resolve the dependencies anew into constraints.txt (needs uv; ARGS=--upgrade for newer ones)
	@uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --no-annotate \
		--custom-compile-command "make lock" --output-file constraints.txt --quiet $(ARGS)
