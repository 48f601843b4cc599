# Two commands need nothing but Python 3.11 or newer: `make demo` and `make test`.
PYTHON ?= python3
BIN = .venv/bin

.PHONY: demo test lint readme lock clean

demo: .venv/installed
	$(BIN)/knockout demo

test: .venv/installed
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

readme: .venv/installed
	$(BIN)/python -m experiments.catalogue README.md

.venv/installed: requirements.lock pyproject.toml
	@echo "installing into .venv, once; this takes some minutes"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -qq --no-deps --requirement requirements.lock
	$(BIN)/python -m pip install -qq --no-deps --no-build-isolation --editable .
	touch $@

# Pins what stands in the environment now, all that the commands above installed.
lock:
	$(BIN)/python -m pip freeze --exclude-editable --exclude knockout | sed 's/+cpu$$//' > requirements.lock

clean:
	rm -rf .venv results
