"""torch.backends, of which there is mps."""

from th_shell.torch.backends import mps

__all__ = ["mps"]
