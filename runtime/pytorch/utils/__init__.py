"""torch.utils, of which there are backcompat and dlpack."""

from runtime.pytorch.utils import backcompat, dlpack

__all__ = ["backcompat", "dlpack"]
