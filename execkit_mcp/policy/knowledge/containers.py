# ruff: noqa: E501 - a table reads one row a line
"""Containers and clusters.

Sources: docker 24, podman 4, kubectl 1.28, helm 3, terraform 1.5, cloud command lines' manuals.

Talking to the configured server is ``net(configured)``; a flag that names another one is an ordinary
connection. Kinds that hold secrets are read under the note ``secret``.
"""

from execkit_mcp.model import EffectKind
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.knowledge.argv import is_several
from execkit_mcp.policy.knowledge.invocation import static
from execkit_mcp.policy.knowledge.reading import Reading, rest_of
from execkit_mcp.policy.knowledge.spec import Grammar, Program

_LOOKS = "-*;N"
_CHANGES = "?*;N?"
_RUNS = "-*;xN"


def _after_exec(reading: Reading) -> None:
    """``docker exec CONTAINER argv``: the command runs in another root."""
    reading.mark("N", None)
    command = reading.operands[1:]
    if command:
        reading.runs(command, via=f"{reading.name} exec")
    else:
        reading.wrapper("no command")


def _after_kube_exec(reading: Reading) -> None:
    """``kubectl exec POD -- argv``: what follows ``--`` runs in the pod."""
    reading.mark("N", None)
    command = reading.operands[1:]
    if reading.terminated_at is None or not command:
        reading.wrapper("the command does not stand behind --")
    else:
        reading.runs(command, via="kubectl exec")


def _mark_template_files(reading: Reading) -> None:
    """``-o jsonpath-file=PATH`` and its kin print what a file says; ``--template`` then names the file."""
    for value in reading.flag_values("-o"):
        name, separator, _ = (value.text if value.is_static else value.prefix).partition("=")
        if not value.is_static and not separator:
            reading.dynamic(value, "could name a file")
        elif name.endswith("file"):
            for each in [rest_of(value, len(name) + 1)] if separator else reading.flag_values("--template"):
                reading.effect(EffectKind.READ, each)


def _after_kube_get(reading: Reading) -> None:
    """Reading secrets is reading secrets, in every spelling; a file of resources is read."""
    reading.mark("N", None)
    for arg in reading.operands:
        kinds = arg.text.lower().replace("/", ",").split(",")
        if not arg.is_static or any(kind.partition(".")[0] in {"secret", "secrets", "all-secrets"} for kind in kinds):
            reading.effect(EffectKind.READ, static("kubernetes:secrets"), "secret")
            reading.effect(EffectKind.UNKNOWN, arg, "secret")
    _mark_template_files(reading)


def _after_gh(reading: Reading) -> None:
    """``HOST/OWNER/NAME`` or a URL, as a repository or an operand, names another server."""
    for word in [*reading.operands, *reading.flag_values("-R")]:
        if word.text.count("/") > 1 or "://" in word.text or not word.is_static:
            reading.mark("u", word)


_COMPOSE_FILE = lazy_regex(r"(?!github\.com/)[\w./ -]+\.ya?ml")


def _after_compose(reading: Reading) -> None:
    """``-f`` also takes a repository or a registry to fetch the file from (``oci://…``, ``git@host:…``)."""
    for value in reading.flag_values("-f"):
        if not value.is_static or _COMPOSE_FILE.fullmatch(value.text) is None:
            reading.mark("xU", None)


def _after_compose_config(reading: Reading) -> None:
    """The whole configuration shows what ``.env`` fills in; lists of names do not."""
    _after_compose(reading)
    if not reading.has("-q", "--services", "--volumes", "--profiles", "--hash", "--images"):
        reading.mark("f", static(".env"))


def _after_chart(reading: Reading) -> None:
    """A chart that is not plainly a folder or file may be fetched; the folder's own charts are code of a template language."""
    for word in reading.operands[-1:]:
        is_local = word.is_static and (word.text.startswith((".", "/")) or _CHART.fullmatch(word.text) is not None)
        if not is_local:
            reading.mark("U", None)


_CHART = lazy_regex(r"(?:charts?|helm|deploy|k8s|infra|chart)(?:/[\w.-]+)*/?")
_CHART_VALUES = "-f,--values=:F --set= --set-string= --set-json= --set-literal= --kube-version="


def _after_docker_top(reading: Reading) -> None:
    """Words behind the container are options of ps: ``e`` shows the environment of processes."""
    if any("e" in word.text or not word.is_static for word in reading.operands[1:]):
        reading.effect(EffectKind.UNKNOWN, reading.operands[1], "options of ps")


def _after_compose_exec(reading: Reading) -> None:
    _after_exec(reading)


def _after_docker_inspect(reading: Reading) -> None:
    """Images and containers hold environment variables; that is the server's to answer."""
    reading.mark("N", None)
    if any(is_several(arg) and not arg.is_single for arg in reading.operands):
        reading.mark("?", None)


