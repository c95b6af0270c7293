# Every command of the project; `make` alone lists them.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
CODE := lvmkit widgets/lvmkit_widgets data/lvmkit_data
# Processes that share the tests of one step; 0: none beside pytest itself. The ten slowest tests are told.
JOBS ?= 2
PYTEST = $(BIN)/pytest -p no:nbval --durations=10 --durations-min=1
SHARED = -n $(JOBS) --dist loadfile
# JupyterLab refuses to start as root unless told; containers have no other user.
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)

# Python keeps what it compiled, whatever the machine says: the tests start some hundred processes.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup explore lab test check style types imports docstrings unit kernels robustness story browser binder wheel \
        newest lowest bench notebooks lock build clean

help:  ## list the commands
	@awk -F':.*## ' '/^[a-z]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY)  ## install everything that the lock names, and lvmkit itself, into .venv

# The venv is always made anew in place: a first try without ensurepip leaves one that has no pip.
$(READY): binder/requirements.txt binder/postBuild pyproject.toml
	@echo "Setting up .venv: one or two minutes"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -qq --require-hashes -r binder/requirements.txt
	PATH="$(CURDIR)/$(BIN):$$PATH" binder/postBuild
	@touch $@

explore: $(READY)  ## open the workbench on the bundled cohort
	$(BIN)/lvmkit explore

lab: $(READY)  ## open the notebooks in JupyterLab; its launcher has a card for the workbench
	$(BIN)/jupyter lab $(AS_ROOT) --LabApp.extension_manager=readonly --notebook-dir=notebooks

test: $(READY)  ## all checks and tests: the steps named below, side by side, the longest first
	@$(BIN)/python .ci/steps.py style imports unit browser story types wheel kernels robustness binder

# `make check unit` reads the docstrings once: they are a part of unit.
check: style types imports $(if $(filter unit,$(MAKECMDGOALS)),,docstrings)  ## what needs no running code: style, types, imports, docstrings

style: $(READY)  ## ruff: rules and format
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --check --quiet .

types: $(READY)  ## mypy, strict
	$(BIN)/mypy

imports: $(READY)  ## the directions of imports that pyproject.toml allows
	$(BIN)/lint-imports --no-logo

docstrings: $(READY)  ## every parameter and return value is documented (a part of unit)
	$(BIN)/pytest -q tests/test_docstrings.py

# Tests of two processes leave each other the cores: linear algebra of several threads waits for the rest.
unit: export OPENBLAS_NUM_THREADS = 1
unit: $(READY)  ## unit tests and doctests
	$(PYTEST) $(SHARED) --doctest-modules --doctest-glob=README.md tests $(CODE) README.md

# Without what is slow, repeated fits (stability), and what computes little. Of the estimators, tests/test_golden.py has
# answers on this kernel and two others. Elsewhere than on x86 the name is ignored.
ESTIMATORS := $(wildcard tests/sustain/test_sustain*.py) tests/sustain/test_baselines.py \
  $(addprefix tests/tensors/, test_equivariance.py test_input.py test_mixture.py test_selection.py) \
  $(addprefix tests/covariates/, similarities test_baselines.py test_classifier.py test_convex_clustering.py test_path.py test_selection.py)
kernels: $(READY)  ## the numerical tests on a BLAS kernel that is not this machine's own, on one thread
	OPENBLAS_CORETYPE=Prescott OPENBLAS_NUM_THREADS=1 $(PYTEST) $(SHARED) -m "not slow" \
	  $(addprefix --ignore=,tests/scores/stability tests/sustain/test_score_counts.py $(ESTIMATORS)) \
	  tests/decompose tests/sustain tests/covariates tests/scores tests/tensors tests/moments tests/mixtures/test_em.py tests/mixtures/test_e_step.py tests/core/test_linalg.py

robustness: $(READY)  ## bad input for everything public: clear answers, no crash, no hang
	$(PYTEST) -m robustness tests/robustness

story: $(READY)  ## run the notebooks and compare with what is stored in them
	$(PYTEST) -p nbval.plugin $(SHARED) --nbval --nbval-current-env --nbval-sanitize-with notebooks/sanitize.cfg notebooks

browser: $(READY)  ## the dashboards in headless Chromium
	$(PYTEST) $(SHARED) -m browser tests/browser

binder: $(READY)  ## build what Binder would build, start it, ask for the pages
	$(PYTEST) -m binder tests/packaging

wheel: $(READY)  ## build the wheel and use the core alone in an empty environment
	$(PYTEST) -m wheel tests/packaging

# Beside the lock, in .venv-newest and .venv-lowest; one part: make newest TESTS=tests/cohorts
BESIDE = $(BIN)/python .ci/unlocked.py $@ $(if $(filter file,$(origin PYTHON)),,--python $(PYTHON)) -- $(TESTS)

newest: $(READY)  ## tests with the newest dependencies and Python found (another: make newest PYTHON=python3.12)
	$(BESIDE)

lowest: $(READY)  ## tests with the lowest dependencies that pyproject.toml allows and the oldest Python found
	$(BESIDE)

bench: $(READY)  ## measure lvmkit and its peers side by side (some: make bench BENCH=planted)
	$(BIN)/python benchmarks/run.py $(BENCH)

notebooks: $(READY)  ## run the notebooks again and store their outputs (needs LVMKIT_DATA)
	$(BIN)/python notebooks/store.py

lock: $(READY)  ## resolve the dependencies again (all newer versions: make lock LOCK=--upgrade)
	$(BIN)/uv pip compile pyproject.toml --all-extras --group dev --group bench --universal \
	  --fork-strategy fewest --generate-hashes --custom-compile-command "make lock" --quiet \
	  --output-file binder/requirements.txt $(LOCK)

build: $(READY)  ## sdist and wheel into dist/
	$(BIN)/python -m build --no-isolation

clean:  ## remove the environment and everything that was built
	rm -rf .venv .venv-newest .venv-lowest build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find lvmkit widgets data tests notebooks benchmarks -name __pycache__ -prune -exec rm -rf {} +
