# ruff: noqa: E501 - an expression reads one line
"""Hazards of containers and virtual machines on this host."""

from execkit_mcp.model import Severity
from execkit_mcp.policy.hazards.shape import Hazard, Shape

HAZARDS = (
    Hazard(
        id="docker-prune",
        severity=Severity.HIGH,
        message="removes containers, images or volumes",
        shapes=(
            Shape(
                programs="nerdctl crictl buildah",
                anywhere=r"^(?:system prune|rm|rmi|rmp|volume (?:rm|prune)|image prune|stop|kill)\b",
            ),
            Shape(programs="docker podman", sub="compose rm|system reset|compose kill"),
            Shape(
                programs="docker podman",
                sub="system prune|volume prune|image prune|container prune|builder prune|network prune|volume rm|rm|rmi|container rm|image rm|network rm|compose down|stack rm|swarm leave|kill|stop",
            ),
        ),
        example="docker system prune -af",
        harmless="docker ps",
    ),
    Hazard(
        id="docker-privileged",
        severity=Severity.CRITICAL,
        message="gives a container the host",
        shapes=(
            Shape(
                programs="docker podman nerdctl",
                sub="run|create|container run|exec",
                flags="--privileged --cap-add --device --pid=host --net=host --network=host --ipc=host --userns=host",
            ),
            Shape(
                programs="docker podman nerdctl",
                anywhere=r"(?:-v|--volume|--mount)[ =]\S*(?:/:|/etc|/root|/var/run/docker|docker\.sock|source=/,|\.ssh|\.aws|\.kube)",
            ),
            Shape(programs="docker podman nerdctl", anywhere=r"--security-opt[ =]\S*(?:unconfined|disable|label=)"),
            Shape(programs="kubectl oc k", anywhere=r"^run\b.*--(?:privileged|overrides)"),
            Shape(programs="nsenter unshare chroot"),
        ),
        example="docker run --privileged ubuntu",
        harmless="docker run hello-world",
    ),
    Hazard(
        id="compose-down-volumes",
        severity=Severity.HIGH,
        message="removes the data volumes of a stack",
        shapes=(
            Shape(
                programs="docker podman docker-compose podman-compose", anywhere=r"\bdown\b.*\s(?:-v|--volumes|--rmi)\b"
            ),
            Shape(programs="docker-compose podman-compose", anywhere=r"\brm\b.*\s-\w*v"),
        ),
        example="docker compose down -v",
        harmless="docker compose ps",
    ),
    Hazard(
        id="swarm-change",
        severity=Severity.HIGH,
        message="changes what runs in a swarm",
        shapes=(
            Shape(
                programs="docker",
                sub="service rm|service update|service scale|service rollback|node rm|node update|stack rm|secret rm|config rm|swarm init|swarm join|swarm update",
            ),
        ),
        example="docker service rm web",
        harmless="docker service ls",
    ),
    Hazard(
        id="docker-remote",
        severity=Severity.MEDIUM,
        message="drives the containers of another machine",
        shapes=(
            Shape(
                programs="docker podman",
                flags="-H --host -c --context --url --connection --remote",
                anywhere=r"^(?:-H|--host|-c|--context|--url|--connection|--remote)\b",
            ),
            Shape(programs="docker", sub="context use|context create|context update"),
        ),
        example="docker -H tcp://192.0.2.1:2376 ps",
        harmless="docker ps",
    ),
    Hazard(
        id="vm-destroy",
        severity=Severity.HIGH,
        message="destroys a virtual machine or system container",
        shapes=(
            Shape(
                programs="virsh",
                anywhere=r"\b(?:destroy|undefine|reset|vol-delete|pool-delete|snapshot-delete|shutdown)\b",
            ),
            Shape(programs="lxc incus", anywhere=r"^(?:delete|stop|restore|rebuild)\b"),
            Shape(programs="lxc-destroy lxc-stop"),
            Shape(programs="machinectl", anywhere=r"^(?:remove|terminate|poweroff|kill|clean)\b"),
            Shape(programs="vagrant", anywhere=r"^(?:destroy|halt)\b"),
            Shape(programs="multipass", anywhere=r"^(?:delete|purge)\b"),
            Shape(programs="VBoxManage vboxmanage", anywhere=r"^(?:unregistervm|closemedium|controlvm)\b"),
            Shape(programs="qm pct", anywhere=r"^(?:destroy|stop|rollback)\b"),
        ),
        example="virsh destroy web-1",
        harmless="docker ps -a",
    ),
)
