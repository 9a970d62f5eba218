# The index of commands: `make help`. `make audit` and `make test` do all set-up themselves.

PYTHON ?= python3
VENV ?= .venv
CHECKS ?= .venv-checks
PLAN ?= laptop
BIN := $(VENV)/bin
# Idle threads that spin slow down small models on shared cores.
export OMP_WAIT_POLICY ?= passive

.DEFAULT_GOAL := help
.PHONY: help venv audit test integration checks lint format lock docs tiny-base wheel images test-images bench clean

help:  ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

venv: $(VENV)/.ready  ## virtual environment with the locked requirements

$(VENV)/.ready: $(wildcard requirements/*.lock) pyproject.toml tools/venv.sh
	PYTHON=$(PYTHON) sh tools/venv.sh $(VENV)

audit: venv  ## run the laptop plan and print where the report lies (PLAN=name or file)
	$(BIN)/leakscape audit $(PLAN)

test: venv  ## the default tests
	OMP_NUM_THREADS=1 $(BIN)/pytest -n auto --dist loadgroup

integration: venv $(CHECKS)/.ready  ## the tests that need a browser, services or minutes
	$(BIN)/pytest -m "integration or slow"

checks: venv $(CHECKS)/.ready  ## the chart, the manifests and the commands of the how-tos
	$(BIN)/pytest -m "integration or not integration" tests/charts tests/manifests tests/docs

$(CHECKS)/.ready: requirements/checks/checks.lock tools/checks.sh
	PYTHON=$(PYTHON) sh tools/checks.sh $(CHECKS)

lint: venv  ## ruff, mypy --strict, import-linter, generated files up to date
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/readmes.py --check

format: venv  ## let ruff format and fix what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: venv  ## resolve the requirements anew and write the locks
	$(BIN)/python tools/lock.py

docs: venv  ## write the generated parts of READMEs and docs
	$(BIN)/python tools/readmes.py
	$(BIN)/python tools/chart_readme.py
	$(BIN)/python tools/cli_docs.py

tiny-base: venv  ## pretrain the base model that ships with the package
	$(BIN)/python tools/tiny_base.py

wheel: venv  ## build dist/*.whl
	$(BIN)/python -m build --wheel --no-isolation

images: venv  ## build the container images (BASE_IMAGE=NAME@sha256:..., IMAGES, IMAGE_OPTIONS; docs/images.md)
	$(BIN)/python tools/images.py --base-image "$(BASE_IMAGE)" $(IMAGE_OPTIONS) $(IMAGES)

test-images: venv  ## build images from Debian's packages and run them (root, podman, buildah)
	$(BIN)/pytest -m "integration or not integration" tests/images

bench: venv  ## run the benchmarks
	for script in benchmarks/*.py; do $(BIN)/python $$script; done

clean:  ## remove what was built (audits are kept)
	rm -rf $(VENV) $(CHECKS) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
