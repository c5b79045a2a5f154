# Every target sets up first, which takes no time when it is done already. `make` alone lists them.
SHELL := /bin/sh
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON := .venv/bin/python
PROFILE ?= quick
RESULTS ?= results
ARGS ?=

.PHONY: help setup lock test lint format clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## make .venv with the locked dependencies (uv when it is there, else pip)
	@sh scripts/setup.sh

lock: setup ## resolve the dependencies of pyproject.toml anew into constraints.txt (needs uv; ARGS=--upgrade for newer ones)
	@uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --no-annotate \
		--custom-compile-command "make lock" --output-file constraints.txt --quiet $(ARGS)

test: setup ## all tests (ARGS=... goes to pytest)
	@$(PYTHON) -m pytest $(ARGS)

lint: setup ## ruff and mypy --strict
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m ruff format --check .
	@$(PYTHON) -m mypy
