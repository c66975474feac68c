# Needs Python 3.11 or newer and make (GNU make 3.81 will do); everything else goes into .venv.
# Every path is relative, so that the folder may have blanks in its name.

.DEFAULT_GOAL := help
.SUFFIXES:
.PHONY: help run test check fmt bench clean again

# The first Python that is new enough and can make virtual environments; `make run PYTHON=...` names another.
PYTHON ?= $(shell for name in python3.13 python3.12 python3.11 python3 python; do \
	$$name -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 \
	&& { echo $$name; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
# Tests run in parallel; more than 8 at once would wait for each other in the one database server.
WORKERS ?= auto
ARGS ?=

# The environment is made anew when its Python is gone or the folder was moved. The stamps hold the folder's path.
READY = $(shell [ ! -e $(VENV)/unfinished ] && [ "$$(cat $(VENV)/ready 2>/dev/null)" = "$$(pwd -P)" ] && $(BIN)/python -c '' 2>/dev/null && echo yes)

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-6s  %s\n", $$1, $$2 }' Makefile

run: $(VENV)/ready ## set up a virtual environment and run the demonstration
	$(BIN)/everlore demo

test: check ## set up everything, then pass all checks and tests (ARGS are handed to pytest)
	$(BIN)/python -m pytest -n $(WORKERS) --maxprocesses 8 $(ARGS)

check: $(VENV)/ready-to-develop ## style, formatting, types and the arrows between packages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m pyright
	$(BIN)/lint-imports --no-logo

fmt: $(VENV)/ready-to-develop ## format the code and mend what can be mended without a person
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/ready-to-develop ## measure speed and scale (takes minutes; nothing in the tests is timed)
	$(BIN)/python benchmarks/recall_scale.py
	$(BIN)/python benchmarks/ingest.py
	$(BIN)/python benchmarks/one_message.py

clean: ## remove the virtual environment and every cache; your memories stay
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis .import_linter_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A set-up that was interrupted leaves `unfinished` behind; the next one starts from nothing.
$(VENV)/ready: pyproject.toml packages/everlore-english/pyproject.toml $(if $(READY),,again)
	@chosen='$(PYTHON)'; \
	if [ -z "$$chosen" ]; then \
		if python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
			echo "This Python cannot make virtual environments. On Debian and Ubuntu: apt install python3-venv." >&2; \
		else \
			echo "Everlore needs Python 3.11 or newer. Install it, or name one: make run PYTHON=/path/to/python3." >&2; \
		fi; exit 1; \
	fi; \
	if ! "$$chosen" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
		echo "$$chosen is not Python 3.11 or newer. Name another one: make run PYTHON=/path/to/python3." >&2; exit 1; \
	fi; \
	if ! "$$chosen" -c 'import venv, ensurepip' >/dev/null 2>&1; then \
		echo "$$chosen cannot make virtual environments. On Debian and Ubuntu: apt install python3-venv." >&2; exit 1; \
	fi; \
	echo "Setting up $(VENV) with $$("$$chosen" --version). This takes a minute or two, once."; \
	if [ -z "$(READY)" ]; then rm -rf $(VENV); fi; \
	mkdir -p $(VENV) && touch $(VENV)/unfinished && \
	if [ ! -x $(BIN)/pip ]; then "$$chosen" -m venv $(VENV); fi && \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1' && \
	$(BIN)/python -m pip install --quiet ./packages/everlore-english --editable '.[english]' && \
	rm -f $(VENV)/ready-to-develop $(VENV)/unfinished && pwd -P > $(VENV)/ready

$(VENV)/ready-to-develop: $(VENV)/ready
	@echo "Installing the tools for tests and checks."
	@touch $(VENV)/unfinished && $(BIN)/python -m pip install --quiet --group dev && rm $(VENV)/unfinished && touch $@

again: ;
