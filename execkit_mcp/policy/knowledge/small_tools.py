# ruff: noqa: E501 - a table reads one row a line
"""Small tools that fit nowhere else.

Sources: libxml2 2.9.14, cloc 1.96, tokei 12.1, tldr 3.3, util-linux 2.38, ncurses 6.4, debianutils 5.7, bc 1.07, tmux 3.3 manuals.
"""

from functools import partial

from execkit_mcp.model import EffectKind
from execkit_mcp.policy.knowledge.opaque import opaque
from execkit_mcp.policy.knowledge.reading import Reading
from execkit_mcp.policy.knowledge.spec import Program

_util = partial(Program, source="util-linux 2.38 manual")


def _after_hostname(reading: Reading) -> None:
    """An operand sets the host's name."""
    for arg in reading.operands:
        reading.effect(EffectKind.STATE, arg, "the host's name")


def _after_crontab(reading: Reading) -> None:
    """``crontab -l`` lists; everything else installs commands to run later."""
    if not reading.has("-l") or reading.operands:
        for path in reading.operands:
            reading.mark("r", path)
        reading.mark("sx", None)


def _after_tput(reading: Reading) -> None:
    """``init`` and ``reset``, which may stand behind others, run the program that the terminal's description names."""
    if any(not arg.is_static or arg.text in {"init", "reset"} for arg in reading.operands):
        reading.mark("x", None)


def _after_cloc(reading: Reading) -> None:
    """An operand that is an archive is unpacked by whatever program fits it."""
    if any(not arg.is_static or arg.text.lower().endswith(_ARCHIVES) for arg in reading.operands):
        reading.mark("x", None)


def _after_xmllint(reading: Reading) -> None:
    """A document may be fetched: a word with a scheme is an address."""
    for arg in reading.operands:
        if not arg.is_static or ":" in arg.text:
            reading.mark("u", arg)


_ARCHIVES = (
    ".tar", ".tgz", ".tbz", ".tbz2", ".txz", ".gz", ".bz2", ".xz", ".z", ".zip", ".zst", ".7z", ".rar", ".deb", ".rpm",
    ".whl", ".jar", ".war", ".ear",
)  # fmt: skip

# What makes libxml2 follow what the document or a schema names: files and addresses that the command line does not show.
_XML_FOLLOWS = (
    "--noent:R? -noent:R? --valid:R? -valid:R? --postvalid:R? -postvalid:R? --loaddtd:R? -loaddtd:R? --dtdattr:R? "
    "-dtdattr:R? --xinclude:R? -xinclude:R? --noxincludenode:R? -noxincludenode:R? --c14n:R? -c14n:R? --c14n11:R? "
    "-c14n11:R? --exc-c14n:R? -exc-c14n:R? --catalogs:R? -catalogs:R? --shell:? -shell:? --insert:? -insert:? "
    "--path=:R? -path=:R? --dtdvalid=:ru? -dtdvalid=:ru? --dtdvalidfpi=:? -dtdvalidfpi=:? --schema=:ru? -schema=:ru? "
    "--relaxng=:ru? -relaxng=:ru? --schematron=:ru? -schematron=:ru?"
)
_XML_PRINTS = (
    "--noout -noout --format -format --pretty= -pretty= --xpath= -xpath= --html -html --xmlout -xmlout --nowarning "
    "-nowarning --noblanks -noblanks --nocdata -nocdata --nonet -nonet --huge -huge --recover -recover --timing -timing "
    "--debug -debug --dropdtd -dropdtd --nsclean -nsclean --encode= -encode= --stream -stream --pattern= -pattern= "
    "--maxmem= -maxmem= --quiet -quiet --nodefdtd -nodefdtd --sax -sax --push -push --memory -memory --copy -copy"
)

