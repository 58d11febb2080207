# Every target sets up what it needs: `make quickstart` and `make test` work from a bare clone.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: install quickstart test test-interop lint doctests docs bench bench-torch bench-scale bench-out-of-core clean

install: .venv/.installed

.venv/.installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

.venv/.developing: .venv/.installed
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

.venv/.documenting: .venv/.installed
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	touch $@

.venv/.measuring: .venv/.installed
	$(BIN)/python -m pip install --quiet --editable ".[bench]"
	touch $@

.venv/.measuring-torch: .venv/.measuring
	$(BIN)/python -m pip install --quiet --editable ".[bench-torch]"
	touch $@

.venv/.interoperating: .venv/.developing
	$(BIN)/python -m pip install --quiet --editable ".[interop-wapiti,interop-tools]"
	touch $@

quickstart: install
	$(BIN)/sidelight quickstart

lint: .venv/.developing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

doctests: .venv/.developing
	$(BIN)/python -m pytest -n 2 --dist worksteal --doctest-modules src -p no:cacheprovider

test: .venv/.developing
	$(MAKE) --jobs 2 --output-sync lint doctests
	$(BIN)/python -m pytest -n 2 --dist worksteal --durations 30 -rs tests

# Against every library whose data or models are read or written, without a skip. Some are large (Snorkel brings torch).
test-interop: .venv/.interoperating
	SIDELIGHT_NO_SKIPS=1 $(BIN)/python -m pytest -rs tests/interop tests/annotation_tools tests/features/test_wapiti.py \
	  tests/data/test_tables.py tests/models/test_export.py tests/cli/test_export.py tests/serving

# The site, in build/site/index.html; warnings are errors, and pages are made from the docstrings of src. Search needs
# a server: python3 -m http.server -d build/site
docs: .venv/.documenting
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict

bench: .venv/.measuring
	$(BIN)/python -m benchmarks

# torch is large where its build is not for processors alone; the benchmark works without it.
bench-torch: .venv/.measuring-torch
	$(BIN)/python -m benchmarks sums

# Workers on Ray against threads; needs a quiet machine, SIDELIGHT_DATA, and about an hour.
bench-scale: .venv/.developing
	$(BIN)/python -m benchmarks.scale --json build/scale.json

# 20 million generated tokens in files; QUICK=--quick for one million.
bench-out-of-core: .venv/.measuring
	$(BIN)/python -m benchmarks out_of_core $(QUICK) --json out-of-core.json

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis quickstart-out
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
