"""torch.utils, of which there are backcompat and dlpack."""

from th_shell.torch.utils import backcompat, dlpack

__all__ = ["backcompat", "dlpack"]
