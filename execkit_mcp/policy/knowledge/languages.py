"""Interpreters, compilers, test runners and build tools: they run code that nobody has judged.

Sources: their manuals and ``--help``: CPython 3.11, Node 20, Perl 5.36, Ruby 3.1, PHP 8.2, GNU Make 4.3,
npm 10, pip 24, cargo 1.75, Go 1.21, pytest 8, ruff 0.4, mypy 1.9.
"""

import re
from functools import partial

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.knowledge.invocation import Arg, FlagUse, static
from execkit_mcp.policy.knowledge.opaque import opaque, read_marked
from execkit_mcp.policy.knowledge.reading import Reading
from execkit_mcp.policy.knowledge.spec import Grammar, Program

_ANY = "-*;dxN"
_BUILDS = "their manuals: a build file is code"
_LINTS = "--check --diff -q,--quiet -v,--verbose -l --list-different --strict --junit-xml="
_tool = partial(Program, source="its manual", has_local_flags=False)


def _after_ruff_check(reading: Reading) -> None:
    """Its settings in the workspace may say ``fix = true``, and it keeps a cache there."""
    if reading.has("-n") and reading.has("--no-fix", "--diff"):
        return
    reading.mark("d", None)
    for path in reading.operands:
        reading.mark("d", path)


_PYTHON_VALUED = frozenset({"-W", "-X", "--check-hash-based-pycs"})
_PYTHON_TEXT = lazy_regex(r"-[a-zA-Z]*?([cm])(.*)", re.DOTALL)


def _note_json_tool(reading: Reading, words: list[Arg]) -> None:
    """``python -m json.tool [IN [OUT]]``: paths that the refused ones are compared with."""
    paths = [arg for arg in words if not arg.prefix.startswith("-") or arg.text == "-"]
    for mark, path in zip("ro", paths, strict=False):
        reading.mark(mark, path)


def _note_python(reading: Reading) -> None:
    """Python's own options end at ``-c TEXT``, at ``-m MODULE`` and at the script: what follows is for that."""
    rest = list(reading.args)
    while rest:
        arg = rest.pop(0)
        if not arg.is_static and arg.could_be_option:
            reading.dynamic(arg, "could turn out to be an option")
        if not arg.prefix.startswith("-") or arg.text == "-":
            reading.operands.append(arg)
            break
        text = _PYTHON_TEXT.fullmatch(arg.text) if arg.is_static and arg.text[:2] != "--" else None
        if text is not None and not arg.text.startswith(("-W", "-X")):
            value = static(text[2]) if text[2] else rest.pop(0) if rest else None
            # `-Ic` is both: the letters before it count as well.
            names = (f"-{text[1]}",) if arg.text[1] == text[1] else (arg.text[: text.start(2)], f"-{text[1]}")
            reading.flags.append(FlagUse(names=names, value=value, is_known=False))
            if text[1] == "m" and value is not None and value.text == "json.tool":
                _note_json_tool(reading, rest)
            break
        takes_value = arg.text in _PYTHON_VALUED and rest
        name = arg.prefix.partition("=")[0]
        reading.flags.append(FlagUse(names=(name,), value=rest.pop(0) if takes_value else None, is_known=False))
    reading.operands.extend(rest)


_GRADLE = (
    "-x,--exclude-task= --tests= --configuration= --dependency= --task= --console= --max-workers= "
    "--warning-mode= -p,--project-dir=:R "
    "-I,--init-script=:rx -b,--build-file=:rx -c,--settings-file=:rx -g,--gradle-user-home=:d "
    "--include-build=:Rx"
)

