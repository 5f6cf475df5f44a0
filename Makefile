# make demo   the whole way on a bundled site, then the review app
# make test   the tests of every change, real browser included; within 10 minutes on two cores
# make test-all   everything: every row of rotated tables, storms of kills and random input, all of it in Chromium
# make audit   known vulnerabilities of the pinned packages, where a network is
# make lint   style, types, prose
# make translations   the review app's texts: the catalogues brought up to date with the sources, and compiled
# make docs   the documentation as static pages in dist/docs; after the first time without a network
# make docs-pictures   the tutorials' pictures, from the running review app
# make extension   the browser extension as a zip file for the store (it can be loaded unpacked as it stands)
# make extension-check   what a store asks of the extension; its zip file is loaded
# make setup  what both need: Python packages, front-end libraries, a Chromium. Safe to run again.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
# Without the build hook: `setup` brings the front-end libraries itself.
PIP := HATCH_BUILD_NO_HOOKS=true $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --constraint constraints.txt
# uv installs in seconds what takes pip more than a minute; where it cannot be had or fails, pip does it.
install = { $(PIP) uv && HATCH_BUILD_NO_HOOKS=true UV_DEFAULT_INDEX=$(INDEX) $(BIN)/uv pip install --quiet --python $(BIN)/python \
	--constraint constraints.txt --editable '.[$(EXTRAS)]' 2>/dev/null; } || $(PIP) --editable '.[$(EXTRAS)]'
INDEX = "$${UV_DEFAULT_INDEX:-$${PIP_INDEX_URL:-$$($(BIN)/python -m pip config get global.index-url 2>/dev/null || echo https://pypi.org/simple)}}"
PYTEST = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder
say = { echo "setup: $(1)" >&2; exit 1; }

.PHONY: setup setup-test demo test test-all test-failed audit lint translations docs docs-pictures extension extension-check clean

setup: $(VENV)/.demo
	@$(BIN)/python -m curator_web.vendor
	@$(BIN)/demotape setup

setup-test: setup $(VENV)/.test node_modules/.bin/tsc
	@$(BIN)/python -m tests.support.install_shell

demo: setup
	@$(BIN)/demotape demo

# Compiled modules are kept, whatever the environment says: many tests start many processes.
test: setup-test
	@$(PYTEST)

test-all: setup-test
	@$(PYTEST) --all

# What failed in the last run, once more, alone; what passes then is named as flaky.
test-failed: setup-test
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m tests.support.rerun_failed

# Known vulnerabilities of the pinned packages; needs a network with the databases of PyPI and npm.
audit: setup
	@$(PIP) pip-audit
	@$(BIN)/pip-audit --requirement constraints.txt --disable-pip --no-deps
	@npm audit

lint: setup-test
	@$(BIN)/ruff check .
	@$(BIN)/mypy --no-error-summary
	@node_modules/.bin/tsc --project .
	@$(BIN)/python -m tests.support.prose_lint

translations: $(VENV)/.demo
	@$(BIN)/python -m curator_web.catalogues

docs: $(VENV)/.docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

docs-pictures: setup
	@$(BIN)/python -m tests.support.docs_pictures

extension: $(VENV)/.demo
	@$(BIN)/python -m demotape.store_zip dist/demotape-extension.zip

extension-check: setup-test
	@$(BIN)/python -m pytest tests/extension/test_store.py

clean:
	rm -rf $(VENV) node_modules curator_web/web/static/vendor demotape-demo dist

$(BIN)/python:
	@test -n "$(PYTHON)" || $(call say,Python 3.11 or newer is missing)
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || $(call say,Python 3.11 or newer is needed)
	@"$(PYTHON)" -m venv $(VENV) || { rm -rf $(VENV); $(call say,the module venv is missing; on Debian: apt-get install python3-venv); }

$(VENV)/.demo: EXTRAS = demo
$(VENV)/.demo: pyproject.toml constraints.txt | $(BIN)/python
	@echo "setup: installing Python packages"
	@$(install) || $(call say,the Python packages could not be installed)
	@touch $@

$(VENV)/.test: EXTRAS = demo,test
$(VENV)/.test: pyproject.toml constraints.txt $(VENV)/.demo
	@echo "setup: installing the tests' Python packages"
	@$(install) || $(call say,the tests' Python packages could not be installed)
	@touch $@

$(VENV)/.docs: pyproject.toml constraints.txt $(VENV)/.demo
	@echo "setup: installing the documentation's Python packages"
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --group docs 2>/dev/null \
	  || { $(PIP) --upgrade pip && $(PIP) --group docs; } || $(call say,the documentation's Python packages could not be installed)
	@touch $@

node_modules/.bin/tsc: package-lock.json | $(BIN)/python
	@echo "setup: installing the type checker"
	@$(BIN)/python -m curator_web.vendor --types
	@touch $@
