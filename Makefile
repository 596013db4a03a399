# make app    serve the demo on http://127.0.0.1:7860
# make test   run the tests
# make check  formatting, lint, types
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 7860

.PHONY: app test check format clean

app: $(VENV)/.app
	GRADIO_SERVER_PORT=$(PORT) $(BIN)/python app.py

test: $(VENV)/.dev
	$(BIN)/python -m pytest

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

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
