# ruff: noqa: E501 - a table reads one row a line
"""``aws``: verbs that look, judged by their first word, and those of them that hand out secrets.

Source: aws 2 manual. A service has hundreds of operations with regular names, so they are read by rule and not by row:
``describe-``, ``list-`` and ``get-`` look; an operand is a file that some of them write, so it is unknown; parameters
may read files (``file://``, ``fileb://``); ``--profile`` picks the account.
"""

from execkit_mcp.model import EffectKind
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.knowledge.argv import is_several
from execkit_mcp.policy.knowledge.invocation import PICKED_BY, Arg, FlagUse, static
from execkit_mcp.policy.knowledge.reading import Reading, rest_of
from execkit_mcp.policy.knowledge.spec import Program, words_of

_LOOKS = lazy_regex(r"(?:describe|list|get|head|lookup|batch-get)-[a-z0-9-]+")
_ALSO_LOOKS = words_of(
    "sts/get-caller-identity s3/ls logs/filter-log-events logs/tail configure/list configure/list-profiles"
)
# Operations whose answer is a secret, a token, or holds settings in which secrets are kept.
_SECRETS = lazy_regex(
    r"secretsmanager/(?:batch-)?get-.*|ssm/get-(?:parameter.*|access-token)|sts/get-(?!caller-identity).*|"
    r"[a-z0-9-]+/get-(?:authorization-token|login.*|token|session.*|federation-token|.*credentials.*|.*password.*|.*access-details|.*auth-token|.*api-keys?|instance-access)|"
    r"iam/get-(?:credential-report|account-authorization-details)|ec2/(?:describe-(?:instance-attribute|vpn-connections|launch-template-versions|spot-instance-requests)|get-(?:console-output|launch-template-data))|"
    r"lambda/(?:get-function.*|list-functions|list-versions.*|get-layer.*)|ecs/describe-task-definition|batch/describe-job.*|codebuild/batch-get-.*|"
    r"apigateway(?:v2)?/get-.*|appsync/(?:list-api-keys|get-.*)|glue/(?:get-connections?|batch-get-.*|get-jobs?)|amplify/(?:get|list)-.*|"
    r"elasticbeanstalk/describe-configuration-settings|lightsail/get-.*|cloudformation/(?:describe-stacks|get-template)|s3api/get-object.*|"
    r"kms/get-parameters-for-import|workmail/.*|connect/get-.*|cognito-[a-z]+/(?:get-.*|describe-user-pool-client)|kafka/list-scram-secrets|"
    r"ecr(?:-public)?/get-.*|eks/get-token|rds/get-.*|dms/describe-(?:connections|endpoints)|opsworks.*/.*|datapipeline/get-.*|sso/.*"
)
_SWITCHES = words_of(
    "--no-cli-pager --no-paginate --no-sign-request --debug --no-verify-ssl --no-include-email --recursive --human-readable --summarize "
    "--no-cli-auto-prompt --include-all-instances --dry-run --no-dry-run --follow"
)


_PAIR = len(("service", "operation"))
_FILES = ("file://", "fileb://")


def _read_aws(reading: Reading) -> None:
    """``aws [options] service operation [parameters]``."""
    args = list(reading.args)
    words: list[Arg] = []
    while args:
        arg = args.pop(0)
        if not arg.prefix.startswith("-"):
            if arg.could_be_option or is_several(arg):
                reading.dynamic(arg, "could turn out to be an option")
            (words if len(words) < _PAIR else reading.operands).append(arg)
            continue
        name, separator, _ = arg.prefix.partition("=")
        if not name.startswith("--") or (not arg.is_static and not separator):
            reading.unknown_flag(arg.text)
        elif separator:
            _note(reading, name, rest_of(arg, len(name) + 1))
        elif name in _SWITCHES or not args or args[0].prefix.startswith("-"):
            _note(reading, name, None)
        else:
            _note(reading, name, args.pop(0))
            # A parameter takes every word up to the next option; an option of aws itself takes one.
            while len(words) == _PAIR and args and not args[0].prefix.startswith("-"):
                reading.modes.add("several")
                _note(reading, name, args.pop(0))
    if not all(word.is_static for word in words):
        reading.dynamic(next(word for word in words if not word.is_static), "stands where the operation does")
    reading.subcommand = tuple(word.text for word in words)
    _judge(reading, "/".join(reading.subcommand))


def _note(reading: Reading, name: str, value: Arg | None) -> None:
    """An option or parameter and what its value reads, picks or reaches."""
    reading.flags.append(FlagUse(names=(name,), value=value))
    if value is None:
        return
    if name == "--profile":
        reading.effect(EffectKind.NET, value, f"{PICKED_BY}{name}")
    elif name == "--endpoint-url":
        reading.mark("u", value)
    elif name == "--ca-bundle":
        reading.mark("r", value)
    scheme = next((each for each in _FILES if value.prefix.startswith(each)), "")
    if scheme:
        reading.mark("r", rest_of(value, len(scheme)))
    elif is_several(value) or not (value.is_static or value.prefix):
        reading.dynamic(value, "could name a file")


def _judge(reading: Reading, operation: str) -> None:
    reading.mark("N", None)
    verb = operation.partition("/")[2]
    is_looking = operation in _ALSO_LOOKS or _LOOKS.fullmatch(verb) is not None
    if not is_looking and verb != "help":
        reading.effect(EffectKind.UNKNOWN, None, "no knowledge about this operation")
    elif _SECRETS.fullmatch(operation):
        reading.effect(EffectKind.UNKNOWN, static(operation), "secret")
    if "several" in reading.modes and not verb.startswith(("describe-", "list-")):
        reading.effect(EffectKind.UNKNOWN, None, "a word that may be a file to write")
    if operation != "s3/ls":
        for word in reading.operands:
            reading.effect(EffectKind.UNKNOWN, word, "a file that some operations write")


PROGRAMS = (Program(names="aws", source="aws 2 manual", read=_read_aws, alone="--version help"),)
