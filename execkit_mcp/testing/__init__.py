"""What a test of code built on execkit-mcp needs: time and chance under command."""

from execkit_mcp.testing.clock import FakeClock, FakeEntropy

__all__ = ["FakeClock", "FakeEntropy"]
