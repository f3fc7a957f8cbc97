"""The two extension modules of scipy with LAPACK, loaded without the rest of scipy.

``import scipy.linalg`` runs two hundred modules that nothing here uses, which takes ten times as
long: a user waits for it at the first inverse, and th-docs in many of its runs.
"""

from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, FileFinder
from importlib.util import find_spec, module_from_spec
from types import ModuleType

from th_shell.runtime.compute.blas_threads import one_thread_at_load


@cache
def lapack_module(name: str) -> ModuleType:
    """Return an extension module of scipy.linalg: '_flapack' or 'cython_lapack'.

    scipy itself loads it where its file is not found, or cannot be loaded alone (on Windows, scipy
    tells the system where its libraries are). Raises ImportError, and what `one_thread_at_load`
    does.
    """
    with one_thread_at_load("scipy.linalg"):
        with suppress(ImportError):
            return _load_alone(name)
        return import_module(f"scipy.linalg.{name}")


def _load_alone(name: str) -> ModuleType:
    package = find_spec("scipy")  # does not run it
    for folder in (package and package.submodule_search_locations) or ():
        finder = FileFinder(f"{folder}/linalg", (ExtensionFileLoader, EXTENSION_SUFFIXES))
        if (spec := finder.find_spec(name)) and spec.loader:
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    raise ImportError(name)
