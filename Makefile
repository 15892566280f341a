# Two commands: `make chat` opens the chat, `make test` proves the project.
# Everything lives in .venv; a part that is already done is not done again, and needs no network.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --constraint constraints.txt
MEDUSA := $(BIN)/medusa-chat

# A shell may export a PROMPT of its own; only `make chat PROMPT="..."` counts, taken as it is: make reads no $ in it.
ifeq ($(origin PROMPT),command line)
override PROMPT := $(value PROMPT)
else
PROMPT :=
endif
export PROMPT

.PHONY: chat test model clean

chat: .venv/installed model
	@if [ -n "$$PROMPT" ]; then $(MEDUSA) run --stats -- "$$PROMPT"; \
	elif [ -t 0 ] && [ -t 1 ]; then $(MEDUSA); \
	else $(MEDUSA) run --stats; fi

test: .venv/installed-dev model
	@echo "== ruff"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@echo "== mypy"
	@$(BIN)/mypy
	@echo "== rooms"
	@$(BIN)/lint-imports --no-logo
	@echo "== pytest"
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 $(TESTS)

# Pulled and converted once; says nothing to do after that.
model: .venv/installed
	@$(MEDUSA) models pull

.venv/bin/python:
	@echo "== virtual environment ($(PYTHON))"
	@$(PYTHON) -m venv .venv

# torch comes first and alone, so that a build chosen by the machine's own pip settings is kept.
.venv/installed: pyproject.toml constraints.txt | .venv/bin/python
	@echo "== torch (large: a few minutes the first time)"
	@$(PIP) torch
	@echo "== medusa-chat"
	@$(PIP) --editable .
	@touch $@

.venv/installed-dev: .venv/installed
	@echo "== tools for tests"
	@$(PIP) --editable '.[dev]'
	@touch $@

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
