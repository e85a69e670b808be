# Everything runs in a virtual environment of its own: `make demo` and `make test` are all you need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test lint bench bench-quick drill paper-quick docs clean

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test]"
	touch $(READY)

demo:
	test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[cli,plot]"
	$(BIN)/python -m anymetric.demo

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto

bench: $(READY)
	$(BIN)/python benchmarks/speed.py

bench-quick: $(READY)
	$(BIN)/python benchmarks/speed.py --quick

drill: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/drill.py

paper-quick: $(READY)
	$(BIN)/python -m anymetric.paper --quick --jobs 2 --out .paper-quick

docs: $(VENV)-docs/.ready
	$(VENV)-docs/bin/mkdocs build --strict

# The extra `docs` alone builds the site: no torch, no data frames.
$(VENV)-docs/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)-docs
	$(VENV)-docs/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-docs dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
