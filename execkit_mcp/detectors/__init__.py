"""Adapters for other people's detectors, asked behind our own prefilter."""

from execkit_mcp.detectors.detect_secrets import DetectSecrets

__all__ = ["DetectSecrets"]
