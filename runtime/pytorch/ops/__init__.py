"""The operations, a module for each section of PyTorch's documentation.

All modules of this folder are imported with it, and importing one registers its operations.
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
