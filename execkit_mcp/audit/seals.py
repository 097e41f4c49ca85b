"""Seals: a signed statement of how far a segment reaches, which nobody can make without the private key.

``audit-000001.seal`` stands beside the segment, one line of JSON with an Ed25519 signature (RFC 8032) over the rest of
it. It is written when the segment is full, and for the newest one whenever a writer closes. The chain's hash in it
speaks for every byte up to there, so what stood in the log when it was sealed cannot be cut, edited or exchanged by
somebody who can write the folder, head file included. The key pair is made with the log; keep a copy of the public
key elsewhere (``audit key``): whoever replaces both keys is found with it.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Self

from msgspec import Struct

from execkit_mcp.audit.chain import Broken, Head, Seal
from execkit_mcp.errors import StorageUnavailable
from execkit_mcp.storage.folder import check_private_file, create_private_file, sync_folder

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

__all__ = [
    "KEY_NAME",
    "PUBLIC_NAME",
    "Signer",
    "fingerprint",
    "is_complete",
    "parse_seal",
    "public_key_in",
    "seal_name",
]

KEY_NAME = "signing.key"
PUBLIC_NAME = "signing.pub"
_CONTEXT = b"execkit audit seal 1\n"
_MAX_BYTES = 1 << 16


def seal_name(number: int) -> str:
    """The file name of the seal of segment ``number``."""
    return f"audit-{number:06d}.seal"


class Signer(Struct, frozen=True, kw_only=True):
    """Who seals: the private key of one folder."""

    folder: Path
    key_id: str

    @classmethod
    def open(cls, folder: Path) -> Self:
        """The signer of ``folder``; a key pair is made if it has none.

        Raises:
            StorageUnavailable: the private key is gone, or no key.
            ConfigPermissions: others may have written it.
        """
        if not os.path.lexists(folder / KEY_NAME):
            _make_keys(folder)
        check_private_file(folder / KEY_NAME)
        if not os.path.lexists(folder / PUBLIC_NAME):  # it was stopped between the two
            _write(folder / PUBLIC_NAME, _public_pem(_private_key(folder / KEY_NAME)))
        return cls(folder=folder, key_id=fingerprint(public_key_in(folder / PUBLIC_NAME)))

    def seal(self, head: Head, *, is_final: bool, time: str) -> None:
        """Put the seal of the segment in which ``head`` stands beside it, if it reaches further than the one there."""
        path = self.folder / seal_name(head.segment)
        fields = {
            "log": head.log,
            "segment": head.segment,
            "seq": head.seq,
            "hash": head.hash,
            "bytes": head.end,
            "final": is_final,
            "time": time,
            "key": self.key_id,
        }
        try:
            there = json.loads(path.read_bytes())
            if (there["seq"], there["final"]) >= (head.seq, is_final) and there["log"] == head.log:
                return
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            pass  # there is none, or none that could be meant
        signature = _private_key(self.folder / KEY_NAME).sign(_signed(fields)).hex()
        _write(path, json.dumps({**fields, "signature": signature}, separators=(",", ":")).encode() + b"\n")


def is_complete(folder: Path, number: int) -> bool:
    """Whether a segment's seal says that nothing follows in it; whether that is true is for ``verify``."""
    try:
        return json.loads((folder / seal_name(number)).read_bytes())["final"] is True
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def parse_seal(data: bytes, public: "Ed25519PublicKey", public_id: str) -> Seal:
    """The seal; Broken unless this key has signed every field of it."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - 30 ms

    try:
        fields = json.loads(data)
        signature = bytes.fromhex(fields.pop("signature"))
        seal = Seal(
            log=fields["log"], segment=fields["segment"], seq=fields["seq"], hash=fields["hash"],
            end=fields["bytes"], is_final=fields["final"], key=fields["key"],
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Broken("the seal cannot be read") from error
    if seal.key != public_id:
        raise Broken(f"the seal was made with another key ({str(seal.key)[:16]}, not {public_id})")
    try:
        public.verify(signature, _signed(fields))
    except InvalidSignature as error:
        raise Broken("the seal was edited: its signature does not fit") from error
    return seal


def public_key_in(path: Path) -> "Ed25519PublicKey":
    """The public key in the PEM file ``path``.

    Raises:
        StorageUnavailable: there is none.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415 - 30 ms
    from cryptography.hazmat.primitives.serialization import load_pem_public_key  # noqa: PLC0415

    try:
        key = load_pem_public_key(_bytes_of(path))
    except ValueError as error:
        raise _unusable(path, "it is not a public key") from error
    if not isinstance(key, Ed25519PublicKey):
        raise _unusable(path, "it is not an Ed25519 key")
    return key


def fingerprint(key: "Ed25519PublicKey") -> str:
    """A short name for a public key."""
    return hashlib.sha256(key.public_bytes_raw()).hexdigest()[:32]


def _make_keys(folder: Path) -> None:
    """Write a new pair; its caller holds the log's lock."""
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - 30 ms
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

    if os.path.lexists(folder / PUBLIC_NAME):
        raise StorageUnavailable(
            f"The key that seals the audit log, {folder / KEY_NAME}, is gone, and its public half is still there.",
            hint=f"Put it back; or, to go on with a new key, move {PUBLIC_NAME} away and keep it for the old seals.",
        )
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    _write(folder / KEY_NAME, private)
    _write(folder / PUBLIC_NAME, _public_pem(key))


def _private_key(path: Path) -> "Ed25519PrivateKey":
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415 - 30 ms
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415

    try:
        key = load_pem_private_key(_bytes_of(path), password=None)
    except (ValueError, TypeError) as error:
        raise _unusable(path, "it is not a private key") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise _unusable(path, "it is not an Ed25519 key")
    return key


def _public_pem(key: "Ed25519PrivateKey") -> bytes:
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - 30 ms

    return key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def _write(path: Path, data: bytes) -> None:
    """Make a file that is either whole or not there."""
    passing = path.with_name(f".{path.name}.{os.getpid()}")
    passing.unlink(missing_ok=True)
    create_private_file(passing)
    with passing.open("r+b") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    passing.replace(path)
    sync_folder(path.parent)


def _signed(fields: Mapping[str, object]) -> bytes:
    return _CONTEXT + json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()


def _bytes_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_BYTES)
    except OSError as error:
        raise _unusable(path, error.strerror or str(error)) from error


_KEY_HINT = "A log's own key is made with its first entry; a copy is what `execkit-mcp audit key` printed there."


def _unusable(path: Path, why: str) -> StorageUnavailable:
    return StorageUnavailable(f"The key {path} cannot be used: {why}.", hint=_KEY_HINT)
