# ruff: noqa: E501 - an expression reads one line
"""Hazards of clusters: workloads removed or disturbed, secrets read, rights handed out."""

from execkit_mcp.model import Severity
from execkit_mcp.policy.hazards.shape import Hazard, Shape

_KUBECTL = "kubectl oc k"

HAZARDS = (
    Hazard(
        id="kubectl-delete",
        severity=Severity.HIGH,
        message="removes or disturbs what runs in a cluster",
        shapes=(
            Shape(
                programs="kubectl oc k",
                sub="delete|drain|cordon|taint|scale|replace|rollout undo|rollout restart|patch|apply|evict|edit|set|label|annotate|uncordon",
            ),
            Shape(programs="helm", sub="uninstall|delete|rollback|upgrade"),
        ),
        example="kubectl delete pod web-1",
        harmless="kubectl get pods",
    ),
    Hazard(
        id="kube-delete-broad",
        severity=Severity.CRITICAL,
        message="removes a namespace, volumes or everything of a kind",
        shapes=(
            Shape(programs=_KUBECTL, sub="delete", flags="--all --all-namespaces -A"),
            Shape(
                programs=_KUBECTL,
                anywhere=r"(?:^|\s)delete\s+(?:-\S+\s+)*(?:\S+,)?(?:ns|namespaces?|pvc?|persistentvolume(?:claim)?s?|crds?|customresourcedefinitions?|nodes?)(?:[/,\s]|$)",
            ),
            Shape(programs="helm", anywhere=r"^uninstall\b.*--no-hooks"),
        ),
        example="kubectl delete namespace shop",
        harmless="kubectl delete pod web-1",
    ),
    Hazard(
        id="kube-exec",
        severity=Severity.MEDIUM,
        message="goes into a running container",
        shapes=(Shape(programs=_KUBECTL, sub="exec|attach|debug|cp|rsh|rsync"),),
        example="kubectl exec web-1 -- ls",
        harmless="kubectl logs web-1",
    ),
    Hazard(
        id="kube-secrets",
        severity=Severity.HIGH,
        message="reads the secrets of a cluster",
        shapes=(
            Shape(
                programs=_KUBECTL,
                anywhere=r"(?:^|\s)(?:get|describe|edit|extract)\s+(?:-\S+\s+)*(?:\S+,)?(?:secrets?|sealedsecrets?)(?:[/,\s]|$)",
            ),
            Shape(programs=_KUBECTL, anywhere=r"(?:^|\s)create\s+token\b"),
            Shape(programs=_KUBECTL, anywhere=r"(?:^|\s)config\s+view\b.*--raw"),
        ),
        example="kubectl get secrets -o yaml",
        harmless="kubectl get pods -o yaml",
    ),
    Hazard(
        id="kube-rbac",
        severity=Severity.HIGH,
        message="hands out rights in a cluster",
        shapes=(
            Shape(
                programs=_KUBECTL,
                anywhere=r"(?:^|\s)(?:create|set|delete|edit|patch)\s+(?:cluster)?role(?:binding)?s?\b",
            ),
            Shape(
                programs=_KUBECTL,
                anywhere=r"(?:^|\s)(?:create|delete)\s+serviceaccounts?\b|\bset\s+(?:subject|serviceaccount)\b|\bcertificate\s+(?:approve|deny)\b|\bauth\s+reconcile\b",
            ),
            Shape(programs="oc", anywhere=r"\badm\s+policy\b"),
        ),
        example="kubectl create clusterrolebinding x --clusterrole=cluster-admin --user=u",
        harmless="kubectl auth can-i get pods",
    ),
    Hazard(
        id="kube-context",
        severity=Severity.MEDIUM,
        message="changes which cluster later commands reach",
        shapes=(
            Shape(
                programs=_KUBECTL,
                sub="config use-context|config set-context|config delete-context|config set-credentials|config set-cluster|config delete-cluster|config set|config unset|config rename-context",
            ),
            Shape(programs="kubectx kubens", operand=r".+"),
        ),
        example="kubectl config use-context prod",
        harmless="kubectl config current-context",
    ),
    Hazard(
        id="kube-scale-to-zero",
        severity=Severity.HIGH,
        message="switches a workload off",
        shapes=(Shape(programs=_KUBECTL, sub="scale", anywhere=r"--replicas[= ]0\b"),),
        example="kubectl scale deployment web --replicas=0",
        harmless="kubectl scale deployment web --replicas=3",
    ),
    Hazard(
        id="kube-expose",
        severity=Severity.HIGH,
        message="opens a cluster to others",
        shapes=(
            Shape(programs=_KUBECTL, sub="expose|proxy"),
            Shape(programs=_KUBECTL, sub="port-forward", flags="--address"),
        ),
        example="kubectl port-forward --address 0.0.0.0 svc/web 80",
        harmless="kubectl port-forward svc/web 8080:80",
    ),
    Hazard(
        id="gitops-delete",
        severity=Severity.HIGH,
        message="removes what a delivery tool keeps running",
        shapes=(
            Shape(
                programs="argocd",
                anywhere=r"^(?:app|appset|cluster|repo|proj) (?:delete|rm|remove|terminate-op)\b|--prune",
            ),
            Shape(programs="istioctl linkerd velero cilium", anywhere=r"\b(?:uninstall|delete)\b"),
            Shape(programs="flux", anywhere=r"^(?:delete|uninstall|suspend)\b"),
            Shape(programs="kustomize helmfile", anywhere=r"\b(?:destroy|delete)\b"),
        ),
        example="argocd app delete shop",
        harmless="argocd app list",
    ),
    Hazard(
        id="etcd-delete",
        severity=Severity.CRITICAL,
        message="changes the memory of a cluster",
        shapes=(
            Shape(
                programs="etcdctl etcdutl",
                anywhere=r"\b(?:del|put|restore|member|auth|role|user|defrag|compact\w*|move-leader)\b",
            ),
        ),
        example="etcdctl del /registry --prefix",
        harmless="etcdctl get /registry --keys-only",
    ),
)
