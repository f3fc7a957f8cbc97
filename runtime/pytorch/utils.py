"""torch.utils, of which there is backcompat: warnings of what older versions did in another way."""

from types import SimpleNamespace

from th_shell.torch.base.warn import OptionalWarning, warn_of_broadcast

__path__: list[str] = []  # names that it lacks are looked for as modules, and told of

#: Programs set a warning's ``enabled``. broadcast_warning tells of shapes that older versions did
#: not broadcast; keepdim_warning has no effect, as in PyTorch 2: all reductions have keepdim=False.
backcompat = SimpleNamespace(broadcast_warning=warn_of_broadcast, keepdim_warning=OptionalWarning())
