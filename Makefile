# make app        serve the demo on http://127.0.0.1:7860
# make test       run all tests
# make test-fast  run the tests without browser and long runs
# make fuzz       hostile input for MINUTES=10, to be refused in words or read exactly
# make check      formatting, lint, types
# make format     format, and mend what lint can mend
# make docs       build the site to build/site
# make wheel      build the package to dist
# make help       show this list
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 7860
MINUTES ?= 10

.PHONY: help app test test-fast fuzz check format docs wheel clean

help:
	@sed -n 's/^# make/make/p' Makefile

app: $(VENV)/.app
	GRADIO_SERVER_PORT=$(PORT) $(BIN)/python app.py

test: $(VENV)/.dev
	$(BIN)/python -m pytest

test-fast: $(VENV)/.dev
	$(BIN)/python -m pytest -m "not slow" --ignore tests/browser

fuzz: $(VENV)/.dev
	$(BIN)/python -m tests.hostile --minutes $(MINUTES)

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

wheel: $(VENV)/.dev
	$(BIN)/python -m hatchling build

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis .cache build dist

# The demo runs from the checkout; only the tests need the package installed, from the same pins.
$(VENV)/.app: requirements.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

$(VENV)/.dev: requirements-dev.txt pyproject.toml $(VENV)/.app
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@
