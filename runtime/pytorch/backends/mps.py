"""torch.backends.mps of a machine without Apple's GPU."""


def is_available() -> bool:
    """Tell whether there is a GPU of Apple's that tensors can be on: never."""
    return False


is_built = is_available
