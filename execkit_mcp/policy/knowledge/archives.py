"""Archivers and compressors.

Sources: tar 1.34, gzip 1.12, bzip2 1.0.8, xz 5.4, zstd 1.5, zip 3.0, unzip 6.0, 7-Zip, cpio 2.13, binutils
2.40 (ar) manuals.
"""

from functools import partial

from execkit_mcp.model import EffectKind
from execkit_mcp.policy.knowledge.invocation import Arg, static
from execkit_mcp.policy.knowledge.reading import Reading, rest_of
from execkit_mcp.policy.knowledge.spec import Program, flags_of

_TAR_FLAGS = (
    "-A,--catenate,--concatenate>write -c,--create>write --delete>write -d,--diff,--compare>read "
    "-r,--append>write "
    "-t,--list>list -u,--update>write -x,--extract,--get>extract --test-label>list "
    "-f,--file= -C,--directory=:R>moved -v,--verbose -z,--gzip,--gunzip,--ungzip -j,--bzip2 "
    "-J,--xz -Z,--compress "
    "--zstd --lzip --lzma --lzop -a,--auto-compress --no-auto-compress -I,--use-compress-program=:x "
    "--to-command=:x --checkpoint=? --checkpoint-action=:x --rmt-command=:x --rsh-command=:x "
    "-F,--info-script,--new-volume-script=:x "
    "-p,--preserve-permissions,--same-permissions --no-same-permissions --same-owner "
    "--no-same-owner -o --owner= "
    "--group= --mode= --mtime=:f --numeric-owner --sort= --strip-components= -k,--keep-old-files "
    "--keep-newer-files "
    "--skip-old-files --overwrite --overwrite-dir -U,--unlink-first --recursive-unlink --no-overwrite-dir "
    "--exclude= -X,--exclude-from=:r --exclude-vcs --exclude-vcs-ignores --exclude-backups "
    "--exclude-caches "
    "-T,--files-from=:r>moved --null --no-recursion --recursion -h,--dereference --hard-dereference "
    "--one-file-system -P,--absolute-names>moved -W,--verify -w,--interactive,--confirmation "
    "-O,--to-stdout>stdout "
    "-n,--seek --no-seek -S,--sparse -g,--listed-incremental=:w -G,--incremental -b,--blocking-factor= "
    "--record-size= -B,--read-full-records -i,--ignore-zeros -l,--check-links -M,--multi-volume:x "
    "-L,--tape-length= "
    "-N,--newer,--after-date=:f --newer-mtime= -K,--starting-file= --totals=? --index-file=:w "
    "-R,--block-number "
    "--wildcards --no-wildcards --wildcards-match-slash --anchored --no-anchored --ignore-case "
    "--no-ignore-case "
    "--transform,--xform= --remove-files>remove -V,--label= --warning= --full-time --utc "
    "--show-transformed-names "
    "--quoting-style= -H,--format= --pax-option= --posix --acls --no-acls --selinux --xattrs "
    "--occurrence=? "
    "--force-local -s,--preserve-order -m,--touch --show-defaults --delay-directory-restore "
    "--no-delay-directory-restore --ignore-failed-read --level= --suffix= --backup=?"
)


def _before_tar(reading: Reading) -> None:
    """``tar xzf a.tgz``: the first word may be a cluster without its dash, whose values follow in order."""
    args = reading.args
    if not args or args[0].prefix.startswith("-"):
        return
    if not args[0].is_static:
        reading.dynamic(args[0], "could be any flags")
        return
    table = flags_of(_TAR_FLAGS)
    rest = list(args[1:])
    found: list[Arg] = []
    for letter in args[0].text:
        flag = table.get(f"-{letter}")
        found.append(static(f"-{letter}"))
        if flag is not None and flag.value == "=" and rest:
            found.append(rest.pop(0))
    reading.args = (*found, *rest)


