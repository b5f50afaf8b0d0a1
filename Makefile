# Each target sets up what it needs, once, inside .venv.
PYTHON ?= python3
ARGS ?=
SECONDS ?= 600

VENV := .venv
BIN := $(VENV)/bin
INSTALL := scripts/install $(VENV)

.DEFAULT_GOAL := help
.PHONY: help demo test quick lowest check bench soak docs screenshots clean
.DELETE_ON_ERROR:

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.base  ## See Windlass run: needs no server, only Python
	@$(BIN)/windlass demo $(ARGS)

# Tests start servers by forking: gRPC would revive its threads in the child, which may then hang.
# They start hundreds of interpreters: where compiled files are not kept, each compiles everything.
PYTEST = TMPDIR=$$(scripts/tmpdir) PYTHONDONTWRITEBYTECODE= GRPC_ENABLE_FORK_SUPPORT=0 $(BIN)/pytest

test: $(VENV)/.dev $(VENV)/.compiled  ## Run the tests against real servers (ARGS="-k retry -n 0")
	@scripts/servers
	@$(PYTEST) -n 3 --dist worksteal $(ARGS)

QUICK := tests/core tests/workflows tests/admin tests/scheduler tests/stores/test_*.py \
	tests/conformance/test_suite.py

quick: $(VENV)/.dev  ## Run the core, and the contract on four stores, in a minute (ARGS=tests/core/test_cron.py)
ifeq ($(ARGS),)
	@scripts/servers
	@$(PYTEST) -n 2 --dist worksteal --stores memory,sqlite,redis,postgres -k "not (test_bounded or mariadb)" $(QUICK)
else
	@$(PYTEST) $(ARGS)
endif

lowest: $(VENV)/.dev  ## Run tests against the lowest versions of all that Windlass needs
	@scripts/lowest $(VENV)/lowest $(ARGS)

check: $(VENV)/.dev  ## Lint, formatting, types, and who may import whom
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.dev  ## Measure throughput and latency
	@scripts/servers || echo "Going on without them."
	@$(BIN)/python -m benchmarks $(ARGS)

soak: $(VENV)/.dev  ## Kill processes and servers for SECONDS (600), then stop handlers, and count what was lost
	@scripts/servers
	@$(BIN)/python -m tests.chaos.soak $(SECONDS) $(ARGS)

docs: $(VENV)/.docs  ## Build the documentation into site/
	@$(BIN)/zensical build --clean --config-file mkdocs.yml

screenshots: $(VENV)/.dev  ## Make the pictures of the dashboard in docs/images
	@scripts/servers
	@$(BIN)/python -m tests.dashboard.screenshots docs/images

clean:  ## Remove everything that was made here, .venv included
	rm -rf $(VENV) site dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@echo "Setting up $(VENV)"
	@scripts/venv $(PYTHON) $(VENV) || { rm -rf $(VENV); exit 1; }

# The demo must start quickly on a fresh machine, so it does without the extras.
$(VENV)/.base: pyproject.toml | $(BIN)/python
	@$(INSTALL) --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	@echo "Installing what the tests and checks need"
	@$(INSTALL) --editable '.[all]' --group dev
	@touch $@

# pytest compiles each file of tests, with asserts that say what they compared, when it first loads
# it. Once, and half of them on each core: each of the processes that run them would do it for all.
$(VENV)/.compiled: | $(VENV)/.dev
	@$(PYTEST) -q --collect-only tests/[a-d]* >/dev/null & \
	$(PYTEST) -q --collect-only tests/[e-z]*/ >/dev/null; wait
	@touch $@

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	@$(INSTALL) --group docs
	@touch $@
