# ruff: noqa: E501 - a pattern or a row stands in one piece
"""Whether the right-hand side of a sensitive name is a secret, or a placeholder, a reference or code."""

import base64
import re
from functools import lru_cache

from execkit_mcp.model.regex import lazy_regex

UUID = lazy_regex(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_PLACEHOLDER = lazy_regex(
    r"""
      [*.xX•#_?:-]+ | x{5,}.* | x{3,4}[-_ ].* | x{3,4}[a-z0-9]{0,8} | \*{3,}.*                      # masks
    | <[^<>]*> | \[[^\[\]]*\] | \{\{?[^{}]*\}?\}                    # <token> [token] {token} {{ token }}
    | %[-+#]?[a-z]{1,2}(?:\\n|\W){0,3} | %\(.* | %\w+% | @[\w.-]+@                                      # format strings
    | \$\{[^{}]*\}[;,]? | \$\(.*\)? | \$[A-Za-z_]\w* | \$\d{1,3}[,;)]{0,2} | \$\$?\{?\{.* # references
    | [^%]*(?:%[sd][^%]*){2,} | .*\\[wWdDsS](?:[*+?\]{].*)?                # formats and patterns
    | `.* | \w+:`.* | \[[^\[\]]{4,}\][+*]{0,1} | \$[A-Za-z_]\w*-          # markup, a class of a pattern, $self->…
    | q[qw]?\{.* | !\$.* | .*\(\?[:=!<].* | \d+\.\d+-[\d.]* | qr/.* | /[^/]*\[[^/]*/[a-z]{0,6};? | /\^.* | \([a-z ,]{0,40}\)?[,:]? | [A-Za-z]+\.{3} | [^{}\w]*(?:\{\w{0,40}\}[^{}\w]*)+                              # a pattern, a format
    | values?|data|input|line|result|options?|flags?|arguments?
    | unspecified|if|when|then|unless|so|you|it|this|that|will|are|be|can|may|should|which|where|while
    | await|new|lambda|async|function|sub|return|self|this|super|cls|yield|typeof
    | (?:!ref|!sub|!vault|!secret|env:|vault:|ssm:|op://|arn:|secretref:|valuefrom|ref\+).*
    | \W{0,2}change[-_]?(?:me|it|this)\W{0,2} | (?-i:[a-z]{2}_[A-Z]{2}(?:\.(?:[Uu][Tt][Ff]-?8|ISO[\w-]{1,12}))?) | C\.UTF-8 | POSIX | (?-i:String|ID|Int|Float|Boolean)! | change[-_]?(?:me|it|this)(?:[-_]\w+)* | \(\(.*\)\) | shift
    | \[(?:::)?[a-z]\w*(?:::\w+)+ | (?-i:[a-z]{2,4}_[A-Za-z]{2,12}(?::[a-z]{2,4}_[A-Za-z]{2,12})+) | \}\}(?:[@:/,].*)? | \$[!?@](?:\\n)?\W{0,3} | \\?\\&[a-z_]\w* | :(?:class|func|meth|mod|attr|data|ref|doc|exc|obj|term|c?py:\w{1,8}):.* | (?-i:[A-Z][a-z]{2,12}ed\.) | (?-i:GHSA(?:-[0-9a-z]{4}){3}|CVE-\d{4}-\d{4,7})           # the end of a template, what code and manuals say, advisories
    | \W{1,3} | \#[0-9a-f]{3,8}                                  # punctuation, colours
    | (?:amd64|i386|arm64|armhf|ppc64el|s390x)\.?                      # of a package
    | null|none|nil|undefined|unset|empty|true|false|yes|no|on|off|n/?a|tbd|todo|unknown|default|required|optional
    | on_create|always|never|enable|disable|auto|auto[-_]?generated?(?:,[ ]?isolate\w{3,12})*|specify|ignore|optional_no_ca|[*&][a-z_]+\d{0,3}          # settings, YAML's anchors
    | 1password|via|as|by|at|using|instead|option|flag|arg|argument|latest|awscurrent|awsprevious|file|path|filename|val|word|phrase|url|foobared|foobar|foo|bar|baz
    | compat|files|sss|nis|systemd|sufficient|requisite|substack|(?:file|fd|stdin|prompt):\S*          # of nsswitch, pam and openssl
    | .*\[[^\[\]]{2,}\][{+*].*                                        # a pattern
    | unauthorized|forbidden|rejected|refused|mismatch|revoked|locked|missing|invalid|expired|incorrect|wrong|failed|denied|ok|set|not|is|was|has|for|and|or|from|to|in|of|with|must
    | (?-i:_?[a-z]+\d?(?:_(?:[a-z]+\d?|\d{1,2}))*_(?:passwords?|passwd|secrets?|tokens?|keys?|credentials?))      # what a thing is called
    | @(?:[\w./-]*\.(?-i:[a-z]{1,4}|p12|mp[34])|-|/[\w./-]+) | -{1,2}[a-z][a-z-]* | <[a-z][a-z-]*                    # a file, an option, <the password>
    | (?-i:[a-z_]+=) | [A-Za-z_][\w.]*=(?:\{[\w.!:]*\}|true|false|none)[,)]? | =\d[\d.]*          # another assignment
    | \d{1,4}\.\d{1,4}\.\d{1,6} | \d+/[smhd]/\w+(?:,\d+/[smhd]/\w+)* | \d{3,5}\#section-[\d.]+      # versions, rates
    | [a-z_/-]*%[sd] | (?:(?:md5|sha\d{1,3}|[a-z_./:\\-]{0,40})(?:\{{1,2}[ ]?[\w.]{0,40}(?:\([^(){}]*\)[\w.]{0,20})?[ ]?\}{1,2}|%\(\w{1,40}\)[sd])){1,6}[a-z_./:"\\()-]{0,40}    # a format
    | (?-i:this|self|exports|module|process|window)\.\#?[\w.\[\]()]* | \+?[a-z]\w*(?:\.\w+)+\(\w*\)?[;,]? | function[ ]?\(.* | //(?:\s.*)? | //[\w.-]+(?:\.[a-z]{2,10}|:\d+)(?:/\S*)? | string=.* | npm:.* | (?-i:[A-Za-z_]\w*)\[\]
    | &[a-z]\w*(?:\.\w+)*\{.* | [a-z]\w*(?:\.\w+)+\{(?:[A-Z]\w*:)? | (?-i:[A-Z][A-Za-z]+|[a-z]+)\{\}? | /\.\w+\(.* | \d+\.(?:second|minute|hour|day|week|month|year)s?(?:\.\w+)*
    | (?-i::[A-Z]\w*[.(].*|[A-Z][A-Za-z]+::[A-Za-z_]+\d?(?:[(:,].*)?|[A-Z]\w+(?:\\{1,2}[A-Z]\w+)+) | \{\$.* | [^{}]*\{\$[^{}]*\}.* | \#\{.* | \{[a-z_]+ | \\\$\(.* | [ ]\.[ ].* | '?[ ]?\+[ ].* | [ ]?\][ ].*      # of Go, Ruby, PHP
    | \$(?-i:[a-z][a-z0-9]*(?:_[a-z0-9]+)+)\$ | \$(?-i:[a-z_]+):\S* | \$[A-Z_]\w*\$\{.* | &[a-z][a-z-]*(?::[a-z-]+\d?)? | &(?:nbsp|mdash|ndash|hellip|middot|bull|rarr|larr|raquo|laquo);.* | &lt;[a-z _/-]*(?:&gt;.*)? | (?:&[a-z]{2,8};\W*)+ | \(\#\d+\) | [a-z]+\?                  # macros, attributes, entities
    | (?-i:(?=[\w@.=:+!-]*+\Z)[\w@.=:+!-]*?:[!+][A-Z0-9-]++:[!+][A-Z0-9-].*) | unix:/.* | [\w-]{1,32}:[x*!]:\d+:\d+:.* | \S{4,80}(?:/|%2F)\d{8}(?:/|%2F)\S*_request
    | before|after|hover|focus|all
    | (?:manual|scheduled|backfill)__\d{4}-\S* | \.[a-z_]+(?:\.[a-z0-9_]+)+ | \.[*+][/$'"].* | ,[ ].* | \)[,;.]?(?:[ ].*)? | [ ]?%\}.*                # of code, or what stands behind a quoted string
    | hash|hashed|digest|encoded|plain|plaintext|cleartext|cipher|ciphertext|%env\([\w:]*\)%      # of code
    | string|str|text|bytes|int|integer|bool|boolean|number|any|object|array|list|dict|map|char|varchar\S*|opaque
    | read-host|get-credential|get-secret
    | (?:get|set|convertto|convertfrom|read|new|import|unprotect|invoke)-[a-z]+
    | present|absent|enabled|disabled|active|inactive|configured|stored|valid|saved|supported|available|protected|encrypted
    | include|same-origin|omit|credentialless | &lt;.*                       # of a fetch; <token> in HTML
    | password|passwd|passphrase|pass|pwd?|psw|secrets?|tokens?|key|apikey|api[-_]key|credentials?|prompt|ask|bearer|basic|digest
    # in other languages
    | (?:passwort|kennwort|geheimnis|(?:api-?|geheimer[ ])?schl\xfcssel|mot[ ]de[ ]passe|jeton|cl\xe9(?:[ ](?:api|secr\xe8te))?|contrase\xf1a|clave(?:[ ]\w+)?|senha|segredo|chave(?:[ ]\w+)?|secreto|ficha
      |parola[ ]d'ordine|parola|segreto|chiave(?:[ ]\w+)?|wachtwoord|sleutel|has\u0142o|heslo|l\xf6senord|adgangskode|passord|salasana|jelsz\xf3|\u015fifre|\u043f\u0430\u0440\u043e\u043b\u044c|\u5bc6\u7801|\u5bc6\u78bc|\u53e3\u4ee4|\u4ee4\u724c|\u5bc6\u94a5|\u30d1\u30b9\u30ef\u30fc\u30c9|\u30c8\u30fc\u30af\u30f3|\ube44\ubc00\ubc88\ud638)[ ]?[:?!]?
    | (?:my|a)?[-_ ]?(?:new|old|current|user|strong|secure|plain|random|generated|temp(?:orary)?)[-_ ]?(?:strong|secure|random|user)?[-_ ]?(?:password|passwd|passphrase|secret|token) | \$\w{1,40}(?:\{|->|::).*
    | !!(?:null|str|binary) | @(?:rx|pm|eq|[gl][et]|contains|streq|within|validate\w*|detect\w*)[ ].*    # of YAML, of a firewall
    | \[redacted:[^\]]*\]
    | (?:[\^~]|[<>=!~]=|[<>])[ ]?v?\d+(?:\.[\dx*]+){0,3}(?:-[a-z]+[\d.]*)?[,;"']{0,2}      # versions, and what is installed
    | [a-z][\w.-]{1,60}(?:\[[\w,-]{1,60}\])?(?:===?|~=|>=|<=|!=)v?\d{1,5}(?:\.(?:\*|\d{1,8}(?:[a-z]{1,4}\d{0,8})?)){1,5}
    | (?:[\w.-]{1,60}[/:]){1,8}\*{1,2}["',;]{0,2}                               # a pattern of names
    | %\{.* | \$__\w+\{.* | \\\(.* | \([\w .,:+~-]{0,60}\)          # a lookup, a lambda, an aside
    | (?-i:[A-Z]{2,}(?:_[A-Z]{2,}){2,})                             # VALUE_SPECIFIED_IN_…
    | [a-z_]+(?::[\w,.]+)?(?:\|[a-z_]+(?::[\w,./]+)?)+              # required|min:8
    | [:@][a-z_]{3,40}[,;)]{0,2} | [^\s<>]{0,40}<[a-z][\w :.-]{0,40}>[^\s<>]{0,40} # what a statement binds, <user:password>
    """,
    re.VERBOSE | re.IGNORECASE,
)
_WORDS = lazy_regex(
    r"(?:[^\W\d_][^\W\d_'\u2019-]{0,20}+[ ,.:;?!\u2026]{1,3}+){1,11}[^\W\d_][^\W\d_'\u2019-]{0,20}+[ ,.:;?!\u2026]{0,3}"
)
_SPEAKS_OF = lazy_regex(
    r"(?:^|[ '\u2019])(?:passwords?|passphrases?|passcode|passwort\w{0,2}|pa\xdfwort|kennwort\w{0,2}|mots? de passe|contrase\xf1as?|contrasenya|senhas?|palavra-passe|wachtwoord\w{0,2}|adgangskode\w{0,2}|passord\w{0,2}|l\xf6senord\w{0,2}|salasana\w{0,3}|has\u0142[oa]|heslo|hesla|jelsz\xf3\w{0,3}|parol[aey]|\u043f\u0430\u0440\u043e\u043b\w{0,3}|\u015fifre\w{0,4})(?=[ ,.:;?!]|$)|(?:token|pin|secret|jeton|(?:api|access|secret) key)(?: again| here)?[ ]?[:?]?[ ]?$",
    re.IGNORECASE,
)
_SAID = lazy_regex(
    r"(?:\u5bc6\u7801|\u5bc6\u78bc|\u53e3\u4ee4|\u4ee4\u724c|\u5bc6\u94a5|\u30d1\u30b9\u30ef\u30fc\u30c9|\u30c8\u30fc\u30af\u30f3|\ube44\ubc00\ubc88\ud638)[ ]?[\u3040-\uffff]"
    r"|[\u3040-\uffff][ ]?(?:\u5bc6\u7801|\u5bc6\u78bc|\u53e3\u4ee4|\u4ee4\u724c|\u5bc6\u94a5|\u30d1\u30b9\u30ef\u30fc\u30c9|\u30c8\u30fc\u30af\u30f3|\ube44\ubc00\ubc88\ud638)"
)
"""A sentence about a password where no blanks part words."""
_STANDS_FOR = lazy_regex(
    r"(?:your|my|the|some|insert|enter|add|put|replace|fake|dummy|sample|example|placeholder|redacted|masked|hidden)"
    r"[-_ .]?\w*(?:[-_ .]\w+)*",
    re.IGNORECASE,
)
_MASK = lazy_regex(r"[xX]{5,}|X{4,}|\*{3,}|[\u2022\u25cf\u00b7]{3,}|0{8,}|-{6,}|\+{6,}|#{4,}|_{6,}")
_CUT_SHORT = lazy_regex(r"[\w+/=:. -]{0,14}(?:\.{3,}|\u2026)\w{0,6}")
_ENCODED = lazy_regex(r"[A-Za-z0-9+/]{8,40}={0,2}")
_PARTS = lazy_regex(r"[-_./:+ ]+")
_STANDS_IN = (
    "your", "example", "changeme", "replace", "insert", "placeholder", "dummy", "fake", "redacted", "dontuse", "notasecret", "notreal", "goes", "todo", "xxx", "omitted",
    "hidden", "masked", "filtered", "removed", "sensitive", "scrubbed", "withheld", "suppressed", "sanitized", "concealed",
)  # fmt: skip
_STAND_IN = lazy_regex(rf"(?:{'|'.join(_STANDS_IN)})[a-z]*")
"""A part of what stands for a secret, if the other parts are words too: sk-your-key-here."""
_POINTER = lazy_regex(
    r"""
      @Microsoft\.KeyVault\(.* | \{\{resolve:.* | ENC\[AES256_GCM,.* | secretref:.*            # what a platform puts in later
    | (?:projects/[\w.-]+/)?secrets/[\w.-]+(?:/versions/\w+)? | (?:/?[\w.-]+/)+[\w.-]+\#[\w.-]+   # its place in a store
    | (?:[\w./-]+=)?[a-zA-Z][\w.-]*:(?:latest|AWSCURRENT|AWSPREVIOUS) | (?:[A-Z][\w./-]*=)?[a-z]+(?:[_-][a-z]+)+:\d{1,3}      # its version
    | (?:[A-Z]{2,4}|[a-z]{2,4}|uid|mail|serialNumber)=[^,=]+(?:,[ ]?[A-Za-z]{1,12}=[^,=]+)+ | (?:cn|ou|uid|dc)=[\w -]+  # a name in a directory
    | Ag[A-D][A-Za-z0-9+/=]{60,}                                              # a sealed secret
    | (?:[\w.-]+:){0,2}(?:jar|pom|war|aar|ear|test-jar|maven-plugin|bundle|klib)(?::[\w.+-]+){1,3}       # an artifact
    | (?:awssm|awsssm|gcpsm|akv|azkv|keyvault|secret|vault|keyring|keychain|file|env|sops|kms|bws|doppler|infisical)://.*
    """,
    re.VERBOSE,
)
_CALL = lazy_regex(r"\\?[A-Za-z_$][\w$.:>-]{0,80}[!?]?(?:\(|\[(?:['\"\w:\[-]|$))")
_MEMBER = lazy_regex(r"\$\{?\w{1,40}\}?(?:->|::|\.)\S*")
_DOTTED = lazy_regex(
    r"!{0,2}[A-Za-z_$][A-Za-z_$]*\d?(?:(?:\??\.|->|::)[A-Za-z_$][A-Za-z_]*)+\d?(?:;|::|!)?|(?:[A-Z][a-z]+)+(?:\.(?:[A-Z][a-z]+)+)*\.[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Za-z_$][\w$]*\[(?:\+\+|--)?\w+\]"
)
_MODULE = lazy_regex(r"[a-z_]+(?:\.[a-z_]+)+(?:\.[A-Z]\w*|:[a-z_]+)")
_EXPORTED = lazy_regex(r"[a-z]\w{0,20}(?:\.[A-Z][A-Za-z]{1,40}(?:\d[A-Za-z]{1,20})?\d?)+")
_FILE = lazy_regex(
    r"[\w./-]+\.(?:[cho]|cc|cpp|py|js|ts|go|rs|rb|java|sh|md|txt|json|ya?ml|toml|conf|cfg|key|pem|crt|html?|php|sql|log|exe|so)(?::\d{1,7}){0,2}"
)
_IDENTIFIER = lazy_regex(r"[A-Za-z][a-z]*(?:_[a-z]+)+;?|[a-z]+(?:[A-Z][a-z]+)+;?|[A-Z]+(?:_[A-Z]+)+")
_PATH = lazy_regex(r"(?:~|\.{1,2}|[A-Za-z]:|\$\{?\w{1,40}\}?)?[/\\][\w.@+$-]*(?:[/\\][\w.@+$-]*)*")
_URL = lazy_regex(r"[a-z][a-z0-9+.-]*://(?:[^\s@:/]*@)?[^\s@]*", re.IGNORECASE)
_MAP = lazy_regex(r"[a-z][\w.-]{1,40}:(?:/[\w.@+-]+)+")
_RELATIVE = lazy_regex(r"(?P<path>[a-z][a-z_-]*(?:/[a-z][a-z_-]*)+)\d{0,3}(?:[:#][a-z_]{2,30})?")
_SHORT_NAME = 3
_NUMBERED = lazy_regex(r"[A-Za-z]{3,40}[!@#$%^&*_.-]?\d{2,8}[!@#$%^&*?]{0,3}")
_ALGORITHM = lazy_regex(
    r"(?i:(?:sha|md|aes|des|rsa|ed|utf|base|http|ipv|win|rc|pbkdf|hs|rs|es|ps|x|p|v|amd|arm|i|cp|iso|tls|ssl|test|key|token|user|secret|password|pass|oauth|line|step|part|col|row|item|page|node|worker|pod|py|python)[-_.]?\d+)"
    r"|(?i:(?:ed|x|curve)(?:25519|448)|rsassa-pkcs1-v1_5|pkcs1v15|(?:evp_)?aes_\d{3}_\w{3,10})|[A-Z]{2,8}(?:[-_/][A-Z]{2,8}\d*)+|(?=[A-Z0-9/_-]*(?:SHA|RSA|AES|HMAC|ECD|MGF|GCM|CBC))[A-Z0-9]{1,10}(?:[-_/][A-Z0-9]{1,10})+"
)
_CIPHER = lazy_regex(
    r"(?i:argon2(?:id|i|d)?|[by]?s?crypt(?:[-_]?sha\d{1,3})?|bcrypt[-_]sha256|pbkdf2(?:[-_:]?(?:hmac)?[-_:]?sha[-_]?\d{1,3})?|scram[-_]sha[-_]\d{1,3}(?:-plus)?|hmac[-_]?(?:sha[-_]?\d{1,3}|md5)"
    r"|(?:aes|camellia|aria)[-_]?\d{3}[-_](?:cbc|gcm|ccm|ctr|ecb|xts|siv|wrap)(?:[-_](?:hmac[-_])?sha\d{1,3})?|x?chacha20[-_]?poly1305|caching_sha2_password|mysql_native_password|ed25519ph?|rsa[-_](?:oaep|pss)(?:[-_]\d{3})?)"
    r"|(?:PBKDF2With)?Hmac(?:SHA|Sha|MD)\d{1,3}(?:/\d{3})?(?:AndAES_\d{3})?|(?:SHA\d{0,3}|MD\d|NONE)with(?:RSA|ECDSA|DSA)(?:andMGF1|inP1363Format)?|(?:AES|DESede|RSA|Blowfish|ChaCha20)/[A-Za-z0-9]{2,8}/\w[\w-]{3,40}"
)
_DIGEST = lazy_regex(r"(?:hmac-)?(?:sha(?:1|256|384|512)|md5)[:-].*", re.IGNORECASE)
_WORD = lazy_regex(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}")
_DIGIT = lazy_regex(r"\d")
_LETTER = lazy_regex(r"[^\W\d_]")
_VOWEL = lazy_regex("[aeiouyAEIOUY]")
_PAIRS = frozenset(
    first + second
    for first, seconds in {
        "a": "bcdfgiklmnprstuvwxy", "b": "acdeijlmoprstuy", "c": "acdefhiklmnoprstuvy", "d": "abcdefilmnoprstuy",
        "e": "abcdefghiklmnopqrstuvwxy", "f": "acdefiloprstuy", "g": "aeghilmnorstu", "h": "adeilmortu",
        "i": "abcdefglmnoprstvxz", "j": "eou", "k": "aegilnsw", "l": "acdefilnoprstuvy", "m": "abdeiklmopstu",
        "n": "acdefgiklmnoprstuvy", "o": "abcdefgiklmnoprstuvwx", "p": "acdefhikloprstuy", "q": "u",
        "r": "abcdefgiklmnoprstuvwy", "s": "acdefghiklmnoprstuvwy", "t": "abcdefhilmnoprstuvwyz", "u": "abcdefgilmnoprst",
        "v": "aeio", "w": "adehilnors", "x": "acefilmpt", "y": "eilmnpst", "z": "aeio",
    }.items()
    for second in seconds
)  # fmt: skip
"""The pairs of letters that stand in nearly all words of code and prose; half of all pairs do not."""
_MINGLED = lazy_regex(r"\w[!#%*+^~&]\w")
_HEX = lazy_regex("[0-9a-fA-F]+")
_DATE = lazy_regex(
    r"\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?|\d{1,2}:\d\d(?::\d\d)?|\d{14}(?:\.\d+)?Z|1\d{9}\.\d{1,9}"
)
_NAMED_BY = lazy_regex(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}")
"""What a folder or file is called by: a UUID, a digest."""
_MIN_PARTS = 3
_MIN_RANDOM_CHARS = 16
_FEW = 2  # different characters: 000…01
_MIN_WORD_SHARE = 0.6
_MAX_READ = 256
_MIN_DIGIT_SHARE = 0.15
_MIN_DIGIT_GROUPS = 3
_MAX_SEGMENT = 24
_MOST_SEEN = 20  # letters and digits beside a mask
_SHORT_PART = 6
_STRANGE_PAIRS = 6  # a word of so many pairs may hold one that is in few words


def is_placeholder(value: str) -> bool:
    """Whether ``value`` stands for a secret instead of being one."""
    if _PLACEHOLDER.fullmatch(value) is not None:
        return True
    if _STANDS_FOR.fullmatch(value) is not None:
        return not is_random(value) or is_wordy(value)
    if (
        (not value.isascii() and _SAID.search(value[:_MAX_READ]))
        or is_prompt(value)
        or is_masked(value)
        or is_pointer(value)
        or _is_encoded_placeholder(value)
    ):
        return True
    if "EXAMPLE" in value or value.endswith("example"):
        return True
    return len(value) >= _MIN_RANDOM_CHARS and len(set(value)) <= _FEW


def is_prompt(value: str) -> bool:
    """Whether ``value`` asks for a secret: ``Database password:``."""
    return " " in value[:_MAX_READ] and _WORDS.fullmatch(value) is not None and _SPEAKS_OF.search(value) is not None


def is_phrase(value: str) -> bool:
    """Whether ``value`` is two words or more and begins as a sentence does, or is written in letters beyond ASCII."""
    is_said = value[:1].isupper() or not value.isascii()
    return is_said and " " in value[:_MAX_READ] and _WORDS.fullmatch(value) is not None


def _is_encoded_placeholder(value: str) -> bool:
    """Whether ``value`` is the base64 of a word that stands for a secret, as manifests hold it."""
    if len(value) % 4 or _ENCODED.fullmatch(value) is None:
        return False
    text = base64.b64decode(value)
    return text.isascii() and text.strip().isalnum() and is_placeholder(text.strip().decode("ascii"))


def is_masked(value: str) -> bool:
    """Whether of ``value`` only its ends can be read, or it says that a secret goes there: sk_live_xxxx, ghp_…, sk-your-key."""
    if len(value) > _MAX_READ:
        return False
    if _MASK.search(value) is not None and sum(map(str.isalnum, _MASK.sub("", value))) <= _MOST_SEEN:
        return True
    if ("..." in value or "\u2026" in value) and _CUT_SHORT.fullmatch(value) is not None:
        return True
    low = value.lower()
    if not any(word in low for word in _STANDS_IN):
        return False
    parts = _PARTS.split(low)
    return any(_STAND_IN.fullmatch(part) for part in parts) and all(
        (part.isalpha() and (len(part) <= _SHORT_PART or is_wordy(part))) or len(part) < _SHORT_PART for part in parts
    )


def is_pointer(value: str) -> bool:
    """Whether ``value`` only says where a secret is kept: in a store, under a version, in a directory."""
    if value.isalnum() and not value.startswith("Ag"):
        return False
    if _POINTER.fullmatch(value) is not None:
        return True
    found = _RELATIVE.fullmatch(value)
    return found is not None and all(len(part) <= _SHORT_NAME or is_wordy(part) for part in found["path"].split("/"))


def _is_call(value: str) -> bool:
    found = _CALL.match(value)
    return found is not None and (_DIGIT.search(found[0]) is None or is_wordy(found[0]))


def is_reference(value: str) -> bool:
    """Whether ``value`` is code, a path, a URL without credentials or a digest."""
    return bool(
        _is_call(value)
        or _MEMBER.fullmatch(value)
        or _DOTTED.fullmatch(value)
        or _MODULE.fullmatch(value)
        or (_EXPORTED.fullmatch(value) and is_wordy(value))
        or _FILE.fullmatch(value)
        or _DIGEST.fullmatch(value)
        or _URL.fullmatch(value)
        or _MAP.fullmatch(value)
        or is_path(value)
    )


def is_path(value: str) -> bool:
    """Whether ``value`` is a file's path rather than base64 with slashes in it."""
    if _PATH.fullmatch(value) is None or len(value) < 2:  # noqa: PLR2004
        return False
    parts = re.split(r"[/\\]", value)
    return not any(
        len(part) > _MAX_SEGMENT and is_random(part) and (len(parts) < _MIN_PARTS or _NAMED_BY.fullmatch(part) is None)
        for part in parts
    )


def is_identifier(value: str) -> bool:
    """Whether an unquoted ``value`` reads like the name of a variable."""
    return _IDENTIFIER.fullmatch(value) is not None


def is_random(value: str, least: int = _MIN_RANDOM_CHARS) -> bool:
    """Whether ``value`` looks generated: long enough, with digits and letters."""
    if len(value) < least or " " in value:
        return False
    head = value[:_MAX_READ]
    return _DIGIT.search(head) is not None and _LETTER.search(head) is not None


@lru_cache(maxsize=4096)
def _is_word(word: str) -> bool:
    strange = sum(word[at : at + 2] not in _PAIRS for at in range(len(word) - 1))
    return strange <= (len(word) - 1) // _STRANGE_PAIRS and _VOWEL.search(word) is not None


def is_wordy(value: str) -> bool:
    """Whether the letters of ``value`` form words, as in the names of things in code."""
    value = value[:_MAX_READ]
    digits = re.findall(r"\d+", value)
    if _HEX.fullmatch(value) is not None or (
        len(digits) >= _MIN_DIGIT_GROUPS and sum(map(len, digits)) >= len(value) * _MIN_DIGIT_SHARE
    ):
        return False
    letters = sum(map(str.isalpha, value))
    words = sum(len(word) for word in _WORD.findall(value) if _is_word(word.lower()))
    return words >= letters * _MIN_WORD_SHARE


def is_algorithm(value: str) -> bool:
    """Whether ``value`` is what algorithms, hosts and steps are called: sha256, node12, RSA-SHA256."""
    return _ALGORITHM.fullmatch(value) is not None


def is_cipher(value: str) -> bool:
    """Whether ``value`` is what nothing but an algorithm is called: argon2id, PBKDF2WithHmacSHA512, AES/GCM/NoPadding."""
    return _CIPHER.fullmatch(value) is not None


def is_numbered(value: str) -> bool:
    """Whether ``value`` is a word with a number behind it, as people choose passwords."""
    return _NUMBERED.fullmatch(value) is not None and not is_algorithm(value)


def is_mingled(value: str) -> bool:
    """Whether ``value`` holds a letter, a digit and a symbol that names are not made of."""
    return _MINGLED.search(value) is not None and _DIGIT.search(value) is not None and _LETTER.search(value) is not None


def is_basic(value: str) -> bool:
    """Whether ``value`` is the base64 form of ``user:password``."""
    if len(value) > _MAX_READ:
        return False
    try:
        user, colon, password = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).partition(b":")
    except ValueError:
        return False
    return bool(user and colon and password) and user.isascii() and user.decode("ascii").isprintable()


def is_date(value: str) -> bool:
    """Whether ``value`` is a date or a time."""
    return _DATE.fullmatch(value) is not None