PROGRAMS = (
    Program(
        names="xmllint",
        source="libxml2 2.9.14 manual",
        is_long_only=True,
        flags=f"-o,--output,-output=:o {_XML_PRINTS} {_XML_FOLLOWS}",
        operands="r*",
        after=_after_xmllint,
        alone="--version -version --help",
    ),
    Program(
        names="cloc",
        source="cloc 1.96 manual: a Perl program; configuration, archives and version control run others",
        is_long_only=True,
        flags="--by-file --by-file-by-lang --by-percent= --quiet --csv --csv-delimiter= --json --md --xml --yaml --hide-rate "
        "--progress-rate= --sum-one --exclude-dir= --exclude-ext= --exclude-lang= --include-ext= --include-lang= --fullpath "
        "--match-d= --not-match-d= --match-f= --not-match-f= --max-file-size= --follow-links --no-recurse --skip-uniqueness "
        "--timeout= --processes= --unicode --show-lang --show-ext --autoconf --lang-no-ext= --3 --no-autogen "
        "--list-file=:r --exclude-list-file=:r --out=:w --report-file=:w --counted=:w --ignored=:w --found=:w "
        "--categorized=:w --unique=:w --write-lang-def=:w --sql=:w --sql-append --config=:rx --read-lang-def=:rx "
        "--force-lang-def=:rx --extract-with=:x --strip-comments=:d --diff:x --git:x --vcs=:x",
        operands="R*",
        after=_after_cloc,
    ),
    Program(
        names="tokei",
        drops_equals=True,
        source="tokei 12.1 manual",
        flags="-C,--compact -f,--files -l,--languages -v,--verbose -c,--columns= -e,--exclude= -i,--input=:f -o,--output= "
        "-s,--sort= -r,--rsort= -t,--type= -n,--num-format= --hidden --no-ignore --no-ignore-dot --no-ignore-parent "
        "--no-ignore-vcs --streaming=",
        operands="R*",
        empty="R",
        alone="--help -h --version -V",
    ),
    Program(
        names="tldr",
        drops_equals=True,
        source="tldr client 3.3 manual: fetches pages that its cache lacks",
        flags="-p,--platform= -L,--language= -l,--list -q,--quiet --color= -f,--render=:r -u,--update,--update_cache:ds "
        "-c,--clear-cache:ds",
        operands="-*;N",
        alone="--help -h --version -v",
    ),
    _util(
        names="ipcs",
        flags="-i,--id= -m,--shmems -q,--queues -s,--semaphores -a,--all -c,--creator -l,--limits -p,--pid -t,--time "
        "-u,--summary -b,--bytes --human",
        operands="",
        alone="--help -h --version -V",
    ),
    Program(
        names="which",
        source="debianutils 5.7 manual",
        flags="-as --all --skip-alias --skip-functions --skip-dot --skip-tilde --show-dot --show-tilde "
        "--tty-only -i --read-alias",
        operands="-*",
        unseen="-",
    ),
    Program(
        names="hostname dnsdomainname domainname",
        source="hostname 3.23 manual",
        flags="-a,--alias -A,--all-fqdns -b,--boot:s -d,--domain -f,--fqdn,--long -F,--file=:rs "
        "-i,--ip-address "
        "-I,--all-ip-addresses -s,--short -v,--verbose -V -h -y,--yp,--nis",
        operands="-*",
        after=_after_hostname,
    ),
    _util(
        names="cal ncal",
        flags="-1,--one -3,--three -n,--months= -S,--span -s,--sunday -m,--monday -j,--julian --reform= "
        "--iso -y,--year -Y,--twelve -w,--week=? -c,--columns= --vertical --color=? -V -h "
        "-b -e -h",
        operands="-*",
    ),
    Program(
        names="bc",
        source="bc 1.07 manual",
        flags="-l,--mathlib -s,--standard -w,--warn -q,--quiet -i,--interactive -h -v",
        operands="r*",
    ),
    opaque("dc", "dc 1.4 manual: ! runs"),
    Program(names="tput", source="ncurses 6.4 manual", flags="-T= -S:? -V -x", operands="-*", after=_after_tput),
    Program(names="clear reset", source="ncurses 6.4 manual", flags="-T= -V -x", operands=""),
    Program(names="infocmp", source="ncurses 6.4 manual", flags="-1 -V", operands="-*"),
    Program(
        names="locale",
        source="glibc 2.36 manual",
        flags="-a,--all-locales -m,--charmaps -c,--category-name -k,--keyword-name -v,--verbose",
        operands="-*",
    ),
    Program(names="localedef locale-gen dpkg-reconfigure", source="glibc 2.36 manual", operands="?*;s"),
    Program(names="getconf", source="glibc 2.36 manual", flags="-a -v=:x", operands="- f"),
    Program(
        names="lsb_release",
        source="lsb 11.1 manual",
        flags="-v,--version -i,--id -d,--description -r,--release -c,--codename -a,--all -s,--short -h",
    ),
    Program(
        names="crontab",
        source="cron 3.0 manual",
        flags="-u= -l -r -e -i -s -n -T=:r",
        operands="-*",
        after=_after_crontab,
        alone="-V",
    ),
    Program(names="atq atrm", source="at 3.2 manual", flags="-q= -V", operands="s*"),
    Program(
        names="logger",
        source="util-linux 2.38 manual",
        flags="-i --id=? -p,--priority= -s,--stderr -t,--tag= -f,--file=:r -n,--server=:n -P,--port= "
        "-T,--tcp -d,--udp -e,--skip-empty "
        "-u,--socket=:f --no-act",
        operands="-*;s",
    ),
    Program(names="wall write mesg", source="util-linux 2.38 manual", operands="-*;s"),
    _util(
        names="namei",
        flags="-x,--mountpoints -m,--modes -o,--owners -l,--long -n,--nosymlinks -v,--vertical -V -h",
        operands="f*",
    ),
    _util(
        names="getopt",
        flags="-a,--alternative -l,--longoptions= -n,--name= -o,--options= -q,--quiet -Q,--quiet-output "
        "-s,--shell= -T,--test -u,--unquoted",
        operands="-*",
        is_permuting=False,
    ),
    _util(names="uuidgen", flags="-r,--random -t,--time -n,--namespace= -N,--name= -m,--md5 -s,--sha1 -x,--hex"),
    _util(names="rename prename file-rename", operands="?*;d", flags="-v,--verbose -n,--no-act -o"),
    _util(
        names="fallocate",
        flags="-l,--length= -o,--offset= -n,--keep-size -d,--dig-holes -p,--punch-hole -z,--zero-range -v,--verbose",
        operands="w",
    ),
    _util(names="mcookie", flags="-f,--file=:r -m,--max-size= -v,--verbose"),
    _util(names="colrm col colcrt ul", flags="-b -f -h -p -x -l= -t= -i", operands="-*"),
    Program(names="envsubst", source="gettext 0.21 manual", flags="-v,--variables", operands="-"),
    Program(
        names="pv",
        source="pv 1.6 manual",
        flags="-p,--progress -t,--timer -e,--eta -r,--rate -b,--bytes -n,--numeric -q,--quiet -s,--size= "
        "-L,--rate-limit= -l,--line-mode -c -N,--name= -W -i,--interval=",
        operands="r*",
    ),
    Program(
        names="dos2unix unix2dos",
        source="dos2unix 7.4 manual",
        flags="-q,--quiet -k,--keepdate -f,--force -n,--newfile -o,--oldfile -i,--info",
        operands="rw*",
    ),
    Program(
        names="fd fdfind",
        drops_equals=True,
        source="fd 8.6 manual",
        flags="-H,--hidden -I,--no-ignore -u,--unrestricted -s,--case-sensitive -i,--ignore-case -g,--glob "
        "-F,--fixed-strings -a,--absolute-path -l,--list-details "
        "-L,--follow -p,--full-path -d,--max-depth= --min-depth= --exact-depth= -E,--exclude= "
        "-t,--type= -e,--extension= -S,--size= --changed-within= --changed-before= -o,--owner= "
        "-x,--exec:x -X,--exec-batch:x "
        "-c,--color= -j,--threads= -0,--print0 -1 -q,--quiet --max-results= --search-path=:R "
        "--base-directory=:R --ignore-file=:r --one-file-system --prune --strip-cwd-prefix",
        operands="- R*;R",
    ),
    Program(
        names="exa eza lsd",
        drops_equals=True,
        source="their manuals",
        flags="-1GxAdhbBHgiSmutUnFI -l,--long -a,--all -T,--tree+ -R,--recurse+ -L,--level= -s,--sort= "
        "-r,--reverse --color= --icons=? --git --git-ignore",
        operands="f*",
        empty="R",
    ),
    Program(names="md5 sha256", source="BSD manual", operands="r*"),
    Program(names="base58 uuencode uudecode", source="sharutils 4.15 manual", operands="?*;d"),
    opaque(
        "xdg-open open notify-send pbcopy pbpaste xclip xsel wl-copy wl-paste sendmail mail mailx mutt msmtp",
        "their manuals",
        "xU?",
    ),
    opaque("inotifywait inotifywatch tailf multitail lnav", "their manuals", "Rx"),
    opaque(
        "rsyslogd cloud-init snapctl pm2 monit nginx apachectl apache2ctl "
        "httpd php-fpm uwsgi gunicorn uvicorn celery airflow",
        "their manuals",
        "dxps",
    ),
)
