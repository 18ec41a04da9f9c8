# Two commands do all the set-up: `make demo` and `make test`. Both make .venv first, from the package index only.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Nothing is installed whose hash is not in constraints.txt: its parts up to the one that is not wanted, then our code.
LOCKED = sed '/^\# $(1)$$/,$$d' constraints.txt > $(VENV)/locked.txt && $(PIP) --require-hashes -r $(VENV)/locked.txt \
	&& $(PIP) --no-deps --no-build-isolation --editable .

# What `make test` leaves to the others: tests that need more than Python, slow ones, and long ones.
RESOURCES := postgres or browser or box or ray or toolchain
# Seconds of a processor from which a test is slow: tests/slow.txt names those that took as many when last weighed.
SLOW := 0.3
PYTEST := $(BIN)/python -m pytest -q
# One more than the processors of a small machine: a test that waits for a process or a clock leaves one idle.
ABREAST := -n 3 --dist worksteal

# Where byte code is not kept, each of hundreds of processes compiles everything anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help install demo dist site notes test test-cost test-all test-resources test-long test-pages test-languages test-lower fuzz check lint ratchet mutants past-stores lock docs bench chaos live evidence evidence-page evidence-check screenshots recordings clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 16

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "assay needs Python 3.11 or newer; $(PYTHON) is older. Try: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 2; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(BIN)/python pyproject.toml constraints.txt
	@echo "installing assay into $(VENV) ..."
	@$(call LOCKED,mcp scale)
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	@echo "installing what the tests need ..."
	@$(call LOCKED,dense)
	@touch $@

install: $(VENV)/.installed ## make .venv with the application

demo: $(VENV)/.installed ## play the recorded council through the real engine; then see it in the browser
	@$(BIN)/assay demo

test: $(VENV)/.installed-dev ## the quick tests that need nothing but Python, in three minutes
	@$(PYTEST) $(ABREAST) -m "not ($(RESOURCES) or slow or long)"

test-cost: $(VENV)/.installed-dev ## quick and slow tests, out/costs.txt (what each took of a processor), and tests/slow.txt anew
	@$(PYTEST) $(ABREAST) -m "not ($(RESOURCES) or long)" --costs out/costs.txt && head -n 30 out/costs.txt
	@awk '$$1 >= $(SLOW) && /::/ && !/ \(shared\)$$/ {sub(/^ *[0-9.]+ /, ""); print}' out/costs.txt | LC_ALL=C sort > tests/slow.txt

test-all: $(VENV)/.installed-dev ## every test, with all that it can be tried with; says what was skipped
	@ASSAY_TESTS=full $(PYTEST) $(ABREAST) -rs

test-resources: $(VENV)/.installed-dev ## the tests that need more than Python, and the slow ones, without the long ones
	@$(PYTEST) $(ABREAST) --timeout 900 -rs -m "($(RESOURCES) or slow) and not long"

LONG ?= tests
test-long: $(VENV)/.installed-dev ## the long tests that need nothing but Python: make test-long [LONG=tests/crux]
	@$(PYTEST) $(ABREAST) -rs -m "long and not ($(RESOURCES))" $(LONG)

test-pages: $(VENV)/.installed-dev ## every page in a real browser: its width, its contrast, and the keyboard
	@$(PYTEST) -rs -m long tests/assay/web/test_web_every_page.py

test-languages: $(VENV)/.installed-dev ## the languages that Criticality writes, and what was skipped for want of tools
	@$(PYTEST) -rs tests/criticality/languages

# In an environment of its own: the oldest releases that pyproject.toml allows, and the newest tools that test them.
LOWER := .venv-lower
UV_LOWER = $(LOWER)/bin/uv pip install --quiet --python $(LOWER)/bin/python
test-lower: pyproject.toml ## what needs no extra, with the oldest versions that pyproject.toml allows
	@$(PYTHON) -m venv $(LOWER) && $(LOWER)/bin/python -m pip install --quiet --disable-pip-version-check uv
	@$(UV_LOWER) --resolution lowest-direct --editable '.[import]'
	@$(UV_LOWER) pytest pytest-asyncio pytest-timeout pytest-xdist hypothesis
	@$(LOWER)/bin/python -m pytest -q $(ABREAST) -m "not ($(RESOURCES) or long)" tests/llm_runtime \
		tests/assay/cli/test_ask_command.py tests/assay/cli/test_runs_command.py

fuzz: $(VENV)/.installed-dev ## the properties, with new examples at each run; what it finds becomes an @example
	@ASSAY_TESTS=fuzz $(PYTEST) $(ABREAST) -m "hypothesis or counted"

