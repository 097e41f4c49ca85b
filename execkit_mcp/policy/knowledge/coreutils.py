"""GNU coreutils. Source: coreutils 9.1 manual and ``--help``; every long flag is in the tables.

Above the size cap because it is one table of one package; a test compares it with the ``--help`` of
installed programs.
"""

from functools import partial

from execkit_mcp.model import EffectKind
from execkit_mcp.policy.knowledge.invocation import GLOB, static
from execkit_mcp.policy.knowledge.reading import Reading, rest_of
from execkit_mcp.policy.knowledge.spec import Program, words_of

_gnu = partial(Program, source="coreutils 9.1 manual", is_abbreviating=True)

_DD_KEYS = words_of("bs cbs conv count ibs iflag obs oflag seek skip status iseek oseek")
_DIGEST = "-b,--binary -c,--check>check -t,--text -w,--warn --tag -z,--zero --ignore-missing --quiet --status --strict"


def _after_date(reading: Reading) -> None:
    """An operand that is not ``+FORMAT`` sets the clock."""
    for arg in reading.operands:
        if not arg.prefix.startswith("+"):
            reading.effect(EffectKind.STATE, arg, "sets the clock")


def _read_dd(reading: Reading) -> None:
    """``key=value`` operands; ``if=`` is read, ``of=`` is written."""
    for arg in reading.args:
        key, separator, _ = arg.prefix.partition("=")
        if not separator:
            if not arg.is_static:
                reading.dynamic(arg, "could turn out to be of=")
            elif arg.text != "--":
                reading.unknown_flag(arg.text)
            continue
        reading.operands.append(arg)
        if not arg.is_single:
            reading.dynamic(arg, "could become several words")
        path = rest_of(arg, len(key) + 1)
        if key == "if":
            reading.effect(EffectKind.READ, path)
        elif key == "of":
            reading.effect(EffectKind.WRITE, path)
        elif key not in _DD_KEYS:
            reading.unknown_flag(key)


def _after_link(reading: Reading) -> None:
    """``ln target`` alone links into the current folder; a hard link is another name to write its target by."""
    reading.bare_suffix()
    if not reading.has("-s"):
        for target in reading.operands if "target" in reading.modes else reading.operands[:-1]:
            reading.mark("w", target)
    if len(reading.operands) == 1 and not reading.has("-t"):
        reading.mark("f", reading.operands[0])
        reading.mark("d", None)


def _after_copy(reading: Reading) -> None:
    """With ``-l`` the new names are hard links; with ``--parents`` a ``..`` of a source leads out of the target."""
    reading.bare_suffix()
    sources = reading.operands if "target" in reading.modes else reading.operands[:-1]
    if reading.has("-l"):
        for source in sources:
            reading.mark("d" if reading.is_deep else "w", source)
    if reading.has("--parents", "--path"):
        for source in sources:
            parts = source.text.split("/")
            # A pattern that begins with a dot finds `..` as well.
            is_inside = source.is_static or (
                source.kind is GLOB and not any(part[:1] == "." and part != "." for part in parts)
            )
            if not is_inside or ".." in parts:
                reading.dynamic(source, "may lead out of the folder that it is copied to")


def _after_move(reading: Reading) -> None:
    """Backups stand beside the files, if their suffix says no other."""
    reading.bare_suffix()


def _after_split(reading: Reading) -> None:
    """The files stand under the prefix, in the current folder if it names none."""
    for prefix in reading.operands[1:]:
        folder = prefix.text.rpartition("/")[0]
        reading.mark("d", static(folder) if folder and prefix.is_static else prefix)


def _after_mode(reading: Reading) -> None:
    """A lone operand is an error to the program; it counts as the path that was meant."""
    if len(reading.operands) == 1 and "reference" not in reading.modes:
        reading.mark("w", reading.operands[0])


