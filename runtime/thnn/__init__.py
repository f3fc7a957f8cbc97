"""The backend of nn: the functions of THNN's header, one module for each family of layers.

nn's Lua files call them with pointers to C structs, which ``lua/thnn/door.lua`` turns into tensors.
Each module adds rows to the table when it is imported here.
"""

from __future__ import annotations

from runtime.thnn import activations, criterions, lookup, softmax

__all__ = ["ROWS_ADDED", "activations", "criterions", "lookup", "softmax"]

#: That the modules are imported, and the table is complete.
ROWS_ADDED = True