def _after_tar(reading: Reading) -> None:  # noqa: C901, PLR0912 - one branch for each form in the manual
    """The archive is read or written by mode; a name with a colon is on another machine."""
    modes = reading.modes
    reading.bare_suffix()
    archives = reading.flag_values("-f")
    if not modes & {"write", "read", "list", "extract"}:
        reading.effect(EffectKind.UNKNOWN, None, "tar without an operation")
    mark = "rw" if reading.has("-r", "-u", "-A", "--delete") else "o" if "write" in modes else "r"
    for archive in archives:
        reading.mark(mark, archive)
        if ":" in archive.text and not reading.has("--force-local"):
            reading.mark("Ux", None)
    if not archives:
        reading.effect(EffectKind.UNKNOWN, None, "the archive is a device or TAPE")
    is_writing = "write" in modes or "read" in modes
    if is_writing:
        for path in reading.operands:
            reading.mark("Rd" if "remove" in modes else "R", path)
            if "moved" in modes and (not path.is_static or ".." in path.text.split("/")):
                reading.effect(EffectKind.UNKNOWN, path, "a path seen from another folder")
        if reading.has("-T"):
            reading.effect(EffectKind.UNKNOWN, None, "paths from a file")
    elif reading.has("-T"):
        reading.effect(EffectKind.UNKNOWN, None, "names and options from a file")
    if any(path.prefix.startswith("@") for path in reading.operands):
        reading.effect(EffectKind.UNKNOWN, None, "an archive inside the archive, to some")
    is_only_shown = "stdout" in modes and not reading.has("-U", "--recursive-unlink", "--backup")
    if "extract" in modes and not is_only_shown:
        if reading.has("-P"):
            reading.effect(EffectKind.UNKNOWN, None, "writes wherever the archive says")
        folders = reading.flag_values("-C")
        for number, folder in enumerate(folders):
            reading.mark("d", folder)
            if number and not folder.prefix.startswith("/"):
                reading.effect(EffectKind.UNKNOWN, folder, "a folder seen from another one")
        if not folders:
            reading.mark("d", None)


def _after_zip(reading: Reading) -> None:
    for path in reading.operands[:1]:
        reading.mark("o", path)
    for path in reading.operands[1:]:
        reading.mark("Rd" if reading.has("-m") else "R", path)


def _after_unzip(reading: Reading) -> None:
    """Lists and tests read; extracting writes where ``-d`` says, which may stand behind the names, or here."""
    for path in reading.operands[:1]:
        reading.mark("r", path)
    folders = reading.has("-d")
    names = list(reading.operands[1:])
    while names:
        name = names.pop(0)
        if name.prefix.startswith("-d"):
            folders = True
            reading.mark("d", rest_of(name, 2) if name.text != "-d" else names.pop(0) if names else None)
    # `-Z` lists where it is the first word; it does nothing elsewhere.
    is_listing = reading.has("-l", "-t", "-v", "-p", "-c", "-z") or (
        reading.args[:1] and reading.args[0].prefix.startswith("-Z")
    )
    if not is_listing and reading.operands and not folders:
        reading.mark("d", None)


def _after_compress(reading: Reading) -> None:
    """Compressing replaces the file, unless it goes to standard output or is only looked at."""
    reading.bare_suffix()
    # The last of these says what is done, except to gzip: `xz -t -d x.xz` unpacks the file.
    tasks = [use.names for use in reading.flags if _TASKS.intersection(use.names)]
    is_looking = reading.has("-t", "-l") and (reading.name in _GZIPS or not _CHANGING_TASKS.intersection(tasks[-1]))
    is_reading = (
        is_looking
        or reading.has("-c")
        or reading.name
        in {
            "zcat",
            "bzcat",
            "xzcat",
            "lzcat",
            "zstdcat",
        }
    )
    for path in reading.operands:
        reading.mark("r", path)
        if not is_reading and not (path.is_static and path.text == "-"):
            reading.effect(EffectKind.WRITE, _beside(path), "and beside it", is_deep=path.is_static or reading.is_deep)


def _beside(path: Arg) -> Arg:
    """The folder of a path: the compressed or plain file stands there under another name."""
    if not path.is_static:
        return path
    folder, separator, _ = path.text.rpartition("/")
    return static((folder or "/") if separator else ".")


def _after_seven(reading: Reading) -> None:
    """``7z l`` and ``7z t`` read an archive; everything else writes or is unknown."""
    words = reading.operands
    command = words[0].text if words and words[0].is_static else ""
    for path in words[1:2]:
        reading.mark("r", path)
    for name in words[1:]:
        reading.mark("@", name)
    if command not in {"l", "t", "i"}:
        reading.effect(EffectKind.UNKNOWN, None, "changes files")


