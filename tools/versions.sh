#!/usr/bin/env bash
# Run the tests with the lowest versions that pyproject.toml allows, or with the newest: tools/versions.sh [highest]
# Dask and Spark are included; the browser and the packaged model are not. Spark has no wheel.
set -euo pipefail
cd "$(dirname "$0")/.."
resolution=${1:-lowest-direct}
folder=build/$resolution
uv=.venv/bin/uv
make .venv/ready
$uv venv --quiet --clear --python "${PYTHON:-python3}" "$folder"
only=(--only-binary :all:)
$uv pip compile --quiet --python "$folder" "${only[@]}" --no-binary pyspark --resolution "$resolution" --extra scale \
  --no-header --no-annotate --no-emit-index-url pyproject.toml -o "$folder/versions.txt"
# Test tools have the newest versions that fit.
$uv pip install --quiet --python "$folder" "${only[@]}" --no-binary pyspark --constraint "$folder/versions.txt" \
  --extra lab --extra scale --extra test -r pyproject.toml
$uv pip install --quiet --python "$folder" --no-deps --no-build-isolation --editable .
"$folder/bin/python" -m pytest --numprocesses=auto --maxprocesses=8 --dist=loadfile --no-loadscope-reorder \
  -m "not slow and not browser and not model" --doctest-modules ragnb tests
