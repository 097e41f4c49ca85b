"""Adapters for other people's detectors, asked behind our own prefilter."""

from execkit_mcp.detectors.detect_secrets import DetectSecrets
from execkit_mcp.detectors.registry import create_detectors, detector_names

__all__ = ["DetectSecrets", "create_detectors", "detector_names"]