lint: $(VENV)/.installed-dev ## ruff, pyright strict, import-linter
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/pyright
	@$(BIN)/lint-imports

mutants: $(VENV)/.installed-dev ## whether the tests see changes of the core that they have to see; a quarter of an hour
	@$(BIN)/python -m tools.mutants

ratchet: $(BIN)/python ## lower what each room of src may cost to what it costs today
	@$(BIN)/python -m tools.house --lower

past-stores: $(VENV)/.installed-dev ## make tests/past by the code of past commits: a quarter of an hour, PostgreSQL, and a clone with its history
	@$(BIN)/python -m tools.past_stores

lock: $(VENV)/.installed-dev ## write constraints.txt: a version that stands there stays, what is missing is looked up
	@$(PIP) uv && $(BIN)/python tools/lock.py

check: lint test ## what has to be clean before a commit

docs: $(VENV)/.installed-dev ## write docs/cli.md from the help of the commands, and draw the architecture
	@$(BIN)/python -m docs.generate

bench: $(VENV)/.installed-dev ## the figures of the README, measured here
	@$(BIN)/python -m bench

RUNS ?= 500
CHAOS_MINUTES ?= 30
STOP_SECONDS ?= 90
chaos: $(VENV)/.installed-dev ## kill and stop workers, database, provider at random while runs pass: make chaos [RUNS= CHAOS_MINUTES= STOP_SECONDS=]
	@$(BIN)/python -m bench.chaos --runs $(RUNS) --minutes $(CHAOS_MINUTES) --stop $(STOP_SECONDS)

CALLS ?= 60
TASKS ?= 24
SEED ?= 1
MINUTES ?= 25
BUDGET ?= 0.50
live: $(VENV)/.installed-dev ## each protocol on a real model: make live MODEL=... [CALLS= MINUTES= BUDGET=]; before a release
	@test -n "$(MODEL)" || { echo "name a model: make live MODEL=ollama:qwen3, or a base URL with #MODEL"; exit 2; }
	@$(BIN)/python -m bench.live '$(MODEL)' --calls $(CALLS) --minutes $(MINUTES) --budget $(BUDGET)

evidence: $(VENV)/.installed-dev ## a plan, then methods at equal spend on a real model: make evidence MODEL=... [TASKS= SEED= BUDGET=]
	@test -n "$(MODEL)" || { echo "name a model: make evidence MODEL=ollama:qwen3, or a base URL with #MODEL"; exit 2; }
	@$(BIN)/python -m bench.checkable $(TASKS) $(SEED) | $(BIN)/assay evidence run - --model '$(MODEL)' --seed $(SEED) --budget $(BUDGET) --at-once 2

evidence-page evidence-check: $(VENV)/.installed-dev
	@$(BIN)/assay evidence $(@:evidence-%=%)

dist: $(BIN)/python ## a wheel in dist/, and sbom.json of what comes with it
	@rm -rf dist && $(BIN)/python -m venv dist/.venv
	@dist/.venv/bin/pip install --quiet --disable-pip-version-check build
	@dist/.venv/bin/python -m build --wheel --outdir dist . > /dev/null
	@rm -rf dist/.venv && $(BIN)/python -m venv dist/.venv
	@sed -n 's/ *\\$$//; s/^[^ #]/&/p' constraints.txt > dist/versions.txt
	@dist/.venv/bin/pip install --quiet --disable-pip-version-check -c dist/versions.txt "$$(ls dist/*.whl)[web,mcp]"
	@rm dist/versions.txt
	@$(PIP) cyclonedx-bom
	@$(BIN)/cyclonedx-py environment --output-format JSON --output-file dist/sbom.json dist/.venv/bin/python
	@rm -rf dist/.venv && ls -l dist

site: $(VENV)/.installed-dev ## the documentation as a site in out/site; a warning is an error
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet && echo "out/site/index.html"

VERSION ?= Unreleased
notes: ## release notes: what the changelog says of a version: make notes [VERSION=]
	@awk -v version='[$(VERSION)]' '/^## / {on = index($$0, version)} on && !/^## /' CHANGELOG.md | sed '/./,$$!d'

screenshots: $(VENV)/.installed-dev ## the pictures of the pages, from the recorded runs
	@$(BIN)/python -m docs.screenshots

recordings: $(VENV)/.installed-dev ## play the recordings that need optional parts, and keep their logs
	@$(BIN)/python -m docs.recordings

clean: ## remove .venv and what the tools left
	@rm -rf $(VENV) $(LOWER) .pytest_cache .ruff_cache .hypothesis .import_linter_cache
