"""torch.backends, of which there is mps."""

from runtime.pytorch.backends import mps

__all__ = ["mps"]
