"""torch.version: the version of PyTorch whose behaviour the package has."""

__all__ = ["__version__", "cuda"]

__version__ = "2.15.0"
cuda = None
