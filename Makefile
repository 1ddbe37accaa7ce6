# Two commands set everything up: `make repro` and `make test`. The rest is for those who stay.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

# No stage, test or tool reports home.
export DVC_NO_ANALYTICS := 1
export MLFLOW_DISABLE_TELEMETRY := true
export DO_NOT_TRACK := true

.DEFAULT_GOAL := help
.PHONY: help repro test check ui bench pitfalls deps lock clean

help:  ## show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | awk -F'\t' '{printf "  make %-8s %s\n", $$1, $$2}'

$(READY): requirements.lock pyproject.toml
	@git rev-parse --git-dir >/dev/null 2>&1 || { echo "Not a git repository, which DVC needs: clone it, or in an unpacked archive run: git init"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Candlecast needs Python 3.11 or newer; name one with make PYTHON=..."; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $(READY)

repro: $(READY)  ## install, then run the whole pipeline on the bundled real data
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/dvc repro
	@echo "Open reports/report.html; compare runs with: make ui"

test: $(READY)  ## install, then run the whole test-suite
	scripts/install-browser
	scripts/install-postgresql
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pytest --numprocesses 2 --dist loadscope

check: $(READY)  ## formatting, lint, types, the layout's rules, dvc.yaml
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pytest --quiet tests/test_architecture.py tests/test_dvc_yaml.py

ui: $(READY)  ## open the tracking store in MLflow, on loopback
	$(BIN)/candlecast ui

bench: $(READY)  ## measure speed and memory beside the peers
	$(BIN)/python -m benchmarks

pitfalls: $(READY)  ## measure what goes wrong with accumulation, and write experiments/002-pitfalls.md
	PYTHONPATH=src:tests $(BIN)/python -m training.pitfalls_page experiments/002-pitfalls.md

deps: $(READY)  ## bring dvc.yaml's dependencies up to date with the code
	$(BIN)/python scripts/dvc_deps.py

lock:  ## resolve pyproject.toml into requirements.lock
	$(BIN)/pip-compile --quiet --extra dev --strip-extras --no-annotate --no-header --no-emit-index-url \
		--no-emit-find-links --no-emit-trusted-host --output-file requirements.lock pyproject.toml
	# A build's local label (+cpu) belongs to this machine, not to the lock.
	sed -i -E 's/^(torch==[0-9.]+)\+.*/\1/' requirements.lock

clean:  ## remove what stages, tests and tools wrote; keep the environment and the tracking store
	rm -rf data reports/report.html reports/plots reports/figures reports/training reports/metrics.json screenshots
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
