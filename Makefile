# Two commands do all the set-up on a fresh machine: `make demo` and `make test`.
PY := .venv/bin/python

.PHONY: help demo test check format bench fuzz clean

help:
	@echo "make demo    set up, then show every promise live through a real MCP client"
	@echo "make test    set up, then run all tests"
	@echo "make check   format, lint, types, import contracts"
	@echo "make bench   measure: side by side, in one run"
	@echo "make fuzz    the long runs: 100,000 texts against a real bash, properties, every mark of the tables"
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
	@.ci/setup dev
	@$(PY) tests/bench/run.py

fuzz:
	@.ci/setup dev
	@EXECKIT_FUZZ=100000 $(PY) -m pytest tests/oracle tests/properties tests/policy/knowledge $(ARGS)

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
