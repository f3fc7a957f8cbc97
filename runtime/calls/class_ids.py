"""Class ids: the numbers by which Python tells Lua the class of an object that it returns.

Lua needs them before any of the classes is loaded: so they are here by names, and in `results.py`
by classes.
"""

from __future__ import annotations

#: The ids of the first tensor class, the first storage class, and the first of the other classes;
#: 0 stands for a value without class.
FIRST_TENSOR, FIRST_STORAGE, FIRST_OTHER = 1, 21, 41

#: The names of the other classes, in the order of their ids.
OTHERS = ("torch.Generator", "torch.DiskFile", "torch.MemoryFile", "torch.PipeFile")
