"""The grep family and what compares or cuts text outside coreutils.

Sources: grep 3.8, ripgrep 13, the silver searcher 2.2, ack 3.6, diffutils 3.8, jq 1.6, util-linux 2.38,
binutils 2.40, vim 9 (xxd), file 5.44 manuals.
"""

import re
from functools import partial

from execkit_mcp.model import EffectKind
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.knowledge.invocation import Arg, static
from execkit_mcp.policy.knowledge.reading import HERE, Reading
from execkit_mcp.policy.knowledge.spec import Program


def _after_grep(reading: Reading) -> None:
    """A recursive grep without a path reads the current folder."""
    if reading.name in _COUNTS_OR_NOT:
        # A count is no count to them if it is no number: then it is the pattern, and what follows are paths.
        for value in reading.flag_values("-A", "-B", "-C", "-m"):
            if not (value.is_static and value.text.isdecimal()):
                reading.effect(EffectKind.UNKNOWN, value, "no count, so that it is the pattern")
    paths = reading.operands if reading.modes & {"pattern", "list"} else reading.operands[1:]
    if not paths and (reading.is_deep or reading.name in {"rg", "ag", "ack"}):
        reading.mark("R", HERE)


_COUNTS_OR_NOT = frozenset(("ag", "ack", "ack-grep"))
_GREP = (
    "-E,--extended-regexp -F,--fixed-strings -G,--basic-regexp -P,--perl-regexp "
    "-e,--regexp=>pattern -f,--file=:r>pattern "
    "-i,--ignore-case -y --no-ignore-case -w,--word-regexp -x,--line-regexp -z,--null-data "
    "-s,--no-messages "
    "-v,--invert-match -V -m,--max-count= -b,--byte-offset -n,--line-number --line-buffered "
    "-H,--with-filename "
    "-h,--no-filename --label= -o,--only-matching -q,--quiet,--silent --binary-files= -a,--text -I "
    "-d,--directories=+ "
    "-D,--devices= -r,--recursive+ -R,--dereference-recursive+ --include= --exclude= "
    "--exclude-from=:r --exclude-dir= "
    "-L,--files-without-match -l,--files-with-matches -c,--count -T,--initial-tab -Z,--null "
    "-B,--before-context= "
    "-A,--after-context= -C,--context= -u,--unix-byte-offsets -U,--binary --color,--colour=? "
    "--group-separator= --no-group-separator"
)
_grep = partial(Program, flags=_GREP, operands="- r*", modes={"pattern": "r*"}, is_numeric=True, after=_after_grep)
_diff = partial(Program, source="diffutils 3.8 manual", operands="r*", is_abbreviating=True)


_JQ_VALUED = frozenset(("-L", "--indent"))


def _before_jq(reading: Reading) -> None:
    """Take out jq's flags that take two words (``--arg name value``) or all that follow (``--args``)."""
    kept: list[Arg] = []
    index = 0
    args = reading.args
    while index < len(args):
        arg = args[index]
        text = arg.text if arg.is_static else ""
        if text in _JQ_VALUED and index + 1 < len(args):
            # The word is its value, whatever it looks like: `--indent --arg . FILE` reads the file.
            if args[index + 1].prefix.startswith("-"):
                reading.unknown_flag(f"{text} {args[index + 1].text}")
            kept.extend(args[index : index + 2])
            index += 2
            continue
        if text in {"--arg", "--argjson", "--slurpfile", "--rawfile", "--argfile"}:
            for word in args[index + 1 : index + 3]:
                if not word.is_single:
                    reading.dynamic(word, "could become several words")
            if text in {"--slurpfile", "--rawfile", "--argfile"} and index + 2 < len(args):
                reading.mark("f", args[index + 2])
            index += 3
            continue
        if text in {"--args", "--jsonargs"}:
            index += 1
            continue
        kept.append(arg)
        index += 1
    reading.args = tuple(kept)


