# ruff: noqa: E501 - an expression reads one line
"""Hazards of cloud accounts and of what drives many machines at once."""

from execkit_mcp.model import Severity
from execkit_mcp.policy.hazards.shape import Hazard, Shape

HAZARDS = (
    Hazard(
        id="terraform-destroy",
        severity=Severity.CRITICAL,
        message="removes infrastructure",
        shapes=(
            Shape(
                programs="terraform tofu terragrunt",
                sub="destroy|apply|taint|state rm|workspace delete|force-unlock|import",
            ),
            Shape(programs="pulumi", sub="destroy|up|stack rm"),
            Shape(programs="cdk", sub="destroy|deploy"),
            Shape(programs="terragrunt", sub="run-all destroy|run-all apply"),
            Shape(programs="sam serverless sls", sub="delete|remove"),
            Shape(
                programs="eksctl kops kind k3d minikube rke linode-cli hcloud scw oci ibmcloud bq s3cmd",
                anywhere=r"\b(?:delete|remove|terminate|rm|rb|del)\b",
            ),
            Shape(programs="kubeadm microk8s", sub="reset"),
            Shape(programs="k3s-uninstall.sh k3s-agent-uninstall.sh rke2-uninstall.sh"),
        ),
        example="terraform destroy",
        harmless="terraform plan",
    ),
    Hazard(
        id="cloud-delete",
        severity=Severity.HIGH,
        message="removes something in a cloud account",
        shapes=(
            Shape(
                programs="aws gcloud az heroku fly flyctl vercel netlify doctl gsutil gh firebase vault consul nomad",
                anywhere=r"(?:^|[\s:-])(?:delete|destroy|terminate|remove|rm|rb|purge|deregister|detach|revoke|reset|drop|disable|unset|stop|leave|schedule-key-deletion|reboot|cancel|seal)\S*",
            ),
        ),
        example="aws s3 rb s3://bucket",
        harmless="aws s3 ls",
    ),
    Hazard(
        id="terraform-state",
        severity=Severity.HIGH,
        message="changes what the tool believes to exist",
        shapes=(
            Shape(
                programs="terraform tofu terragrunt",
                anywhere=r"^(?:state (?:mv|rm|push|replace-provider)|untaint|refresh)\b",
            ),
            Shape(programs="pulumi", anywhere=r"^(?:state (?:delete|edit|rename|move)|stack import|import|cancel)\b"),
        ),
        example="terraform state mv a b",
        harmless="terraform state list",
    ),
    Hazard(
        id="cloud-bucket-empty",
        severity=Severity.CRITICAL,
        message="removes everything in a bucket",
        shapes=(
            Shape(programs="aws", anywhere=r"\bs3 (?:rm\b.*--recursive|rb\b.*--force)"),
            Shape(programs="gsutil", anywhere=r"\b(?:rm\b.*\s-\w*[rR]|rb)\b"),
            Shape(programs="gcloud", anywhere=r"\bstorage (?:rm|buckets delete)\b"),
            Shape(programs="az", anywhere=r"\bstorage blob delete-batch\b"),
            Shape(programs="rclone", sub="purge|delete"),
            Shape(programs="mc", anywhere=r"^(?:rm\b.*--recursive|rb)\b"),
        ),
        example="aws s3 rm s3://bucket --recursive",
        harmless="aws s3 ls s3://bucket",
    ),
    Hazard(
        id="cloud-identity",
        severity=Severity.HIGH,
        message="hands out rights in a cloud account",
        shapes=(
            Shape(programs="aws", anywhere=r"\biam (?:create|attach|put|add|update|upload|set|enable)-"),
            Shape(
                programs="gcloud",
                anywhere=r"\b(?:add-iam-policy-binding|set-iam-policy|iam (?:service-accounts|roles) (?:create|update|keys create))\b",
            ),
            Shape(programs="gsutil", anywhere=r"\b(?:iam|acl) (?:ch|set)\b"),
            Shape(
                programs="az",
                anywhere=r"\b(?:role assignment|ad (?:sp|user|app|group)) (?:create|update|credential|member)",
            ),
        ),
        example="aws iam attach-user-policy --user-name u --policy-arn a",
        harmless="aws iam list-users",
    ),
    Hazard(
        id="cloud-public",
        severity=Severity.HIGH,
        message="opens something in a cloud to everyone",
        shapes=(
            Shape(
                programs="aws",
                anywhere=r"\b(?:put-bucket-(?:acl|policy|website)|put-object-acl|put-public-access-block|authorize-security-group-ingress|modify-(?:image|snapshot)-attribute|add-permission)\b|--acl[= ]public",
            ),
            Shape(programs="gcloud", anywhere=r"\bfirewall-rules (?:create|update)\b|\ballUsers\b"),
            Shape(programs="gsutil", anywhere=r"\b(?:allUsers|public-read)\b"),
            Shape(programs="az", anywhere=r"--public-access|\bnsg rule (?:create|update)\b"),
        ),
        example="aws s3 cp x s3://bucket/x --acl public-read",
        harmless="aws s3api get-bucket-acl --bucket b",
    ),
    Hazard(
        id="cloud-spend",
        severity=Severity.MEDIUM,
        message="starts what costs money",
        shapes=(
            Shape(
                programs="aws",
                anywhere=r"\b(?:run-instances|request-spot\S*|purchase-\S+|create-(?:db-instance|db-cluster|cluster|nodegroup|nat-gateway|fleet|auto-scaling-group))\b",
            ),
            Shape(programs="gcloud", anywhere=r"\b(?:instances|clusters|node-pools) (?:create|resize)\b"),
            Shape(programs="az", anywhere=r"\b(?:vm|vmss|aks|sql server) create\b"),
            Shape(programs="doctl", anywhere=r"\b(?:droplet|cluster|kubernetes) create\b"),
            Shape(programs="eksctl", anywhere=r"^(?:create|scale)\b"),
        ),
        example="aws ec2 run-instances --image-id i",
        harmless="aws ec2 describe-instances",
    ),
    Hazard(
        id="cloud-dns",
        severity=Severity.HIGH,
        message="changes where names lead",
        shapes=(
            Shape(programs="aws", anywhere=r"\b(?:change-resource-record-sets|update-domain-nameservers)\b"),
            Shape(
                programs="gcloud",
                anywhere=r"\bdns (?:record-sets|managed-zones) \S*(?:transaction|create|update|delete)",
            ),
            Shape(programs="az", anywhere=r"\bdns (?:zone|record-set) .*(?:create|update|add|set)"),
        ),
        example="aws route53 change-resource-record-sets --hosted-zone-id z",
        harmless="aws route53 list-hosted-zones",
    ),
    Hazard(
        id="many-machines",
        severity=Severity.HIGH,
        message="changes many machines at once",
        shapes=(
            Shape(
                programs="ansible-playbook", without="-C --check --syntax-check --list-hosts --list-tasks --list-tags"
            ),
            Shape(programs="ansible", flags="-m --module-name -a --args"),
            Shape(programs="salt salt-ssh pssh parallel-ssh pdsh clush knife mco dsh cssh"),
            Shape(programs="puppet", sub="apply|agent"),
            Shape(programs="chef-client chef-solo"),
            Shape(programs="aws", anywhere=r"\bssm (?:send-command|start-session|start-automation-execution)\b"),
        ),
        example="ansible-playbook site.yml",
        harmless="ansible-playbook --check site.yml",
    ),
    Hazard(
        id="platform-deploy",
        severity=Severity.MEDIUM,
        message="puts a new version before its users",
        shapes=(
            Shape(programs="vercel netlify", anywhere=r"--prod\b"),
            Shape(
                programs="make gmake just task npm yarn pnpm rake nox tox invoke fab",
                operand=r"(?:.*[-_:])?(?:deploy|publish|release|promote|destroy)(?:[-_:].*)?",
            ),
            Shape(programs="fly flyctl", anywhere=r"^(?:deploy|scale|machine (?:update|run))\b"),
            Shape(programs="heroku", anywhere=r"^(?:releases:rollback|ps:scale|run|config:set|pg:(?:promote|copy))"),
            Shape(programs="gcloud", anywhere=r"\b(?:app|run|functions) deploy\b"),
            Shape(
                programs="aws",
                anywhere=r"\b(?:update-function-code|update-service|create-deployment|update-stack|deploy push)\b",
            ),
            Shape(programs="serverless sls cap", anywhere=r"\b(?:deploy|remove)\b"),
            Shape(programs="firebase wrangler", anywhere=r"^(?:deploy|publish|delete|secret)\b"),
        ),
        example="fly deploy",
        harmless="fly status",
    ),
)
