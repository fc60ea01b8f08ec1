# Two commands do everything on a fresh machine with Python 3.11+ and make: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
INSTALLED := $(VENV)/.installed
READY := $(VENV)/.ready
DOCS := .venv-docs
# A file of tests is run by one process, for the sake of what its tests share; tests/conftest.py says in which order.
PYTEST := $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder -rfEs

.PHONY: demo test test-all lint types check vscode docs pictures clean

demo: $(INSTALLED)
	@$(BIN)/simpletorch demo

test: $(READY)
	$(PYTEST) -m "not thorough"

# What `make test` leaves out: more variants of the same, and the tests that need ONNX, transformers, JAX and the like.
test-all: $(VENV)/.neighbours
	$(PYTEST) -m "thorough or neighbour"

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

check: test test-all lint types

# The extension for VS Code, packed as editors/vscode/dist/simpletorch.vsix; needs node and npm.
vscode: $(READY)
	cd editors/vscode && npm install --no-audit --no-fund && npm run build && npm run package
	node editors/vscode/test/headless.js $(CURDIR)/$(BIN)/simpletorch language-server

# The site, in site/; it has an environment of its own, without torch.
docs: $(DOCS)/.ready
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict --quiet
	@echo "site/index.html"

$(DOCS)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(DOCS)
	$(PYTHON) -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['docs'], sep='\n')" > $(DOCS)/packages
	$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -r $(DOCS)/packages
	@touch $@

# What the gallery's programs print and draw (some minutes, once for each program), the recording in README, and what
# editors, notebooks and terminals show; the last needs chromium.
GALLERY := docs/pictures/gallery
pictures: $(patsubst examples/gallery/%.py,$(GALLERY)/%.png,$(filter-out %/__init__.py,$(wildcard examples/gallery/*.py)))
	$(BIN)/python docs/pictures/recording.py
	$(BIN)/python docs/pictures/make.py

$(GALLERY)/%.png: examples/gallery/%.py | $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -W ignore $< --picture $@ > $(@:.png=.txt)

# What a user has. torch first and by its exact version: any other order lets a dependency pull the CUDA build (gigabytes).
$(INSTALLED): pyproject.toml constraints.txt
	@echo "simpletorch: setting up $(VENV) (about a minute, once)"
	$(PYTHON) -m venv $(VENV)
	$(PIP) torch
	$(PIP) -e .
	@cd src/simpletorch/cli && $(CURDIR)/$(BIN)/simpletorch check _digits_model.py -- --config-file= > /dev/null  # reads PyTorch, once
	@touch $@

# What the tests, the linters and mypy need beside it.
$(READY): $(INSTALLED)
	@echo "simpletorch: installing what the tests need (a minute or two, once)"
	$(PIP) -e ".[dev]"
	@touch $@

$(VENV)/.neighbours: $(READY)
	@echo "simpletorch: installing the libraries that ours works with (a minute, once)"
	$(PIP) -e ".[neighbours]"
	@touch $@

clean:
	rm -rf $(VENV) $(DOCS) site .mypy_cache .pytest_cache .ruff_cache .hypothesis
