"""torch.backends of a machine without GPUs, of which there are mps and cuda."""

from types import SimpleNamespace

__path__: list[str] = []  # names that it lacks are looked for as modules, and told of


def _is_available() -> bool:
    """Tell whether there is a GPU that tensors can be on: never."""
    return False


#: Apple's GPU.
mps = SimpleNamespace(is_available=_is_available, is_built=_is_available)
