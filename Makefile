# POSIX make and sh. PYTHON names the interpreter that makes .venv: 3.11 or newer.
PYTHON ?= python3
BIN = $(if $(filter Windows_NT,$(OS)),.venv/Scripts,.venv/bin)
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Whole crawls, tests that found a bound too low, and unit tests that import more of Scrapy or Twisted than settings.
OLDEST = $(addprefix tests/crawl/test_,demo.py downloads.py findings_feeds.py projects.py scrapy_cloud.py status_politeness.py \
	stopping.py) \
	$(addprefix tests/unit/,feeds/test_workbook.py jobs/store/test_baseline.py reader/test_prolog.py replies/page/test_body.py robots \
	rules/test_languages.py rules/test_revisits.py terminal test_records_schema.py urls) \
	$(shell grep -rlE --include='*.py' '^(from|import) (scrapy( |\.[^su]|\.s[^e]|\.utils)|twisted)' tests/unit)

help:
	@echo 'make crawl DOMAIN=example.com [ARGS="-a max_urls=10"]   crawl a domain, results in out/'
	@echo 'make crawl                                              crawl the demo site'
	@echo 'make demo [PORT=8000] [DAY=2]                           serve the demo site until Ctrl-C'
	@echo 'make test [ARGS="-x"]                                   run the tests that take no more than seconds each'
	@echo 'make test-all                                           run the slow ones too, as CI does'
	@echo 'make test-oldest                                        run some of them with the oldest packages that will do'
	@echo 'make fuzz [TARGET=xml] [SECONDS=600]                    fuzz one target or all, 10 seconds each by default'
	@echo 'make lint                                               ruff, mypy and the layers of imports'
	@echo 'make docs                                               build the documentation as a site in build/site/'
	@echo 'make audit [ARGS=--strict]                              look up known holes of packages, and wheels for each Python'
	@echo 'make sbom                                               list what a release consists of, in build/sbom.json'
	@echo 'make dist                                               build and check the wheel and the source archive in dist/'
	@echo 'make clean                                              remove .venv and what was built'

# The environment carries DOMAIN into the recipe, so that no character of it is read by the shell.
crawl: .venv/.crawl
	@if [ -n "$$DOMAIN" ]; then \
		$(BIN)/python -m scrapy crawl sitemap -a "domain=$$DOMAIN" -O out/urls.csv -O out/records.jsonl $(ARGS); \
	else \
		$(BIN)/python -m demo crawl $(ARGS); \
	fi

demo: .venv/.crawl
	@$(BIN)/python -m demo serve --port "$${PORT:-0}" --day "$${DAY:-1}"

# Fleets first, then in the order of the folders, so that short files come last and no worker waits for the other.
# tests/conftest.py gives each module to one worker.
# Four workers more than cores: crawls wait for more than half of their time.
WORKERS = $$($(BIN)/python -c 'import os; print((os.cpu_count() or 1) + 4)')
PYTEST = $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder

test: .venv/.test
	@$(PYTEST) -m 'not slow' $(ARGS)

test-all: .venv/.test-all
	@$(PYTEST) $(ARGS)

# The first version of each package that pyproject.toml allows, Scrapy 2.18 of Zyte's newest stack among them.
test-oldest: .venv/.test-all .venv/.oldest
	@PYTHONPATH="$(CURDIR)/.venv/oldest" $(BIN)/python -c 'import scrapy; assert scrapy.version_info[:2] == (2, 18)'
	@PYTHONPATH="$(CURDIR)/.venv/oldest" $(PYTEST) $(sort $(OLDEST)) $(ARGS)

# Two targets at a time. A crash ends its target and prints the input that caused it. What is tried differs each time, so
# CI does not fuzz: make test-all tries the inputs that were kept.
fuzz: .venv/.fuzz
	@printf '%s\n' $(or $(TARGET),$$($(BIN)/python -m fuzz --list)) | \
		xargs -P 2 -I '{}' $(BIN)/python -m fuzz '{}' $(SECONDS)

# mypy reads the helpers of the tests too. Of what they import, it needs only what types their decorators.
lint: .venv/.lint
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

# The variable silences a notice about the future of MkDocs, which a strict build would show each time.
docs: .venv/.docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build
	@echo 'The documentation is in build/site/index.html.'

audit: .venv/.release
	@$(BIN)/python release/audit.py $(ARGS)
	@$(BIN)/python release/wheels.py $(ARGS)

# In an environment of its own, which has what users install and nothing of what tests need.
sbom: .venv/.release
	@$(PYTHON) -m venv --clear .venv/sbom
	@.venv/sbom/bin/python -m pip install --quiet --disable-pip-version-check '.[parquet,fleet,s3,gcs,cloud]'
	@$(BIN)/python release/sbom.py .venv/sbom/bin/python build/sbom.json

dist: .venv/.release
	@$(BIN)/python release/crawlers.py
	@rm -rf dist
	@$(BIN)/python -m build --outdir dist
	@$(BIN)/python -m twine check --strict dist/*
	@$(BIN)/check-wheel-contents dist/*.whl

clean:
	rm -rf .venv build dist out *.egg-info .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache

# A stamp is written last: a set-up that was cut short is done again.
.venv/.python:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer is needed: make PYTHON=...")'
	$(PYTHON) -m venv .venv
	@touch $@

.venv/.crawl: .venv/.python pyproject.toml
	$(INSTALL) --editable .
	@touch $@

.venv/.test: .venv/.python pyproject.toml
	$(INSTALL) --editable '.[test]'
	@touch $@

.venv/.test-all: .venv/.python pyproject.toml
	$(INSTALL) --editable '.[test-all]'
	@touch $@

.venv/.oldest: .venv/.release
	@$(BIN)/uv --quiet pip compile --python $(BIN)/python --resolution lowest-direct pyproject.toml --output-file .venv/oldest.txt
	@$(BIN)/uv --quiet pip install --python $(BIN)/python --no-deps --target .venv/oldest --requirements .venv/oldest.txt
	@touch $@

.venv/.fuzz: .venv/.python pyproject.toml
	@$(INSTALL) --editable '.[fuzz]' && touch $@ || echo 'atheris cannot be had: fuzzing is skipped' >&2

.venv/.docs: .venv/.python pyproject.toml
	$(INSTALL) --editable '.[docs]'
	@touch $@

.venv/.lint: .venv/.python pyproject.toml
	$(INSTALL) --editable '.[dev]'
	@touch $@

.venv/.release: .venv/.python pyproject.toml
	$(INSTALL) --editable '.[release]'
	@touch $@

.PHONY: help crawl demo test test-all test-oldest fuzz lint docs audit sbom dist clean
