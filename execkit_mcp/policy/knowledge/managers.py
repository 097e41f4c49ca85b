# ruff: noqa: E501 - a table reads one row a line
"""Package managers whose look-ups run nothing of the project, and two cloud command lines.

Sources: conda 24, pacman 6.1, az 2.60 and gcloud 480 manuals. What is not listed as a look-up
is unknown. Managers that load project files first (pnpm's hooks, the interpreter that uv and poetry ask) are not here:
those files are code.
"""

from execkit_mcp.policy.knowledge.spec import Grammar, Program

_LOOKS_UP = "-*;RN"
_AZ_FLAGS = (
    "-o,--output= --query= --subscription=:C -g,--resource-group= -n,--name= --ids= -l,--location= --only-show-errors --verbose "
    "--debug -d,--show-details --all --account-name= --server= --vnet-name= --namespace= --max-items="
)
_GCLOUD_FLAGS = (
    "--project=:C --format= --filter= --limit= --zone= --zones= --region= --regions= --sort-by= -q,--quiet --verbosity= --account=:C "
    "--uri --page-size= --freshness= --order= --cluster= --instance= --location= --platform= --global --flatten= --configuration=:C"
)

PROGRAMS = (
    Program(
        names="conda mamba micromamba",
        drops_equals=True,
        source="conda 24 manual",
        flags="-n,--name= -p,--prefix=:R --json -v,--verbose -q,--quiet -f,--full-name --explicit --no-pip -c,--channel= "
        "--override-channels -e,--envs -s,--system -a,--all --show --show-sources",
        subcommands={
            "list|info": "-*;R",
            "search": _LOOKS_UP,
            "env list": "-*;R",
        },
        alone="--version -V --help -h",
    ),
    Program(
        names="pacman",
        source="pacman 6.1 manual",
        flags="-Q,--query>query -F,--files>query -T,--deptest>query -V,--version>query -S,--sync:sU -R,--remove:s -U,--upgrade:sU "
        "-D,--database:s -a -b,--dbpath=:R -c -d -e -g -h -i,--info -k -l,--list -m -n -o,--owns -p,--file:R -q,--quiet -r,--root=:s "
        "-s,--search -t -u:s -v,--verbose -w:d -x -y,--refresh:sU --arch= --cachedir=:d --color= --config=:rx --debug --gpgdir=:R "
        "--hookdir=:x --logfile=:w --noconfirm --overwrite=:s --sysroot=:s --noscriptlet --dbonly:s --needed --ignore= --asdeps",
        operands="-*;s",
        modes={"query": "-*"},
        alone="--version --help -V -h",
    ),
    Program(
        names="az",
        drops_equals=True,
        source="az 2.60 manual: list and show",
        flags=_AZ_FLAGS,
        subcommands={
            "account|group|vm|vmss|aks|acr|webapp|functionapp|resource|disk|image|snapshot|cosmosdb|redis|keyvault|feature|provider|"
            "tag|policy|lock list|show": "-*;N",
            "storage account|container|blob|share list|show": "-*;N",
            "network vnet|nsg|nic|public-ip|lb|application-gateway|route-table|private-endpoint list|show": "-*;N",
            "network vnet subnet|peering list|show": "-*;N",
            "sql server|db|mi list|show": "-*;N",
            "monitor activity-log|metrics list": "-*;N",
            "ad user|group|app|sp list|show": "-*;N",
            "vm get-instance-view|list-ip-addresses|list-sizes": "-*;N",
            "aks nodepool list|show": "-*;N",
            "acr repository list|show-tags|show": "-*;N",
            "version": "",
        },
        alone="--version version --help -h",
    ),
    Program(
        names="gcloud",
        drops_equals=True,
        source="gcloud 480 manual: list, describe and read",
        flags=_GCLOUD_FLAGS,
        subcommands={
            "compute instances|disks|networks|addresses|firewall-rules|forwarding-rules|images|machine-types|regions|routers|routes|"
            "snapshots|zones|instance-groups|instance-templates|backend-services|health-checks list|describe": "-*;N",
            "compute networks subnets list|describe": "-*;N",
            "container clusters|node-pools|images list|describe": "-*;N",
            "projects|organizations|services|functions|secrets|folders list|describe": "-*;N",
            "run services|revisions|jobs list|describe": "-*;N",
            "sql instances|databases|users|backups list|describe": "-*;N",
            "iam service-accounts|roles list|describe": "-*;N",
            "pubsub topics|subscriptions list|describe": "-*;N",
            "dns managed-zones|record-sets list|describe": "-*;N",
            "app versions|services|instances list|describe": "-*;N",
            "functions logs read": "-*;N",
            "logging read": Grammar(operands="-*;N"),
            "logging logs list": "-*;N",
            "auth list": "-*;R",
            "config list|get|get-value": "-*;R",
            "config configurations list|describe": "-*;R",
            "info": "-*;R",
        },
        alone="--version version --help -h",
    ),
)