# A module is found below the folder that stands behind its name, so its path is part of the program. Directives come
# first in a program or behind one another: never behind a dot, a dollar or within a word.
_JQ_MODULE = lazy_regex(r"(?<![.$\w\"])(?:import|include)(?:\s|#[^\n]*(?:\n|$))*\"")
_YQ_PLAIN = lazy_regex(r"[\w\s.\[\]|\"'*,:()=!<>+-]*")
# Functions, not fields that have such a name (`.env`).
_YQ_ACTS = lazy_regex(r"(?<![.\w])(?:load|split_?doc|system|eval|env|strenv|import|include|file)", re.IGNORECASE)


def _after_jq(reading: Reading) -> None:
    """A program that takes in modules reads files of its choice."""
    if "file" in reading.modes:
        reading.effect(EffectKind.UNKNOWN, None, "a program in a file may take in others")
    for program in reading.operands[:1] if "file" not in reading.modes else ():
        head = program.prefix.strip()
        begins = not head or any(word.startswith(head) or head.startswith(word) for word in ("import", "include"))
        if not program.is_static and begins:
            reading.dynamic(program, "is a program that nobody has judged")
        elif _JQ_MODULE.search(program.text) or "modulemeta" in program.text:
            reading.effect(EffectKind.UNKNOWN, program, "takes in a module, which is a file")


def _after_yq(reading: Reading) -> None:
    """``yq [eval] EXPRESSION FILE…``; an expression that may load, run or split is not told apart further."""
    words = reading.operands
    if words and words[0].is_static and words[0].text in {"e", "eval", "ea", "eval-all"}:
        words = words[1:]
    for program in words[:1]:
        if not (program.is_static and _YQ_PLAIN.fullmatch(program.text)) or _YQ_ACTS.search(program.text):
            reading.effect(EffectKind.UNKNOWN, program, "an expression that this reader does not know")
        elif len(words) == 1:
            reading.mark("rw" if "edit" in reading.modes else "r", program)
    for path in words[1:]:
        reading.mark("r", path)


_TREE_VALUED = frozenset("LPIHTo")


def _before_tree(reading: Reading) -> None:
    """Letters in a cluster take the words behind it in their order (``tree -Lo 1 FILE`` writes the file)."""
    rest = list(reading.args)
    found: list[Arg] = []
    while rest:
        arg = rest.pop(0)
        if not (arg.is_static and arg.text.startswith("-") and arg.text[:2] != "--" and len(arg.text) > len("-x")):
            found.append(arg)
            if arg.is_static and arg.text[:1] == "-" and arg.text[1:] in _TREE_VALUED and rest:
                found.append(rest.pop(0))
            continue
        level = _TREE_LEVEL.search(arg.text)
        for letter in _TREE_LEVEL.sub("", arg.text[1:]):
            found.append(static(f"-{letter}"))
            if letter in _TREE_VALUED and rest:
                found.append(rest.pop(0))
        if level is not None:
            found.extend((static("-L"), static(level.group()[1:])))
    reading.args = tuple(found)


_TREE_LEVEL = lazy_regex(r"L[0-9]+")


def _after_binutils(reading: Reading) -> None:
    """``@file`` is replaced by the words in the file; ``objdump -S`` prints files that the object names."""
    for word in reading.operands:
        if word.prefix.startswith("@"):
            reading.mark("@", word)
            reading.effect(EffectKind.UNKNOWN, word, "options from a file")
    if reading.name == "objdump" and reading.has("-S"):
        reading.effect(EffectKind.UNKNOWN, None, "prints the source files that the object names, wherever they are")


def _after_iconv(reading: Reading) -> None:
    """A character set with a slash in its name (not one of the ``//IGNORE`` kind) is a file."""
    for name in reading.flag_values("-f", "-t"):
        if not name.is_static or "/" in name.text.rstrip("/").partition("//")[0]:
            reading.mark("r", name)


