"""Hazards of persistence: what is written now and runs later, unasked."""

from execkit_mcp.model import Severity
from execkit_mcp.policy.hazards.shape import Hazard, Shape

HAZARDS = (
    Hazard(
        id="startup-file",
        severity=Severity.HIGH,
        message="changes what runs at every login",
        writes=r".*/\.(?:bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zshenv|zprofile|inputrc|vimrc|gitconfig|npmrc|xprofile|xinitrc)|.*/\.config/(?:autostart|systemd|fish)/.*",
        example="tee ~/.bashrc",
        harmless="cat ~/.bashrc",
    ),
    Hazard(
        id="cron",
        severity=Severity.HIGH,
        message="changes what runs later",
        shapes=(
            Shape(programs="crontab", flags="-r -e -i"),
            Shape(programs="crontab", operand=r".+"),
            Shape(programs="at batch"),
        ),
        writes=r"/etc/cron.*|/var/spool/cron/.*",
        example="crontab -r",
        harmless="crontab -l",
    ),
    Hazard(
        id="authorized-keys",
        severity=Severity.CRITICAL,
        message="changes who may log in by key",
        writes=r".*/\.ssh(?:/.*)?",
        example="tee ~/.ssh/authorized_keys",
        harmless="ls src",
    ),
    Hazard(
        id="git-internals",
        severity=Severity.HIGH,
        message="changes hooks or configuration that git executes",
        shapes=(Shape(programs="ln cp", flags="-s", reads=r".*/\.git(?:/.*)?"),),  # by another name
        # the last two: patterns that could match them
        writes=r".*/\.git(?:/(?:(?:hooks|info|modules|worktrees|objects/info)(?:/.*)?|config.*|commondir|gitdir))?"
        r"|.*/\.git(?:modules|attributes)"
        r"|.*/(?:\.husky/.*|\.pre-commit-config\.yaml|\.?lefthook(?:-local)?\.ya?ml)"
        r"|.*/\.git/[^/]*[*?\[].*|.*/\.(?:g[^/]*[*?\[]|[*?\[])[^/]*/.*",
        example="tee .git/hooks/pre-commit",
        harmless="ls .git/hooks",
    ),
    Hazard(
        id="systemd-unit",
        severity=Severity.HIGH,
        message="makes the service manager run something later",
        shapes=(
            Shape(
                programs="systemctl",
                sub="enable|link|edit|set-default|preset|reenable|add-wants|add-requires|import-environment|set-environment",
            ),
            Shape(
                programs="systemctl", sub="start|restart|reload-or-restart|try-restart|enable", operand=r"\.{0,2}/.*"
            ),
            Shape(programs="systemd-run", anywhere=r"."),
            Shape(programs="loginctl", sub="enable-linger"),
            Shape(programs="update-rc.d chkconfig rc-update", anywhere=r"."),
        ),
        writes=r"(?:/etc|/run|/usr/lib|/lib|.*/\.config|.*/\.local/share)/systemd/.*|/etc/init\.d/.*|/etc/rc\.local",
        example="systemctl enable web.service",
        harmless="systemctl is-enabled web.service",
    ),
    Hazard(
        id="boot-configuration",
        severity=Severity.HIGH,
        message="changes what runs when the machine starts",
        writes=r"/etc/(?:modules(?:-load\.d/.*)?|modprobe\.d/.*|fstab|crypttab|inittab|rc\d?\.d/.*|sysctl\.(?:conf|d/.*)|dracut\.conf.*|initramfs-tools/.*|grub\.d/.*|tmpfiles\.d/.*|binfmt\.d/.*)",
        example="tee /etc/fstab",
        harmless="cat /etc/fstab",
    ),
    Hazard(
        id="device-rule",
        severity=Severity.HIGH,
        message="runs something when a device appears",
        writes=r"(?:/etc|/lib|/usr/lib|/run)/udev/.*",
        shapes=(Shape(programs="udevadm", sub="control|trigger"),),
        example="tee /etc/udev/rules.d/99-x.rules",
        harmless="udevadm info /dev/null",
    ),
    Hazard(
        id="ssh-daemon",
        severity=Severity.CRITICAL,
        message="changes who may log in over the network",
        writes=r"/etc/ssh/(?:sshd_config.*|ssh_host_.*|authorized_keys.*|.*\.pub)",
        example="tee /etc/ssh/sshd_config",
        harmless="cat /etc/ssh/sshd_config",
    ),
    Hazard(
        id="ssh-key-spread",
        severity=Severity.HIGH,
        message="lets a key in on another machine",
        shapes=(Shape(programs="ssh-copy-id"), Shape(programs="ssh-import-id ssh-import-id-gh")),
        example="ssh-copy-id host.example.com",
        harmless="ssh-keygen -l -f key.pub",
    ),
    Hazard(
        id="agent-configuration",
        severity=Severity.HIGH,
        message="changes what an assistant or editor runs",
        writes=r".*/(?:\.mcp\.json|\.claude/settings[^/]*\.json|\.claude/(?:hooks|commands)/.*|\.claude\.json|\.cursor/(?:mcp\.json|rules/.*|hooks\.json)|\.cursorrules|\.github/copilot-instructions\.md|\.codex/config\.toml|\.gemini/settings\.json|\.vscode/(?:tasks|launch|settings|mcp)\.json|\.envrc|\.devcontainer/.*|\.idea/runConfigurations/.*)",
        example="tee .mcp.json",
        harmless="cat .mcp.json",
    ),
    Hazard(
        id="build-server",
        severity=Severity.MEDIUM,
        message="changes what the build server runs",
        writes=r".*/(?:\.github/(?:workflows|actions)/.*|\.gitlab-ci\.ya?ml|Jenkinsfile|\.circleci/.*|azure-pipelines\.ya?ml|bitbucket-pipelines\.ya?ml|\.buildkite/.*|\.drone\.ya?ml)",
        example="tee .github/workflows/ci.yml",
        harmless="cat .github/workflows/ci.yml",
    ),
    Hazard(
        id="web-root-script",
        severity=Severity.HIGH,
        message="puts a program where a web server runs it",
        writes=r"/(?:var/www|srv/www|srv/http|usr/share/nginx|var/lib/tomcat\d*)/.*\.(?:php\d?|phtml|jspx?|aspx?|cgi|pl|py|war)",
        example="tee /var/www/html/x.php",
        harmless="tee /var/www/html/index.html",
    ),
    Hazard(
        id="launch-agent",
        severity=Severity.HIGH,
        message="makes the system run something later",
        shapes=(Shape(programs="launchctl", sub="load|bootstrap|enable|submit|kickstart"),),
        writes=r"(?:.*/)?Library/Launch(?:Agents|Daemons)/.*|.*/\.config/autostart/.*|/etc/xdg/autostart/.*",
        example="tee ~/Library/LaunchAgents/x.plist",
        harmless="ls ~/Library",
    ),
)
