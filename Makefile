# make run opens the window, make test runs the tests; each sets up all it needs in .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PROFILE := resources/profiles/digits.toml
# The CUDA libraries are 2 GB: installed only where an NVIDIA driver is present.
CUDA := $(if $(wildcard /proc/driver/nvidia/version)$(shell command -v nvidia-smi 2>/dev/null),cuda)
comma := ,
empty :=
space := $(empty) $(empty)
extras = $(if $(strip $(1)),[$(subst $(space),$(comma),$(strip $(1)))])

# A file of tests stays with one process, so that what it prepares once is prepared once; files are
# begun in their order, the longest first. Two processes a core, as tests also wait: for a process to
# start, to write, to end.
# One that crashes ends the run: with another one in its place pytest-xdist can wait for ever.
PROCESSES = $(shell $(PYTHON) -c "import os; print(min(2 * len(os.sched_getaffinity(0)), 4))")
PARALLEL = -n $(PROCESSES) --dist loadfile --no-loadscope-reorder --max-worker-restart=0

# Only these files are looked into for tests that nothing else may run beside.
ALONE = $(shell grep -rl --include='test_*.py' 'mark\.alone' tests)

# Tests start hundreds of processes, and each would compile all of gpupanel anew. Nor are packages of
# elsewhere what is tested: children of gpupanel do not get that variable either.
unexport PYTHONDONTWRITEBYTECODE PYTHONPATH

.DEFAULT_GOAL := help
.PHONY: help run test test-long test-slow check bench docs guide screenshots release clean

help:  ## say what there is
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

run: $(VENV)/installed  ## open the window; without a display, train the example in the terminal
	@$(BIN)/gpupanel open --or-train $(PROFILE)

test: $(VENV)/installed-dev  ## run the tests
	@$(BIN)/python -m gpupanel.ui.preflight
	$(BIN)/python -m pytest -m "not slow and not long and not alone" $(PARALLEL)
	$(BIN)/python -m pytest -m "alone and not slow" $(ALONE)

test-long: $(VENV)/installed-dev  ## run the tests that take longer, as further comparisons of trainings
	$(BIN)/python -m pytest -m "long and not slow and not alone" $(PARALLEL)

test-slow: $(VENV)/installed-dev  ## run the tests that take minutes
	$(BIN)/python -m pytest -m slow

check: $(VENV)/installed-dev  ## lint, types, import contracts, full branch coverage of the core
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q tests/unit/domain tests/unit/planning tests/unit/references \
		--cov=gpupanel.domain --cov=gpupanel.planning --cov-branch \
		--cov-report=term-missing:skip-covered --cov-fail-under=100

bench: $(VENV)/installed-dev  ## print the figures of speed, memory and smoothness
	@failed=; for benchmark in tests/benchmarks/bench_*.py; do echo; echo "== $$benchmark"; \
		begun=$$(date +%s); $(BIN)/python $$benchmark || failed="$$failed $$benchmark"; \
		echo "took $$(($$(date +%s) - begun)) s"; done; \
		test -z "$$failed" || { echo; echo "Failed:$$failed"; exit 1; }

docs: $(VENV)/installed  ## write the pages of the guide that are made of declarations anew
	$(BIN)/python packaging/write_references.py

# Zensical reads and writes nothing outside of the folder of its settings.
guide: $(VENV)/installed-docs  ## build the guide as a static site, in site/
	@rm -rf build/guide site && mkdir -p build/guide
	@cp -r packaging/zensical.toml resources/guide build/guide
	cd build/guide && $(abspath $(BIN))/zensical build --strict
	@mv build/guide/site site

# In processes of their own: the driver's stand-in of one would be found by the other.
screenshots: $(VENV)/installed-dev  ## take the pictures of the README and of the guide anew
	GPUPANEL_WRITE_SCREENSHOTS=1 $(BIN)/python -m pytest tests/e2e/test_screenshots.py
	GPUPANEL_WRITE_SCREENSHOTS=1 $(BIN)/python -m pytest tests/e2e/test_guide_pictures.py

release: $(VENV)/installed-dev  ## build wheel, sdist, bundle and Debian package in dist/, with checksums
	PYTHON=$(abspath $(BIN))/python packaging/release dist

clean:  ## remove the virtual environment, caches and the site
	rm -rf $(VENV) build site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage

$(VENV)/bin/python:
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11, 3.12 or 3.13 is needed: install it, or name one: make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' || { \
		echo "$$($(PYTHON) --version) is none that TensorFlow is made for: name Python 3.11, 3.12 or 3.13 (make PYTHON=/path/to/python3)."; \
		exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo "The virtual environment could not be made. On Debian and Ubuntu: apt install python3-venv"; exit 1; }

$(VENV)/installed: pyproject.toml gpupanel/__init__.py | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".$(call extras,$(CUDA))"
	@touch $@

$(VENV)/installed-dev: pyproject.toml gpupanel/__init__.py | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".$(call extras,dev $(CUDA))"
	@touch $@ $(VENV)/installed

$(VENV)/installed-docs: pyproject.toml | $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".$(call extras,docs $(CUDA))"
	@touch $@
