"""Bytes to bounded clean text: decode, terminal clean-up, retention, budget and the chain that joins them."""

from execkit_mcp.output.budget import view
from execkit_mcp.output.chain import OutputChain
from execkit_mcp.output.retained import Matches, RetainedText, Slice

__all__ = ["Matches", "OutputChain", "RetainedText", "Slice", "view"]