def _after_mktemp(reading: Reading) -> None:
    """Without a template the file stands in the folder for temporary files, which only the session knows."""
    if reading.has("-u"):
        return
    folders = reading.flag_values("-p")
    if reading.operands and not reading.has("-p", "-t"):
        for template in reading.operands:
            reading.mark("w", template)
    elif not folders:
        reading.effect(EffectKind.WRITE, None, "a new file in the folder for temporary files")


PROGRAMS = (
    # ── contents of files ─────────────────────────────────────────────────────────────────────────────────
    _gnu(
        names="cat",
        flags="-A,--show-all -b,--number-nonblank -e -E,--show-ends -n,--number -s,--squeeze-blank -t "
        "-T,--show-tabs "
        "-u -v,--show-nonprinting",
        operands="r*",
        unseen="r",
    ),
    _gnu(names="tac", flags="-b,--before -r,--regex -s,--separator=", operands="r*", unseen="r"),
    _gnu(
        names="nl",
        flags="-b,--body-numbering= -d,--section-delimiter= -f,--footer-numbering= -h,--header-numbering= "
        "-i,--line-increment= -l,--join-blank-lines= -n,--number-format= -p,--no-renumber "
        "-s,--number-separator= "
        "-v,--starting-line-number= -w,--number-width=",
        operands="r*",
        unseen="r",
    ),
    _gnu(
        names="od",
        flags="-A,--address-radix= -j,--skip-bytes= -N,--read-bytes= -S,--strings=? -t,--format= "
        "-v,--output-duplicates -w,--width=? -abcdfiloBsxDeFhHILOX --endian= --traditional",
        operands="r*",
        unseen="r",
    ),
    _gnu(
        names="base64 base32",
        flags="-d,--decode -D -i,--ignore-garbage -w,--wrap=",
        operands="r",
        unseen="r",
    ),
    _gnu(
        names="basenc",
        flags="--base64 --base64url --base32 --base32hex --base16 --base2msbf --base2lsbf --z85 --base58 "
        "-d,--decode -i,--ignore-garbage -w,--wrap=",
        operands="r",
        unseen="r",
    ),
    _gnu(
        names="fmt",
        flags="-c,--crown-margin -p,--prefix= -s,--split-only -t,--tagged-paragraph "
        "-u,--uniform-spacing -w,--width= -g,--goal=",
        operands="r*",
        is_numeric=True,
        unseen="r",
    ),
    _gnu(
        names="fold",
        flags="-b,--bytes -s,--spaces -c,--characters -w,--width=",
        operands="r*",
        is_numeric=True,
        unseen="r",
    ),
    _gnu(
        names="head",
        flags="-c,--bytes= -n,--lines= -q,--quiet,--silent -v,--verbose -z,--zero-terminated",
        operands="r*",
        is_numeric=True,
        unseen="r",
    ),
    _gnu(
        names="tail",
        flags="-c,--bytes= -f -F -n,--lines= --follow=? --max-unchanged-stats= --pid= "
        "-q,--quiet,--silent --retry "
        "-s,--sleep-interval= -v,--verbose -z,--zero-terminated --debug",
        operands="r*",
        is_numeric=True,
        unseen="r",
    ),
    _gnu(
        names="wc",
        flags="-c,--bytes -m,--chars -l,--lines -L,--max-line-length -w,--words --files0-from=:r? --total= --debug",
        operands="r*",
        unseen="r",
    ),
    _gnu(names="sum", flags="-r -s,--sysv", operands="r*", unseen="r"),
    _gnu(
        names="cksum",
        flags="-a,--algorithm= -b,--base64 -c,--check>check -l,--length= --raw --tag --untagged -z,--zero "
        "--ignore-missing --quiet --status --strict -w,--warn --debug",
        operands="r*",
        modes={"check": "r*;?"},
    ),
    _gnu(
        names="md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum",
        flags=f"{_DIGEST} -l,--length=",
        operands="r*",
        modes={"check": "r*;?"},
    ),
    # ── columns and lines ─────────────────────────────────────────────────────────────────────────────────
    _gnu(
        names="sort",
        flags="-b,--ignore-leading-blanks -d,--dictionary-order -f,--ignore-case -g,--general-numeric-sort "
        "-i,--ignore-nonprinting -M,--month-sort -h,--human-numeric-sort -n,--numeric-sort "
        "-R,--random-sort "
        "--random-source=:f -r,--reverse --sort= -V,--version-sort --batch-size= -c --check=? -C "
        "--compress-program=:x --debug --files0-from=:r? -k,--key= -m,--merge -o,--output=:w -s,--stable "
        "-S,--buffer-size= -t,--field-separator= -T,--temporary-directory=:d --parallel= -u,--unique "
        "-z,--zero-terminated -y=?",
        operands="r*",
    ),
    _gnu(
        names="uniq",
        flags="-c,--count -d,--repeated -D --all-repeated=? -f,--skip-fields= --group=? -i,--ignore-case "
        "-s,--skip-chars= -u,--unique -z,--zero-terminated -w,--check-chars=",
        operands="r o",
        is_numeric=True,
    ),
    _gnu(
        names="cut",
        flags="-b,--bytes= -c,--characters= -d,--delimiter= -f,--fields= -n --complement "
        "-s,--only-delimited "
        "--output-delimiter= -z,--zero-terminated",
        operands="r*",
        unseen="r",
    ),
    _gnu(names="paste", flags="-d,--delimiters= -s,--serial -z,--zero-terminated", operands="r*", unseen="r"),
    _gnu(
        names="join",
        flags="-a= -e= -i,--ignore-case -j= -o= -t= -v= -1= -2= --check-order --nocheck-order --header "
        "-z,--zero-terminated",
        operands="r*",
        unseen="r",
    ),
    _gnu(
        names="comm",
        flags="-123 --check-order --nocheck-order --output-delimiter= --total -z,--zero-terminated",
        operands="r*",
        unseen="r",
    ),
    _gnu(
        names="tr",
        flags="-c,-C,--complement -d,--delete -s,--squeeze-repeats -t,--truncate-set1",
        operands="-*",
        unseen="-",
    ),
    _gnu(names="expand", flags="-i,--initial -t,--tabs=", operands="r*", is_numeric=True, unseen="r"),
    _gnu(names="unexpand", flags="-a,--all --first-only -t,--tabs=", operands="r*", is_numeric=True, unseen="r"),
    _gnu(
        names="shuf",
        flags="-e,--echo>words -i,--input-range= -n,--head-count= -o,--output=:w --random-source=:f "
        "-r,--repeat "
        "-z,--zero-terminated",
        operands="r*",
        modes={"words": "-*"},
    ),
    _gnu(names="tsort", flags="-w", operands="r", unseen="r"),
    _gnu(
        names="split",
        flags="-a,--suffix-length= --additional-suffix= -b,--bytes= -C,--line-bytes= -d "
        "--numeric-suffixes=? -x "
        "--hex-suffixes=? -e,--elide-empty-files --filter=:c -l,--lines= -n,--number= -t,--separator= "
        "-u,--unbuffered --verbose",
        operands="r -;d",
        is_numeric=True,
        after=_after_split,
    ),
    _gnu(
        names="csplit",
        flags="-b,--suffix-format= -f,--prefix=:d -k,--keep-files --suppress-matched -n,--digits= "
        "-s,--quiet,--silent -z,--elide-empty-files",
        operands="r -*;d",
    ),
    _gnu(
        names="pr",
        flags="-a,--across -c,--show-control-chars -d,--double-space -D,--date-format= -e,--expand-tabs=? "
        "-F,-f,--form-feed -h,--header= -i,--output-tabs=? -J,--join-lines -l,--length= -m,--merge "
        "-n,--number-lines=? -N,--first-line-number= -o,--indent= -r,--no-file-warnings -s,--separator=? "
        "-S,--sep-string=? -t,--omit-header -T,--omit-pagination -v,--show-nonprinting -w,--width= "
        "-W,--page-width= --columns= --pages=",
        operands="r*",
        is_numeric=True,
    ),
    _gnu(
        names="ptx",
        flags="-A,--auto-reference -G,--traditional -F,--flag-truncation= -M,--macro-name= -O,--format=? "
        "-R,--right-side-refs -S,--sentence-regexp= -T -W,--word-regexp= -b,--break-file=:r "
        "-f,--ignore-case "
        "-g,--gap-size= -i,--ignore-file=:r -o,--only-file=:r -r,--references -t,--typeset-mode "
        "-w,--width=",
        operands="r*",
    ),
    _gnu(names="tee", flags="-a,--append -i,--ignore-interrupts -p --output-error=?", operands="w*"),
    # ── folders and metadata ──────────────────────────────────────────────────────────────────────────────
    _gnu(
        names="ls dir vdir",
        flags="-a,--all -A,--almost-all --author -b,--escape --block-size= -B,--ignore-backups -c -C "
        "--color=? "
        "-d,--directory -D,--dired -f -F --classify=? --file-type --format= --full-time -g "
        "--group-directories-first -G,--no-group -h,--human-readable --si -H,--dereference-command-line "
        "--dereference-command-line-symlink-to-dir --hide= --hyperlink=? --indicator-style= "
        "-i,--inode -I,--ignore= "
        "-k,--kibibytes -l -L,--dereference -m -n,--numeric-uid-gid -N,--literal -o -p "
        "-q,--hide-control-chars "
        "--show-control-chars -Q,--quote-name --quoting-style= -r,--reverse -R,--recursive+ "
        "-s,--size -S --sort= "
        "--time= --time-style= -t -T,--tabsize= -u -U -v -w,--width= -x -X -Z,--context --zero -1",
        operands="f*",
        empty="f",
        unseen="f",
    ),
    _gnu(
        names="du",
        flags="-0,--null -a,--all --apparent-size -B,--block-size= -b,--bytes -c,--total "
        "-D,--dereference-args -H "
        "-d,--max-depth= --files0-from=:r? -h,--human-readable --inodes -k -L,--dereference "
        "-l,--count-links -m "
        "-P,--no-dereference -S,--separate-dirs --si -s,--summarize -t,--threshold= --time=? --time-style= "
        "-X,--exclude-from=:r --exclude= -x,--one-file-system -A",
        operands="R*",
        empty="R",
        unseen="R",
    ),
    _gnu(
        names="df",
        flags="-a,--all -B,--block-size= -h,--human-readable -H,--si -i,--inodes -k -l,--local --no-sync "
        "--output=? "
        "-P,--portability --sync --total -t,--type= -T,--print-type -x,--exclude-type= -v -m",
        operands="-*",  # how full the file system is that a path lies on tells nothing of the path
        unseen="-",
    ),
    _gnu(
        names="stat",
        flags="-L,--dereference -f,--file-system --cached= -c,--format= --printf= -t,--terse",
        operands="r*",
        unseen="r",
    ),
    _gnu(
        names="readlink",
        flags="-f,--canonicalize -e,--canonicalize-existing -m,--canonicalize-missing -n,--no-newline "
        "-q,--quiet "
        "-s,--silent -v,--verbose -z,--zero",
        operands="f*",
        unseen="f",
    ),
    _gnu(
        names="realpath",
        flags="-e,--canonicalize-existing -E,--canonicalize -m,--canonicalize-missing -L,--logical "
        "-P,--physical "
        "-q,--quiet --relative-to=:f --relative-base=:f -s,--strip,--no-symlinks -z,--zero",
        operands="f*",
        unseen="f",
    ),
    _gnu(names="basename", flags="-a,--multiple -s,--suffix= -z,--zero", operands="-*", unseen="-"),
    _gnu(names="dirname", flags="-z,--zero", operands="-*", unseen="-"),
    _gnu(names="pathchk", flags="-p -P --portability", operands="f*", unseen="f"),
    _gnu(
        names="dircolors",
        flags="-b,--sh,--bourne-shell -c,--csh,--c-shell -p,--print-database --print-ls-colors",
        operands="r",
    ),
    # ── changing files ────────────────────────────────────────────────────────────────────────────────────
    _gnu(
        names="cp",
        flags="-a,--archive+ --attributes-only -b --backup=? --copy-contents -d --debug -f,--force "
        "-i,--interactive -H "
        "-l,--link -L,--dereference -n,--no-clobber -P,--no-dereference -p --preserve=? "
        "--no-preserve= --parents "
        "-R,-r,--recursive+ --reflink=? --remove-destination --sparse= --strip-trailing-slashes "
        "-s,--symbolic-link "
        "-S,--suffix= -t,--target-directory=:d>target -T,--no-target-directory -u --update=? -v,--verbose "
        "-x,--one-file-system -Z --context=? --keep-directory-symlink --path",
        operands="f* d",
        modes={"target": "f*"},
        after=_after_copy,
    ),
    _gnu(
        names="mv",
        flags="-b --backup=? --debug --exchange -f,--force -i,--interactive -n,--no-clobber --no-copy "
        "--strip-trailing-slashes -S,--suffix= -t,--target-directory=:d>target -T,--no-target-directory -u "
        "--update=? -v,--verbose -Z,--context",
        operands="Rd* d",
        modes={"target": "Rd*"},
        after=_after_move,
    ),
    _gnu(
        names="ln",
        flags="-b --backup=? -d,-F,--directory -f,--force -i,--interactive -L,--logical "
        "-n,--no-dereference "
        "-P,--physical -r,--relative -s,--symbolic -S,--suffix= -t,--target-directory=:d>target "
        "-T,--no-target-directory -v,--verbose",
        operands="f* d",
        modes={"target": "f*"},
        after=_after_link,
    ),
    _gnu(names="link", operands="fw w"),
    _gnu(names="unlink", operands="w"),
    _gnu(
        names="install",
        flags="-b --backup=? -c -C,--compare -d,--directory>folders -D --debug -g,--group= -m,--mode= "
        "-o,--owner= "
        "-p,--preserve-timestamps -s,--strip:x --strip-program=:x -S,--suffix= "
        "-t,--target-directory=:d>target "
        "-T,--no-target-directory -v,--verbose --preserve-context -Z --context=?",
        operands="f* d",
        modes={"folders": "w*", "target": "f*"},
        after=_after_move,
    ),
    _gnu(
        names="rm",
        flags="-f,--force -i -I --interactive=? --one-file-system --no-preserve-root --preserve-root=? "
        "-r,-R,--recursive+ -d,--dir -v,--verbose",
        operands="w*",
    ),
    _gnu(names="rmdir", flags="--ignore-fail-on-non-empty -p,--parents -v,--verbose", operands="w*"),
    _gnu(names="mkdir", flags="-m,--mode= -p,--parents -v,--verbose -Z --context=?", operands="w*"),
    _gnu(names="mkfifo", flags="-m,--mode= -Z --context=?", operands="w*"),
    _gnu(names="mknod", flags="-m,--mode= -Z --context=?", operands="w - - -"),
    _gnu(
        names="touch",
        flags="-a -c,--no-create -d,--date= -f -h,--no-dereference -m -r,--reference=:f -t= --time=",
        operands="w*",
    ),
    _gnu(
        names="truncate",
        flags="-c,--no-create -o,--io-blocks -r,--reference=:f -s,--size=",
        operands="w*",
    ),
    _gnu(
        names="shred",
        flags="-f,--force -n,--iterations= --random-source=:f -s,--size= -u --remove=? -v,--verbose "
        "-x,--exact -z,--zero",
        operands="w*",
    ),
    _gnu(
        names="mktemp",
        flags="-d,--directory -u,--dry-run -q,--quiet --suffix= -p=:d --tmpdir=?:d -t",
        operands="-",
        after=_after_mktemp,
    ),
    _gnu(
        names="chmod",
        flags="-c,--changes -f,--silent,--quiet -v,--verbose --no-preserve-root --preserve-root "
        "--reference=:f>reference "
        "-R,--recursive+ -h,--no-dereference --dereference -H -L -P -rwxXstugoa>reference",
        operands="- w*",
        modes={"reference": "w*"},
        after=_after_mode,
    ),
    _gnu(
        names="chown chgrp",
        flags="-c,--changes -f,--silent,--quiet -v,--verbose --dereference -h,--no-dereference --from= "
        "--no-preserve-root --preserve-root --reference=:f>reference -R,--recursive+ -H -L -P",
        operands="- w*",
        modes={"reference": "w*"},
        after=_after_mode,
    ),
    _gnu(
        names="chcon",
        flags="--dereference -h,--no-dereference -u,--user=>part -r,--role=>part -t,--type=>part "
        "-l,--range=>part "
        "--no-preserve-root --preserve-root --reference=:f>part -R,--recursive+ -H -L -P -v,--verbose",
        operands="- w*",
        modes={"part": "w*"},
    ),
    Program(names="dd", source="coreutils 9.1 manual", read=_read_dd),
    _gnu(names="sync", flags="-d,--data -f,--file-system", operands="f*"),
    # ── the system ────────────────────────────────────────────────────────────────────────────────────────
    _gnu(
        names="date",
        flags="-d,--date= --debug -f,--file=:r -I,--iso-8601=? -R,--rfc-email --rfc-3339= --resolution "
        "-r,--reference=:f -s,--set=:s -u,--utc,--universal --rfc-822 --rfc-2822",
        operands="-*",
        after=_after_date,
    ),
    _gnu(
        names="uname",
        flags="-a,--all -s,--kernel-name -n,--nodename -r,--kernel-release -v,--kernel-version "
        "-m,--machine -p,--processor -i,--hardware-platform -o,--operating-system",
        unseen="-",
    ),
    _gnu(names="arch logname whoami hostid", unseen="-"),
    _gnu(names="tty", flags="-s,--silent,--quiet"),
    _gnu(names="nproc", flags="--all --ignore=", unseen="-"),
    _gnu(names="uptime", flags="-p,--pretty -s,--since -V -h -c,--container -r,--raw", operands="r"),
    _gnu(
        names="who",
        flags="-a,--all -b,--boot -d,--dead -H,--heading --ips -l,--login --lookup -m -p,--process "
        "-q,--count "
        "-r,--runlevel -s,--short -t,--time -T,-w,--mesg,--message,--writable -u,--users",
        operands="r -",
    ),
    _gnu(names="users", operands="r"),
    _gnu(
        names="id",
        flags="-a -Z,--context -g,--group -G,--groups -n,--name -r,--real -u,--user -z,--zero",
        operands="-*",
        unseen="-",
    ),
    _gnu(names="groups", operands="-*", unseen="-"),
    _gnu(names="printenv", flags="-0,--null", operands="-*", unseen="-"),
    _gnu(names="sleep", operands="-*", unseen="-"),
    _gnu(
        names="seq",
        flags="-f,--format= -s,--separator= -w,--equal-width",
        operands="-*",
        is_numeric=True,
        unseen="-",
    ),
    _gnu(names="yes factor", operands="-*", unseen="-", is_permuting=False),
    _gnu(names="expr", operands="-*", is_permuting=False, is_numeric=True),
    _gnu(
        names="numfmt",
        flags="--debug -d,--delimiter= --field= --format= --from= --from-unit= --grouping --header=? "
        "--invalid= "
        "--padding= --round= --suffix= --to= --to-unit= -z,--zero-terminated --unit-separator=",
        operands="-*",
        is_numeric=True,
        unseen="-",
    ),
    _gnu(
        names="stty",
        flags="-a,--all -g,--save -F,--file=:f",
        operands="s*",
    ),
)