_DOCKER_LS = (
    "-a,--all -f,--filter= --format= -n,--last= -l,--latest --no-trunc -q,--quiet -s,--size --digests "
    "--tree --noheading --sort="
)
_DOCKER_EXEC = (
    "-d,--detach --detach-keys= -e,--env= --env-file=:r -i,--interactive -t,--tty --privileged "
    "-u,--user= -w,--workdir= -T,--no-TTY --index="
)
_KUBE = (
    "-n,--namespace= --context=:C --cluster=:C --user=:C -v,--v= --request-timeout= --kubeconfig=:rxU "
    "-s,--server=:u --token=:U --as=:C --as-group=:C --as-uid=:C "
    "--certificate-authority=:r --client-certificate=:r --client-key=:r "
    "--insecure-skip-tls-verify=? --tls-server-name= --username=:U --password=:U "
    "--cache-dir=:d --match-server-version --log-flush-frequency= --warnings-as-errors --profile=:? "
    "--profile-output=:w --vmodule="
)
# A file may name secrets, so what it asks for cannot be told.
_KUBE_GET = (
    "-A,--all-namespaces -o,--output= -l,--selector= --field-selector= --show-labels --sort-by= "
    "--no-headers -L,--label-columns= -w,--watch --watch-only "
    "--output-watch-events --ignore-not-found --chunk-size= -f,--filename=:F? -k,--kustomize=:Rx "
    "-R,--recursive --raw=:? --template= --show-kind "
    "--show-managed-fields --allow-missing-template-keys --server-print=? --subresource= "
    "--show-events=? --show-capacity --containers --sum --no-pager"
)