PROGRAMS = (
    _grep(names="grep egrep fgrep", source="grep 3.8 manual", is_abbreviating=True, unseen="r"),
    _grep(names="zgrep zegrep zfgrep bzgrep xzgrep zstdgrep", source="gzip 1.12 manual"),
    Program(
        names="rg",
        drops_equals=True,
        source="ripgrep 13 manual",
        flags="-A,--after-context= -B,--before-context= -C,--context= --binary --no-binary "
        "--block-buffered "
        "-b,--byte-offset -s,--case-sensitive --color= --colors= --column --no-column "
        "--context-separator= -c,--count "
        "--count-matches --crlf --debug --dfa-size-limit= -E,--encoding= -e,--regexp=>pattern "
        "-f,--file=:r>pattern "
        "--files>list -l,--files-with-matches --files-without-match -F,--fixed-strings -L,--follow "
        "-g,--glob= "
        "--glob-case-insensitive --heading --no-heading -.,--hidden --no-hidden --iglob= -i,--ignore-case "
        "--ignore-file=:r --include-zero -v,--invert-match --json --line-buffered -n,--line-number "
        "-N,--no-line-number "
        "-x,--line-regexp -M,--max-columns= --max-columns-preview -m,--max-count= "
        "-d,--max-depth,--maxdepth= "
        "--max-filesize= --mmap -U,--multiline --multiline-dotall --no-config --no-filename -I "
        "-H,--with-filename "
        "--no-ignore --no-ignore-dot --no-ignore-exclude --no-ignore-files --no-ignore-global "
        "--no-ignore-messages "
        "--no-ignore-parent --no-ignore-vcs --no-messages --no-mmap --no-pcre2-unicode "
        "--no-require-git --no-unicode "
        "-0,--null --null-data --one-file-system -o,--only-matching --passthru --path-separator= "
        "-P,--pcre2 "
        "--pcre2-version --pre=:x --pre-glob= -p,--pretty -q,--quiet --regex-size-limit= -r,--replace= "
        "-z,--search-zip:x --no-search-zip -S,--smart-case --sort= --sortr= --stats -a,--text "
        "-j,--threads= --trim "
        "-t,--type= --type-add= --type-clear= --type-list>list -T,--type-not= -u,--unrestricted --vimgrep "
        "-w,--word-regexp --hostname-bin=:x --hyperlink-format= --engine= --auto-hybrid-regex "
        "--no-auto-hybrid-regex -V -h",
        operands="- R*",
        modes={"list": "R*", "pattern": "R*"},
        after=_after_grep,
        alone="--help --version -V -h --type-list --pcre2-version",
        empty="",
    ),
    Program(
        names="ag ack ack-grep",
        source="ag 2.2, ack 3.6 manuals",
        flags="-A,--after= -B,--before= -C,--context= -c,--count -i,--ignore-case -l,--files-with-matches "
        "-L,--files-without-matches -n -r,-R,--recurse -v,--invert-match -w,--word-regexp "
        "-Q,--literal -s,--case-sensitive "
        "-S,--smart-case -o --only-matching --hidden --ignore= --ignore-dir= --depth= -G= --color "
        "--nocolor --group "
        "--nogroup --heading --noheading --nobreak --break --column --pager=:x -m,--max-count= "
        "-u,--unrestricted "
        "-H,--with-filename --no-filename -h "
        "--python --js --ts --go --rust --java --cpp --cc --html --css --json --yaml --xml --sql --shell "
        "--ruby --php --perl",
        operands="- R*",
        after=_after_grep,
    ),
    # ── comparing ─────────────────────────────────────────────────────────────────────────────────────────
    # Two folders are compared file by file, one level deep even without `-r`.
    _diff(
        names="diff",
        operands="R*",
        flags="--normal -q,--brief -s,--report-identical-files -c -C,--context=? -u -U= --unified=? "
        "-e,--ed -n,--rcs "
        "-y,--side-by-side -W,--width= --left-column --suppress-common-lines -p,--show-c-function "
        "-F,--show-function-line= --label= -L= -t,--expand-tabs -T,--initial-tab --tabsize= "
        "--suppress-blank-empty "
        "-l,--paginate:x -r,--recursive+ --no-dereference -N,--new-file --unidirectional-new-file "
        "--ignore-file-name-case --no-ignore-file-name-case -x,--exclude= -X,--exclude-from=:r "
        "-S,--starting-file= "
        "--from-file=:R --to-file=:R -i,--ignore-case -E,--ignore-tab-expansion -Z,--ignore-trailing-space "
        "-b,--ignore-space-change -w,--ignore-all-space -B,--ignore-blank-lines "
        "-I,--ignore-matching-lines= -a,--text "
        "--strip-trailing-cr -D,--ifdef= --GTYPE-group-format= --line-format= --LTYPE-line-format= "
        "--old-line-format= "
        "--new-line-format= --unchanged-line-format= --old-group-format= --new-group-format= "
        "--unchanged-group-format= "
        "--changed-group-format= -d,--minimal --horizon-lines= --speed-large-files --color=? "
        "--palette= -P -H -v "
        "--sdiff-merge-assist --presume-output-tty --binary",
        is_numeric=True,
    ),
    _diff(
        names="cmp",
        flags="-b,--print-bytes -i,--ignore-initial= -l,--verbose -n,--bytes= -s,--quiet,--silent -v",
        operands="r r - -",
        is_numeric=False,
    ),
    _diff(
        names="diff3",
        flags="-A,--show-all -e,--ed -E,--show-overlap -3,--easy-only -x,--overlap-only -X -i -m,--merge "
        "-a,--text "
        "--strip-trailing-cr -T,--initial-tab --diff-program=:x -L,--label= -v",
    ),
    _diff(
        names="sdiff",
        flags="-o,--output=:w -i,--ignore-case -E,--ignore-tab-expansion -Z,--ignore-trailing-space "
        "-b,--ignore-space-change -W,--ignore-all-space -B,--ignore-blank-lines "
        "-I,--ignore-matching-lines= "
        "--strip-trailing-cr -a,--text -w,--width= -l,--left-column -s,--suppress-common-lines "
        "-t,--expand-tabs "
        "--tabsize= -d,--minimal -H,--speed-large-files --diff-program=:x -v",
    ),
    Program(
        names="patch",
        source="patch 2.7 manual",
        flags="-p,--strip= -F,--fuzz= -l,--ignore-whitespace -c,--context -e,--ed:x -n,--normal "
        "-u,--unified "
        "-N,--forward -R,--reverse -i,--input=:r -o,--output=:w -r,--reject-file=:w "
        "-E,--remove-empty-files -s,--quiet "
        "-f,--force -t,--batch --dry-run -b,--backup -d,--directory=:d --verbose",
        operands="w r;dx",
    ),
    # ── looking into files ────────────────────────────────────────────────────────────────────────────────
    Program(
        names="column",
        source="util-linux 2.38 manual",
        flags="-t,--table -n,--table-name= -O,--table-order= -C,--table-column= -N,--table-columns= "
        "-l,--table-columns-limit= -E,--table-noextreme= -d,--table-noheadings -m,--table-maxout "
        "-e,--table-header-repeat -H,--table-hide= -R,--table-right= -T,--table-truncate= -W,--table-wrap= "
        "-L,--keep-empty-lines -J,--json -r,--tree= -i,--tree-id= -p,--tree-parent= -c,--output-width= "
        "-o,--output-separator= -s,--separator= -x,--fillrows -V -h",
        operands="r*",
    ),
    Program(names="rev", source="util-linux 2.38 manual", flags="-0,--zero -V -h", operands="r*", unseen="r"),
    Program(
        names="look",
        source="util-linux 2.38 manual",
        flags="-a,--alternative -d,--alphanum -f,--ignore-case -t,--terminate= -V -h",
        operands="- r",
    ),
    Program(
        names="hexdump hd",
        source="util-linux 2.38 manual",
        flags="-b,--one-byte-octal -c,--one-byte-char -C,--canonical -d,--two-bytes-decimal "
        "-o,--two-bytes-octal "
        "-x,--two-bytes-hex -L,--color=? -e,--format= -f,--format-file=:r -n,--length= -s,--skip= "
        "-v,--no-squeezing -V -h",
        operands="r*",
        unseen="r",
    ),
    Program(
        names="xxd",
        source="vim 9 xxd manual",
        flags="-a,-autoskip -b,-bits -C,-capitalize -c,-cols= -E,-EBCDIC -e -g,-groupsize= -h,-help "
        "-i,-include -l,-len= "
        "-n,-name= -o= -p,-ps,-postscript,-plain -r,-revert -R= -s,-seek= -u -v,-version -d",
        operands="r o",
        is_long_only=True,
        is_permuting=False,  # behind a file, a flag is the file to write
    ),
    Program(
        names="strings",
        source="binutils 2.40 manual",
        flags="-a,--all -d,--data -f,--print-file-name -n,--bytes= -t,--radix= -o -T,--target= "
        "-e,--encoding= "
        "-s,--output-separator= -U,--unicode= -w,--include-all-whitespace -v -V -h",
        operands="r*",
        is_numeric=True,
        unseen="r",
        after=_after_binutils,
    ),
    Program(
        names="nm objdump readelf size",
        source="binutils 2.40 manual",
        flags="-a -d -D -h -t -T -S -s -l -C -g -n -r -u -x -p -f -e -W --demangle=? --all --syms "
        "--dynamic --headers "
        "--file-headers --section-headers --wide --disassemble",
        operands="r*",
        after=_after_binutils,
    ),
    Program(names="ldd", source="glibc 2.36 manual: may run the file it looks at", flags="-vudr", operands="rx*"),
    Program(
        names="file",
        source="file 5.44 manual",
        flags="-b,--brief -C,--compile:d -c,--checking-printout -d,--debug -E -e,--exclude= "
        "--exclude-quiet= "
        "--extension -F,--separator= -f,--files-from=:r? -h,--no-dereference -i,--mime --apple "
        "--mime-encoding "
        "--mime-type -k,--keep-going -L,--dereference -l,--list -m,--magic-file=:r -N,--no-pad "
        "-n,--no-buffer "
        "-p,--preserve-date -P,--parameter= -r,--raw -S,--no-sandbox -s,--special-files -v -0,--print0 "
        "-Z,--uncompress-noreport:x -z,--uncompress:x",
        operands="r*",
    ),
    Program(
        names="iconv",
        source="glibc 2.36 manual",
        flags="-f,--from-code= -t,--to-code= -l,--list -c -o,--output=:w -s,--silent --verbose",
        operands="r*",
        after=_after_iconv,
    ),
    Program(
        names="tree",
        source="tree 2.1 manual",
        flags="-adfilxqNQpsuhgDFvtcUrJXACSn -R:d -L= -P= -I= --gitignore --gitfile=:r --ignore-case "
        "--matchdirs --metafirst "
        "--prune --info --infofile=:r --noreport --charset= --filelimit= --timefmt= -o=:w --inodes "
        "--device --sort=? --dirsfirst "
        "--filesfirst --si --du -H= -T= --nolinks --hintro=:r --houtro=:r --fromfile>list "
        "--fromtabfile>list --noreport -0",
        operands="R*",
        modes={"list": "R*;?"},
        empty="R",
        before=_before_tree,
    ),
    Program(
        names="jq",
        source="jq 1.6 manual",
        flags="-s,--slurp -r,--raw-output -R,--raw-input -j,--join-output -a,--ascii-output "
        "-c,--compact-output "
        "-C,--color-output -M,--monochrome-output -S,--sort-keys -e,--exit-status -n,--null-input "
        "--tab --indent= "
        "--unbuffered --stream --stream-errors --seq -h -V --raw-output0 -L=:R "
        "-f,--from-file>file",
        operands="- r*",
        modes={"file": "r*"},
        before=_before_jq,
        after=_after_jq,
    ),
    Program(
        names="yq",
        drops_equals=True,
        source="yq 4 manual",
        flags="-i,--inplace>edit -r,--unwrapScalar -o,--output-format= -p,--input-format= "
        "-P,--prettyPrint -C,--colors "
        "-M,--no-colors -N,--no-doc -e,--exit-status -n,--null-input -I,--indent= -j,--tojson "
        "-v,--verbose -V -h",
        operands="-*",
        modes={"edit": "- w*"},
        after=_after_yq,
    ),
)
