"""``import torch`` as this project's own torch, in this process alone.

The modules `torch`, `torch.linalg` and so on are those of `runtime.pytorch`: the same objects under
a second name. Nothing is imported before the program imports it, and a PyTorch that is installed is
neither loaded nor changed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.abc import Loader
else:  # whose import takes longer than all the rest
    Loader = object

NAME = "torch"
FACE = "runtime.pytorch"
_SPAWN = "multiprocessing.spawn"
_ADVICE = "th's torch does not have it; --torch installed runs the program with PyTorch itself"


def use_face() -> None:
    """Let the programs of this process import this project's torch as `torch`."""
    if not is_used():
        sys.meta_path.insert(0, _Finder())
        if _SPAWN in sys.modules:
            _tell_processes(sys.modules[_SPAWN])


def is_used() -> bool:
    """Whether `torch` is this project's in this process."""
    return any(isinstance(finder, _Finder) for finder in sys.meta_path)


def is_installed() -> bool:
    """Whether this Python finds a PyTorch (or whatever else is called torch)."""
    return PathFinder.find_spec(NAME) is not None


class _Finder:
    """Finds the modules of torch in the face, and says plainly what is not there."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """How to import a module by its name in torch; None for the modules of others."""
        if name.startswith(f"{FACE}."):
            return self._of_face(name, path)
        if name == _SPAWN:
            return self._of_processes(path)
        if name != NAME and not name.startswith(f"{NAME}."):
            return None
        real = FACE + name.removeprefix(NAME)
        found = self._of_others(real, import_module("runtime").__path__ if path is None else path)
        if found is None or _is_no_module(real):
            raise ModuleNotFoundError(f"No module named {name!r}: {_ADVICE}", name=name)
        is_package = found.submodule_search_locations is not None
        return ModuleSpec(name, _Loader(real), origin=found.origin, is_package=is_package)

    def _of_processes(self, path: Sequence[str] | None) -> ModuleSpec | None:
        found = self._of_others(_SPAWN, path)
        if found is not None and found.loader is not None:
            found.loader = _SpawnLoader(found.loader)
        return found

    def _of_face(self, real: str, path: Sequence[str] | None) -> ModuleSpec:
        """A module by its own name, which Python also looks for after `from torch import name`."""
        found = self._of_others(real, path)
        if found is None:
            owner, _, last = (NAME + real.removeprefix(FACE)).rpartition(".")
            raise ImportError(f"cannot import name {last!r} from {owner!r}: {_ADVICE}", name=owner)
        return found

    def _of_others(self, name: str, path: Sequence[str] | None) -> ModuleSpec | None:
        specs = (one.find_spec(name, path) for one in sys.meta_path if one is not self)
        return next((spec for spec in specs if spec is not None), None)


def _is_no_module(real: str) -> bool:
    """Whether the name is that of a function: a module of the face itself is then not meant."""
    owner, _, last = real.rpartition(".")
    found = vars(sys.modules[owner]).get(last) if owner in sys.modules else None
    return found is not None and not isinstance(found, ModuleType)


class _Loader(Loader):
    """Loads a module of the face, which is then also known by its name in torch."""

    def __init__(self, real: str) -> None:
        self._real = real
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module itself, which the import of the face makes where it is not there yet."""
        module = import_module(self._real)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """The module has run already: give it back the specification that Python has replaced."""
        module.__spec__ = self._spec


class _SpawnLoader(Loader):
    """Loads what prepares the processes of multiprocessing."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """As the other loader does."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run it."""
        self._loader.exec_module(module)
        _tell_processes(module)


def _tell_processes(spawn: ModuleType) -> None:
    """Let new processes use the face, too: they are told so before they import the program."""
    told = spawn.get_preparation_data

    def tell(name: str) -> dict[str, Any]:
        data = {**told(name), "face": _UseFace()}
        if name == "ignore":  # of a server of forks, which is told nothing more
            data.pop("init_main_from_path", None)
        return data

    vars(spawn)["get_preparation_data"] = tell


class _UseFace:
    """Calls `use_face` where it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return use_face, ()
