"""The record that shows tampering: a hash chain, its one writer, and its verification."""

from execkit_mcp.audit.chain import Entry, Head, Problem, Report, Segment, verify
from execkit_mcp.audit.folder import read_segments, verify_folder
from execkit_mcp.audit.writer import AuditLog

__all__ = [
    "AuditLog",
    "Entry",
    "Head",
    "Problem",
    "Report",
    "Segment",
    "read_segments",
    "verify",
    "verify_folder",
]