PROGRAMS = (
    Program(
        names="python python2 python3 python3.8 python3.9 python3.10 python3.11 python3.12 python3.13 pypy pypy3",
        source="CPython 3.11 manual",
        read=read_marked("x", _note_python),
        alone="--version -V -VV --help -h",
    ),
    opaque("ipython jupyter", "their manuals", alone="--version -V --help -h"),
    opaque("node nodejs deno bun", "Node 20 manual", alone="--version -v --help -h"),
    opaque(
        "perl ruby php lua luajit Rscript R julia tclsh wish guile racket sbcl ocaml ghci runghc scala "
        "groovy elixir iex erl swift "
        "osascript java javaws jshell kotlin dotnet mono irb",
        "their manuals",
        alone="--version -v -version --help -h",
    ),
    opaque(
        "yarn poetry pdm pipenv hatch rye",
        "their manuals: project files are code",
        "dxN",
        alone="--version -v -V --help -h",
    ),
    opaque("make gmake bundle gem", _BUILDS, "dx", alone="--version -v --help -h"),
    # `-v` of some of these is verbose, and they build.
    opaque(
        "cmake ninja meson ant rake pre-commit scons just task stack cabal ctest cpack autoconf automake libtool",
        _BUILDS,
        "dx",
        alone="--version --help -h",
    ),
    # These read the project, its options for the virtual machine or a program of its own before they say their version.
    opaque(
        "bazel buck sbt tox nox invoke fab composer cpan cpanm mix rebar3 lein configure xmake waf premake",
        _BUILDS,
        "dx",
        alone="",
    ),
    opaque(
        "gcc g++ cc c++ clang clang++ ld as tcc rustc gfortran nvcc javac kotlinc ghc tsc webpack vite "
        "rollup esbuild next nuxt",
        "their manuals: plug-ins, -wrapper, specs",
        "dx",
        alone="--version -v -version --help",
    ),
    opaque(
        "nosetests unittest jest mocha vitest karma cypress playwright phpunit rspec",
        "their manuals: tests are code",
        "dx",
        alone="--version -V --help -h",
    ),
    opaque("pytest py.test", "pytest 8 manual: plug-ins that the project names come first", "dx", alone=""),
    opaque(
        "ansible ansible-playbook ansible-galaxy puppet chef salt vault consul nomad packer",
        "their manuals",
        "dxUs",
        alone="--version --help",
    ),
    _tool(
        names="ruff",
        drops_equals=True,
        subcommands={
            "check": Grammar(
                flags="--fix:d --no-fix --unsafe-fixes --show-fixes --diff -w,--watch --output-format= --select= "
                "--ignore= --extend-select= "
                "--extend-ignore= -q,--quiet -v,--verbose -s,--silent --config=:r "
                "-n,--no-cache --statistics --exit-zero "
                "--target-version= --line-length= --preview --no-preview --isolated "
                "-o,--output-file=:w --cache-dir=:d",
                operands="R*",
                empty="R",
                after=_after_ruff_check,
            ),
            "format": Grammar(
                flags="--check --diff -q,--quiet -v,--verbose --config=:r -n,--no-cache --line-length= "
                "--target-version= --preview",
                operands="Rd*",
                empty="Rd",
            ),
            "rule|linter|version": Grammar(flags="--all --output-format=", operands="-*"),
        },
    ),
    _tool(
        names="black isort autopep8 yapf prettier gofmt rustfmt clang-format shfmt eslint "
        "mypy pyright bandit shellcheck hadolint yamllint",
        flags=_LINTS,
        operands="Rd*;x",
        alone="--version -V --help -h",
    ),
    # Plug-ins and hooks that the project names come before the version.
    _tool(names="flake8 pylint", flags=_LINTS, operands="Rd*;x", alone=""),
    _tool(
        names="pnpm",
        flags="-r,--recursive -F,--filter= -C,--dir=:R --reporter= --depth=",
        operands=_ANY,
        alone="--version -v -V --help -h",
    ),
    _tool(
        names="mvn mvnw",
        is_long_only=True,
        flags="-B -ntp -q -o -U -am -amd -V -fae -ff -fn -N -nsu --batch-mode --no-transfer-progress --quiet --offline "
        "-pl,--projects= -P,--activate-profiles= -T,--threads= -rf,--resume-from= -f,--file=:R -s,--settings=:r "
        "-gs,--global-settings=:r -t,--toolchains=:r",
        operands=_ANY,
        alone="",
    ),
    _tool(
        names="gradle",
        is_long_only=True,
        flags=_GRADLE,
        operands=_ANY,
        alone="--version -v --help -h",
    ),
    _tool(names="gradlew", is_long_only=True, flags=_GRADLE, operands=_ANY, alone=""),
    opaque(
        "golangci-lint staticcheck revive gosec govulncheck goimports gofumpt ktlint detekt checkstyle scalafmt "
        "swiftlint swiftformat clang-tidy cppcheck cpplint astyle stylelint biome oxlint markdownlint "
        "markdownlint-cli2 standard xo rubocop standardrb reek brakeman phpcs phpstan psalm php-cs-fixer "
        "pydocstyle pycodestyle vulture codespell typos vale sqlfluff taplo cspell commitlint gitlint tflint tfsec "
        "kubeconform kubeval kube-linter buf zizmor basedpyright ty djlint pyupgrade autoflake interrogate deptry "
        "nixfmt statix stylua luacheck selene ormolu hlint fourmolu proselint alex editorconfig-checker "
        "sphinx-build mkdocs protoc mdbook dprint actionlint",
        "their manuals: settings and plug-ins of the workspace are code",
        "dxN",
        alone="--version -V --help -h version",
    ),
    _tool(
        names="npm",
        flags="-g,--global --depth= --json -l,--long --all -s,--silent -q --parseable --prefix=:R "
        "--no-color --loglevel= -D,--save-dev -P,--prod "
        "--production --omit= --include= -w,--workspace= --workspaces -f,--force -y,--yes "
        "--dry-run --if-present",
        alone="--version -v --help -h",
        subcommands={
            "ls|list|ll|la": "-*;R",
            "view|info|show|search|outdated|audit|ping|whoami|why|explain|fund|doctor|docs|repo|"
            "bugs|owner|dist-tag|team|profile|token|access": "-*;RN",
            "root|bin|prefix|help|help-search": "-*",
            "config get|list|ls": "-*;R",
            "config": "?*;d",
            "install|i|ci|add|remove|rm|uninstall|un|update|upgrade|up|run|run-script|test|t|start|"
            "stop|restart|exec|x|dlx|create|init|build|publish|"
            "unpublish|link|unlink|pack|rebuild|dedupe|prune|cache|version|login|logout|deprecate|"
            "set|dev|lint|import|fetch|patch|store": _ANY,
        },
    ),
    _tool(
        names="pip pip3",
        flags="-v,--verbose -q,--quiet --isolated --no-color --no-input --disable-pip-version-check "
        "--proxy=:n --timeout= --retries= --cert=:r "
        "--format= -o,--outdated -l,--local --user -e,--editable --not-required --pre --exclude= "
        "--path=:R --cache-dir=:d --log=:d --python=:x",
        alone="--version -V --help -h",
        subcommands={
            "list": "-*;RN",
            "freeze": "-*;R",
            "show": Grammar(flags="-f,--files", operands="-*;R"),
            "check|inspect|debug": "-*;R",
            "help": "-*",
            "index|search": "-*;N",
            "config list|get|debug": "-*;R",
            "cache list|dir|info": "-*;R",
            "install|uninstall|download|wheel|config|cache|hash|lock": _ANY,
        },
    ),
    _tool(
        names="cargo",
        drops_equals=True,
        flags="-v,--verbose -q,--quiet --color= --frozen --locked --offline --format-version= --no-deps "
        "--manifest-path=:Rx --all-features "
        "--no-default-features -F,--features= -p,--package= -i,--invert= -d,--duplicates "
        "-e,--edges= --depth= --prefix= --list --target-dir=:d --target= --profile= --test= --bin= --example= "
        "--output-path=",
        alone="--version -V --help -h --list",
        subcommands={
            "metadata|tree|pkgid|locate-project|read-manifest|verify-project": "-*;RxN",
            "search|info": "-*;xN",
            "version|help": "-*",
            "build|b|check|c|test|t|run|r|bench|clippy|doc|d|fix|fmt|clean|install|uninstall|"
            "update|publish|add|remove|init|new|vendor|package|"
            "login|logout|owner|yank|fetch|rustc|rustdoc|generate-lockfile|miri|nextest|audit|deny|llvm-cov|hack|udeps|"
            "machete|semver-checks|tarpaulin|insta|outdated": _ANY,
        },
    ),
    _tool(
        names="rustup",
        flags="-v,--verbose -q,--quiet",
        alone="--version -V --help -h",
        subcommands={
            "show": "-*;R",
            "toolchain list": "-*;R",
            "target|component list": Grammar(flags="--installed --toolchain= -q,--quiet -v,--verbose", operands="-*;R"),
            "which": "-*",
        },
    ),
    _tool(
        names="go",
        is_long_only=True,
        flags="-json -m -f= -u -v -x -n -a",
        alone="help --help -h",
        subcommands={
            "version": "r*;xN",
            "help": "-*",
            "env": Grammar(flags="-json -w:s -u:s -changed", operands="-*;RxN"),
            "doc": Grammar(flags="-all -c -cmd -short -src -u", operands="-*;RxN"),
            "list": Grammar(
                flags="-json -m -f= -u -versions -deps -test -e -find -compiled -export:dx -retracted",
                operands="-*;RxN",
            ),
            "build|test": Grammar(
                flags="-o,--o=:w -coverprofile,--coverprofile=:w -outputdir,--outputdir=:d -ldflags= -tags= "
                "-run= -mod= -timeout= -count= -coverpkg= -gcflags= -p= -covermode= -bench= -cpu= -parallel=",
                operands=_ANY,
            ),
            "tool": Grammar(flags="-o=:w -html= -func= -mode=", operands=_ANY),
            "run|vet|fmt|fix|install|get|generate|clean|mod|work|bug": _ANY,
        },
    ),
)
"""``uv``, ``npx`` and their kin are wrappers; see ``wrappers.py``."""
