"""torch.return_types: the classes of named results, by the names of the operations."""

from th_shell.torch.base.results import RESULTS, all_return_types

__all__ = ["all_return_types"]

globals().update(RESULTS)
