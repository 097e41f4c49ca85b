# Two commands do all the set-up on a fresh machine: `make demo` and `make test`.
PY := .venv/bin/python

.PHONY: help demo test check format bench fuzz docs dist clean

help:
	@echo "make demo    set up, then show every promise live through a real MCP client"
	@echo "make test    set up, then run all tests"
	@echo "make check   format, lint, types, import contracts"
	@echo "make bench   measure: side by side, in one run"
	@echo "make fuzz    the long runs: 100,000 texts against a real bash, properties, marks, 20,000 commands"
	@echo "make docs    build the documentation site into site/"
	@echo "make dist    build wheel, sdist, bundles, SBOM and checksums into dist/, twice, and compare"
	@echo "make format  let the formatter rewrite the code"

demo:
	@.ci/setup runtime
	@$(PY) poc/run_gates.py

test:
	@.ci/setup dev
	@$(PY) -m pytest $(ARGS)

check:
	@.ci/setup dev
	@.venv/bin/ruff format --check .
	@.venv/bin/ruff check .
	@.venv/bin/mypy
	@.venv/bin/lint-imports

format:
	@.ci/setup dev
	@.venv/bin/ruff format .
	@.venv/bin/ruff check --fix .

bench:
	@.ci/setup bench
	@$(PY) tests/bench/run.py

fuzz:
	@.ci/setup dev
	@EXECKIT_FUZZ=100000 EXECKIT_SOAK=20000 EXECKIT_HTTP_FUZZ=10000 EXECKIT_HTTP_LOAD=200x50 $(PY) -m pytest \
		--timeout 1800 tests/http/test_load.py tests/attacks/test_http_hostility.py tests/oracle tests/properties tests/policy/knowledge \
		tests/interaction/test_soak.py $(ARGS)

docs:
	@.ci/setup dev
	@$(PY) .packaging/site.py site

dist:
	@.ci/setup dev
	@$(PY) .packaging/build.py dist --check

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
