"""torch.utils.backcompat: warnings of what older versions of PyTorch computed in another way."""

from __future__ import annotations

from th_shell.torch.base.warn import OptionalWarning, warn_of_broadcast

#: Set its ``enabled`` to be warned of shapes that older versions did not broadcast.
broadcast_warning = warn_of_broadcast
#: Its ``enabled`` has no effect, as in PyTorch 2: all reductions have keepdim=False.
keepdim_warning = OptionalWarning()