_CHANGING_TASKS = frozenset(("-z", "-d"))
_TASKS = _CHANGING_TASKS | {"-t", "-l"}
_GZIPS = frozenset(("gzip", "gunzip", "zcat"))
_GZIP = (
    "-a,--ascii -c,--stdout,--to-stdout -d,--decompress,--uncompress -f,--force -h -k,--keep "
    "-l,--list -L,--license -n,--no-name "
    "-N,--name -q,--quiet -r,--recursive+ --rsyncable -S,--suffix= --synchronous -t,--test "
    "-v,--verbose -V --fast "
    "--best -123456789"
)
_zip = partial(Program, source="gzip 1.12, bzip2 1.0.8, xz 5.4, zstd 1.5 manuals", operands="-*", after=_after_compress)

PROGRAMS = (
    Program(
        names="tar gtar bsdtar",
        source="tar 1.34 manual",
        flags=_TAR_FLAGS,
        operands="-*",
        before=_before_tar,
        after=_after_tar,
    ),
    _zip(names="gzip gunzip zcat pigz unpigz", flags=_GZIP),
    _zip(
        names="bzip2 bunzip2 bzcat",
        flags="-c,--stdout -d,--decompress -z,--compress -f,--force -k,--keep -q,--quiet -s,--small "
        "-t,--test "
        "-v,--verbose -L,--license -V --fast --best -123456789 -h",
    ),
    _zip(
        names="xz unxz xzcat lzma unlzma lzcat",
        flags="-z,--compress -d,--decompress,--uncompress -t,--test -l,--list -k,--keep -f,--force "
        "-c,--stdout,--to-stdout --single-stream --no-sparse -S,--suffix= --files=?:r? "
        "--files0=?:r? -F,--format= -C,--check= "
        "-e,--extreme -T,--threads= -M,--memlimit,--memory= -q,--quiet -Q,--no-warn -v,--verbose "
        "--robot -h -H,--long-help "
        "-V -0123456789 --ignore-check",
    ),
    _zip(
        names="zstd unzstd zstdcat",
        flags="-d,--decompress -t,--test -l,--list -k,--keep -f,--force -c,--stdout -o=:w -q,--quiet "
        "-v,--verbose "
        "-r+ --rm:d -T=? -D=:r -h -H -V --ultra --fast=? --long=? --no-progress -123456789 -z,--compress",
    ),
    Program(
        names="zless zmore bzless bzmore xzless xzmore zdiff zcmp",
        source="gzip 1.12 manual: runs a pager or diff",
        flags="",
        operands="r*;x",
    ),
    Program(
        names="zip",
        source="zip 3.0 manual",
        flags="-r,--recurse-paths -q,--quiet -v,--verbose -u,--update -f,--freshen -d,--delete -m,--move "
        "-j,--junk-paths "
        "-0123456789 -x,--exclude= -i,--include= -e,--encrypt -P,--password= -y,--symlinks "
        "-X,--no-extra -D -l -T,--test "
        "-TT,--unzip-command=:x -@:? -O,--output-file=:w -b,--temp-path=:d -h",
        operands="-*",
        is_long_only=True,
        after=_after_zip,
    ),
    Program(
        names="unzip",
        source="unzip 6.0 manual",
        flags="-l -t -v -Z -p -c -z -f -u -n -o -q -a -j -C -L -X -x -d=:d -P= -U -V -W -K -D -1 -2 -s -h -m",
        operands="-*",
        is_permuting=False,  # behind the archive stand names in it: `unzip a.zip -l` unpacks the file `-l`
        after=_after_unzip,
    ),
    Program(names="zipinfo", source="unzip 6.0 manual", flags="-12smlvhMtTzC -x=", operands="r -*"),
    Program(
        names="7z 7za 7zr 7zz",
        source="7-Zip manual",
        flags="-slt -ba -bd -y",
        operands="-*",
        is_long_only=True,
        after=_after_seven,
    ),
    Program(
        names="cpio",
        source="cpio 2.13 manual",
        flags="-t,--list -i,--extract:d? -o,--create:? -p,--pass-through:d? -v,--verbose "
        "-F,--file= -I=:r -O=:w --quiet --rsh-command=:x",
        operands="-*",
    ),
    Program(names="ar ranlib", source="binutils 2.40 manual", operands="- d;?"),
)
