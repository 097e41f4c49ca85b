# ruff: noqa: E501 - an expression reads one line
"""Hazards of disks: devices overwritten, formatted, repartitioned, file systems repaired in place."""

from execkit_mcp.model import Severity
from execkit_mcp.policy.hazards.names import DISK
from execkit_mcp.policy.hazards.shape import Hazard, Shape

HAZARDS = (
    Hazard(
        id="disk-overwrite",
        severity=Severity.CRITICAL,
        message="writes over a disk",
        shapes=(
            Shape(programs="dd", anywhere=rf"\bof={DISK}"),
            Shape(programs="shred wipefs blkdiscard", operand=DISK),
            Shape(programs="tee cp cat", writes=DISK),
        ),
        writes=DISK,
        example="dd if=/dev/zero of=/dev/sda",
        harmless="dd if=/dev/zero of=disk.img",
    ),
    Hazard(
        id="mkfs",
        severity=Severity.CRITICAL,
        message="formats a file system",
        shapes=(Shape(programs="mkfs mkfs.* mke2fs mkswap newfs"),),
        example="mkfs.ext4 /dev/sdb1",
        harmless="lsblk /dev/sdb1",
    ),
    Hazard(
        id="partition",
        severity=Severity.CRITICAL,
        message="changes partitions or volumes",
        shapes=(
            Shape(programs="fdisk sfdisk cfdisk parted sgdisk gdisk lvremove vgremove pvremove mdadm cryptsetup"),
            Shape(programs="zpool zfs", anywhere=r"^(?!(?:status|list|iostat|get|holds|history|version)(?:\s|$))."),
        ),
        example="parted /dev/sda rm 1",
        harmless="lsblk",
    ),
    Hazard(
        id="disk-wipe",
        severity=Severity.CRITICAL,
        message="wipes a device",
        shapes=(
            Shape(programs="wipefs", flags="-a --all -o --offset"),
            Shape(programs="blkdiscard", operand=r".+"),
            Shape(programs="diskutil", anywhere=r"^(?:erase|partition|zero|random|secureErase|apfs delete)"),
            Shape(programs="hdparm", anywhere=r"--(?:security-erase|trim-sector|make-bad-sector|write-sector)"),
            Shape(programs="nvme", anywhere=r"^(?:format|sanitize|delete-ns|write)\b"),
        ),
        example="wipefs -a /dev/sdb",
        harmless="lsblk -f",
    ),
    Hazard(
        id="luks-erase",
        severity=Severity.CRITICAL,
        message="destroys the keys of an encrypted disk",
        shapes=(
            Shape(
                programs="cryptsetup",
                anywhere=r"\b(?:luksErase|erase|luksKillSlot|luksRemoveKey|luksFormat|reencrypt)\b",
            ),
        ),
        example="cryptsetup luksErase /dev/sdb",
        harmless="lsblk /dev/sdb",
    ),
    Hazard(
        id="volume-resize",
        severity=Severity.HIGH,
        message="changes the size of a volume or file system",
        shapes=(
            Shape(programs="resize2fs lvreduce lvresize lvextend vgreduce xfs_growfs fatresize"),
            Shape(programs="btrfs", anywhere=r"^filesystem resize\b"),
        ),
        example="resize2fs /dev/vg0/data 10G",
        harmless="df -h",
    ),
    Hazard(
        id="filesystem-repair",
        severity=Severity.HIGH,
        message="rewrites a file system in place",
        shapes=(
            Shape(programs="xfs_repair badblocks tune2fs debugfs e2image"),
            Shape(programs="fsck fsck.* e2fsck", anywhere=r"(?:^|\s)-\w*[ayfpc]"),
            Shape(programs="btrfs", anywhere=r"^(?:check --repair|rescue)\b"),
        ),
        example="fsck.ext4 -y /dev/sdb1",
        harmless="findmnt /dev/sdb1",
    ),
    Hazard(
        id="snapshot-delete",
        severity=Severity.HIGH,
        message="removes snapshots or data sets",
        shapes=(
            Shape(programs="btrfs", anywhere=r"^subvolume delete\b"),
            Shape(programs="zfs", anywhere=r"^(?:destroy|rollback)\b"),
            Shape(programs="snapper", anywhere=r"\b(?:delete|undochange|rollback)\b"),
            Shape(programs="timeshift", anywhere=r"--delete"),
            Shape(programs="restic borg", anywhere=r"\b(?:forget|prune|delete)\b"),
        ),
        example="zfs destroy tank/data@monday",
        harmless="df -T",
    ),
    Hazard(
        id="boot-loader",
        severity=Severity.CRITICAL,
        message="changes how the machine starts",
        shapes=(
            Shape(
                programs="grub-install grub2-install update-grub grub-mkconfig grub2-mkconfig efibootmgr lilo extlinux mkinitcpio dracut update-initramfs"
            ),
            Shape(programs="bootctl", anywhere=r"^(?:install|remove|set-default|update)\b"),
        ),
        writes=r"/boot(?:/.*)?|/etc/default/grub",
        example="grub-install /dev/sda",
        harmless="ls /boot",
    ),
)