PROGRAMS = (
    Program(
        names="docker podman nerdctl",
        drops_equals=True,
        source="docker 24 manual",
        flags="-H,--host=:u -c,--context=:C --config=:rx -D,--debug -l,--log-level= --tls --tlscacert=:r "
        "--tlscert=:r --tlskey=:r --tlsverify --url=:u --connection=:C "
        "--root=:d --runroot=:d --remote -r",
        has_local_flags=True,
        alone="--version -v --help -h",
        is_remote=True,
        subcommands={
            "ps|images": Grammar(flags=_DOCKER_LS, operands=_LOOKS),
            "container|image|volume|network|node|service|stack|secret|config|context|plugin|pod|"
            "buildx|builder|machine|ls|list": Grammar(flags=_DOCKER_LS, operands=_LOOKS),
            "top": Grammar(operands=_LOOKS, after=_after_docker_top),
            "logs|port|version|info|stats|events|diff|history|search": Grammar(
                flags="-f,--follow --since= --until= -n,--tail= -t,--timestamps --details --format= "
                "--filter= -a,--all --no-stream --no-trunc -q,--quiet -H,--human --limit=",
                operands=_LOOKS,
            ),
            "container top": Grammar(operands=_LOOKS, after=_after_docker_top),
            "container logs|port|stats|diff": Grammar(
                flags="-f,--follow --since= --until= -n,--tail= -t,--timestamps --details --format= -a,--all "
                "--no-stream --no-trunc",
                operands=_LOOKS,
            ),
            "inspect": Grammar(
                flags="-f,--format= -s,--size --type= --latest -l", operands="-*", after=_after_docker_inspect
            ),
            "container|image|volume|network|node|service|context|pod inspect": Grammar(
                flags="-f,--format= -s,--size --pretty -v,--verbose",
                operands="-*",
                after=_after_docker_inspect,
            ),
            "system df|info|events": Grammar(
                flags="-v,--verbose --format= --since= --until= --filter=", operands=_LOOKS
            ),
            "exec": Grammar(flags=_DOCKER_EXEC, operands="-*", is_leading=True, after=_after_exec),
            "container exec": Grammar(flags=_DOCKER_EXEC, operands="-*", is_leading=True, after=_after_exec),
            "compose": Grammar(
                flags="-f,--file=:r -p,--project-name= --profile= --env-file=:r --project-directory=:R "
                "--ansi= --progress= --dry-run",
                operands="-*;N",
            ),
            "compose config|convert": Grammar(
                flags="-q,--quiet --format= -o,--output=:w --services --volumes --profiles --hash= --images --no-interpolate "
                "--no-normalize --no-path-resolution --resolve-image-digests:N",
                operands="-*;RN",
                after=_after_compose_config,
            ),
            "compose ps|logs|images|top|ls|version|port|events": Grammar(
                flags="-f,--follow --since= --until= -n,--tail= -t,--timestamps --no-color "
                "--no-log-prefix -a,--all -q,--quiet --format= --filter= --services --status= "
                "--no-trunc --orphans",
                operands="-*;RN",
                after=_after_compose,
            ),
            "compose exec": Grammar(flags=_DOCKER_EXEC, operands="-*", is_leading=True, after=_after_compose_exec),
            "compose up|down|start|stop|restart|rm|kill|pause|unpause|pull|push|build|create|scale|"
            "wait|watch|attach": "-*;RxN",
            "compose run|cp": "-*;dxN",
            "cp": "Rd*;N",
            "run|create|build|commit|export|import|load|save|pull|push|tag|rm|rmi|start|stop|"
            "restart|kill|pause|unpause|rename|update|wait|attach|login|logout|"
            "swarm|trust|checkpoint|manifest|play|generate|unshare|mount|unmount|healthcheck|kube|"
            "auto-update|bake|init|scout": "-*;dxN",
        },
    ),
    Program(
        names="docker-compose podman-compose",
        drops_equals=True,
        source="docker compose 2 manual",
        flags="-f,--file=:r -p,--project-name= --profile= --env-file=:r --project-directory=:R",
        alone="--version version --help -h -v",
        is_remote=True,
        subcommands={
            "config": Grammar(
                flags="-q,--quiet --services --volumes --profiles --hash= --images --format= --no-interpolate",
                operands="-*;RN",
                after=_after_compose_config,
            ),
            "ps|logs|images|top|ls|version|port": Grammar(
                flags="--follow --since= --until= --tail= -t,--timestamps --no-color -a,--all -q,--quiet "
                "--services --format=",
                operands="-*;RN",
                after=_after_compose,
            ),
            "exec": Grammar(flags=_DOCKER_EXEC, operands="-*", is_leading=True, after=_after_exec),
            "up|down|start|stop|restart|rm|kill|pause|unpause|pull|push|build|create|scale|run|cp": "-*;dxN",
        },
    ),
    Program(names="ctr runc crun buildah skopeo kaniko", source="their manuals", operands="-*;dxU"),
    Program(
        names="kubectl oc k3s-kubectl",
        drops_equals=True,
        source="kubectl 1.28 manual",
        flags=_KUBE,
        alone="--help -h version options",
        is_remote=True,
        subcommands={
            "get|describe": Grammar(flags=_KUBE_GET, operands="-*", after=_after_kube_get),
            "logs": Grammar(
                flags="-c,--container= --all-containers=? -f,--follow=? -p,--previous=? --tail= --since= "
                "--since-time= --timestamps=? -l,--selector= --prefix=? --max-log-requests= "
                "--limit-bytes= --pod-running-timeout= --ignore-errors --all-pods=? --insecure-skip-tls-verify-backend",
                operands=_LOOKS,
            ),
            "top pod|pods|po|node|nodes|no": Grammar(
                flags="-A,--all-namespaces --containers --sort-by= -l,--selector= --no-headers --sum "
                "--use-protocol-buffers --field-selector= --show-capacity",
                operands=_LOOKS,
            ),
            "explain|api-resources|api-versions|cluster-info|version|events|options": Grammar(
                flags="--recursive --api-version= --namespaced=? --api-group= --verbs= -o,--output= "
                "--no-headers --sort-by= --client --short -A,--all-namespaces --for= --types= "
                "-w,--watch --cached --categories= --template=",
                operands=_LOOKS,
                after=_mark_template_files,
            ),
            "cluster-info dump": _CHANGES,
            "rollout status|history": Grammar(
                flags="-w,--watch=? --revision= --timeout= -o,--output= -l,--selector= --sort-by= --template=",
                operands=_LOOKS,
                after=_mark_template_files,
            ),
            "rollout restart|undo|pause|resume": _CHANGES,
            "auth can-i|whoami": Grammar(
                flags="--list -A,--all-namespaces -q,--quiet --subresource= -o,--output= --template=",
                operands=_LOOKS,
                after=_mark_template_files,
            ),
            "config get-contexts|current-context|get-clusters|get-users": Grammar(
                flags="-o,--output= --no-headers", operands="-*"
            ),
            "config view": Grammar(
                flags="--minify -o,--output= --flatten:? --raw:? --merge --template=",
                operands="-*",
                after=_mark_template_files,
            ),
            "config use-context|set|set-context|set-cluster|set-credentials|unset|delete-context|"
            "delete-cluster|rename-context": "-*;d?",
            "wait": Grammar(
                flags="--for= --timeout= -l,--selector= --all -A,--all-namespaces -o,--output= --template= -f,--filename=:F",
                operands=_LOOKS,
                after=_mark_template_files,
            ),
            "diff": Grammar(
                # The program that compares is `diff`, unless the environment names another; no command may set that.
                flags="-f,--filename=:F -l,--selector= --server-side -R,--recursive -k,--kustomize=:Rx",
                operands="-*;N",
            ),
            "exec": Grammar(
                flags="-i,--stdin -t,--tty -c,--container= -q,--quiet -f,--filename=:F --pod-running-timeout=",
                operands="-*",
                after=_after_kube_exec,
            ),
            "apply|create|delete|edit|replace|patch|scale|autoscale|expose|label|annotate|set|"
            "taint|drain|cordon|uncordon|certificate|kustomize|run|attach|"
            "cp|port-forward|proxy|debug|plugin|rollout|convert|ctx|ns|krew|adm|new-app|rsh|login|"
            "project": _RUNS,
        },
    ),
    Program(
        names="helm",
        drops_equals=True,
        source="helm 3 manual",
        flags="-n,--namespace= --kube-context=:C --debug --kubeconfig=:rxU --kube-apiserver=:u "
        "--kube-token=:U --registry-config=:r --repository-cache=:R --repository-config=:r",
        alone="--help -h version",
        subcommands={
            "list|ls|status|history|hist|version|env": Grammar(
                flags="-A,--all-namespaces -a,--all -q,--quiet -o,--output= --filter= -f= -l,--selector= --template= "
                "--max= --offset= -d,--date -r,--reverse --revision= --show-desc --show-resources "
                "--deployed "
                "--failed --pending --superseded --uninstalled --short --client -m",
                operands=_LOOKS,
            ),
            "get all|hooks|manifest|notes|values|metadata": Grammar(
                flags="-a,--all -o,--output= --revision= --template=", operands="-*;N?"
            ),
            "search repo|hub": Grammar(
                flags="-l,--versions --version= -o,--output= --devel --max-col-width=", operands=_LOOKS
            ),
            "show all|chart|values|readme|crds": Grammar(
                flags="--version= --repo=:u --devel", operands="R*", after=_after_chart
            ),
            "lint": Grammar(
                flags=_CHART_VALUES + " --strict --quiet --with-subcharts", operands="R*", empty="R", after=_after_chart
            ),
            "template": Grammar(
                flags=_CHART_VALUES
                + " --include-crds --skip-tests --no-hooks -s,--show-only= -a,--api-versions= --is-upgrade "
                "-g,--generate-name --release-name --name-template= --validate:U --dry-run=?:U --output-dir=:w --post-renderer=:x "
                "--post-renderer-args=:x --repo=:u --version= --dependency-update:dU --set-file=:?",
                operands="R*",
                after=_after_chart,
            ),
            "dependency|dep list|ls": Grammar(flags="--max-col-width=", operands="R*", empty="R", after=_after_chart),
            "repo list": Grammar(flags="-o,--output=", operands=""),
            "install|upgrade|uninstall|delete|del|rollback|repo|pull|push|package|"
            "plugin|test|dependency|dep|create|registry|verify|completion": "-*;dxN",
        },
    ),
    Program(
        names="terraform tofu",
        source="terraform 1.5 manual",
        is_long_only=True,
        flags="-chdir=:Rx -no-color -json",
        alone="-version --version version -help --help -h",
        subcommands={
            "version": "-*",
            "fmt": Grammar(flags="-check -diff -list=? -recursive -write=?", operands="d;d"),
            "show|output|graph|providers|validate|plan|apply|destroy|init|import|taint|"
            "untaint|refresh|state|workspace|console|get|login|logout|force-unlock|test|"
            "metadata": "-*;dxN",
        },
    ),
    Program(
        names="terragrunt pulumi cdk serverless sam minikube kind k3d k3s kops eksctl argocd flux istioctl "
        "linkerd kustomize skaffold tilt vercel netlify heroku flyctl fly doctl wrangler firebase",
        source="their manuals",
        operands="-*;dxU",
    ),
    Program(
        names="gsutil bq oci ibmcloud aliyun",
        source="their manuals",
        operands="?*;N?",
        flags="",
        alone="--version version --help -h",
    ),
    Program(
        names="gh",
        drops_equals=True,
        source="gh 2 manual",
        flags="-R,--repo=",
        alone="--version version --help -h help",
        subcommands={
            "pr|issue|run|release|workflow|repo|label|gist|cache|variable list|ls|view|status|checks|diff": Grammar(
                flags="-L,--limit= -s,--state= -a,--assignee= -A,--author= -l,--label= -S,--search= "
                "--json= -q,--jq= -t,--template= -c,--comments -w,--web:x -B,--base= -H,--head= "
                "-b,--branch= --workflow= --log --log-failed -v,--verbose --name-only --patch --color= "
                "--required --watch:N -j,--job= -e,--event= -u,--user=",
                operands=_LOOKS,
                after=_after_gh,
            ),
            "auth status": Grammar(flags="-h,--hostname= -a,--active -t,--show-token:?", operands=_LOOKS),
            "search code|commits|issues|prs|repos": Grammar(
                flags="-L,--limit= --json= -q,--jq= --owner= --language= --state= -R,--repo= --sort= --order=",
                operands=_LOOKS,
            ),
        },
    ),
)
