"""``import torch`` as this project's own torch, in this process alone.

The modules `torch`, `torch.linalg` and so on are those of `th_shell.torch`: the same objects under
a second name. Nothing is imported before the program imports it, and a PyTorch that is installed is
neither loaded nor changed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from importlib.abc import Loader
else:  # whose import takes longer than all the rest
    Loader = object

NAME = "torch"
FACE = "th_shell.torch"
_SPAWN = "multiprocessing.spawn"
_ADVICE = "th's torch does not have it; --torch installed runs the program with PyTorch itself"


def use_face() -> None:
    """Let the programs of this process import this project's torch as `torch`."""
    if not is_used():
        sys.meta_path.insert(0, _Finder())
        if _SPAWN in sys.modules:
            _tell_processes(sys.modules[_SPAWN])


def is_used() -> bool:
    """Tell whether `torch` is this project's in this process."""
    return any(isinstance(finder, _Finder) for finder in sys.meta_path)


def is_installed() -> bool:
    """Tell whether this Python finds a PyTorch (or whatever else is called torch)."""
    return PathFinder.find_spec(NAME) is not None


class _Finder:
    """Finds the modules of torch in the face, and says plainly what is not there."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how to import a module by its name in torch; None for the modules of others."""
        if name.startswith(f"{FACE}."):
            return self._of_face(name, path)
        if name == _SPAWN:
            return self._of_processes(path)
        if name != NAME and not name.startswith(f"{NAME}."):
            return None
        real = FACE + name.removeprefix(NAME)
        spec = self._of_others(real, import_module("th_shell").__path__ if path is None else path)
        if spec is None or _is_no_module(real):
            message = f"No module named {name!r}: {_ADVICE}"
            return _absent(name, ModuleNotFoundError(message, name=name))
        is_package = spec.submodule_search_locations is not None
        return ModuleSpec(name, _Loader(real), origin=spec.origin, is_package=is_package)

    def _of_processes(self, path: Sequence[str] | None) -> ModuleSpec | None:
        spec = self._of_others(_SPAWN, path)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def run_and_tell(module: ModuleType) -> None:
                run(module)
                _tell_processes(module)

            spec.loader.exec_module = run_and_tell  # type: ignore[method-assign]  # of this one
        return spec

    def _of_face(self, real: str, path: Sequence[str] | None) -> ModuleSpec:
        """Return a module by its own name: Python looks for it after `from torch import name`."""
        name = NAME + real.removeprefix(FACE)
        owner, _, last = name.rpartition(".")
        message = f"cannot import name {last!r} from {owner!r}: {_ADVICE}"
        return self._of_others(real, path) or _absent(name, ImportError(message, name=owner))

    def _of_others(self, name: str, path: Sequence[str] | None) -> ModuleSpec | None:
        specs = (finder.find_spec(name, path) for finder in sys.meta_path if finder is not self)
        return next((spec for spec in specs if spec is not None), None)


def _is_no_module(real: str) -> bool:
    """Tell whether the name is that of a function: a module of the face is then not meant."""
    owner, _, last = real.rpartition(".")
    value = vars(sys.modules[owner]).get(last) if owner in sys.modules else None
    return value is not None and not isinstance(value, ModuleType)


class _Loader(Loader):
    """Loads a module of the face, which is then also known by its name in torch."""

    def __init__(self, real: str) -> None:
        self._real = real
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module itself; the import of the face makes it where it is not there yet."""
        module = import_module(self._real)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module, which has run already, back the specification that Python has
        replaced.
        """
        module.__spec__ = self._spec


class _Absent(ModuleType):
    """A module of PyTorch's that this torch lacks, or a name in it: it says so once it is used.

    It is the loader of itself.
    """

    def __init__(self, name: str, why: str) -> None:
        super().__init__(name)
        self._why = why

    def __getattr__(self, name: str) -> _Absent:
        if name.startswith("_"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name)
        return _Absent(f"{self.__name__}.{name}", self._why)

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        raise NotImplementedError(f"{self.__name__}{self._why}: {_ADVICE}")

    __mro_entries__ = __call__  # of what a class derives from

    def __instancecheck__(self, _: object) -> bool:
        return False

    def create_module(self, _: ModuleSpec) -> ModuleType:
        """Return the module that is imported: this one."""
        return self

    def exec_module(self, _: ModuleType) -> None:
        """Run nothing: there is nothing to run."""


def _absent(name: str, error: ImportError) -> ModuleSpec:
    """Return how to import a name that only PyTorch has. Raises the error for other names."""
    why = import_module(f"{FACE}.base.missing").why_missing(name.partition(".")[2])
    if not why:
        raise error
    loader: Any = _Absent(name, why)
    return ModuleSpec(name, loader, is_package=True)


def _tell_processes(spawn: ModuleType) -> None:
    """Let new processes use the face, too: they are told so before they import the program."""
    plain_data = spawn.get_preparation_data

    def tell(name: str) -> dict[str, Any]:
        data = {**plain_data(name), "face": _UseFace()}
        if name == "ignore":  # of a server of forks, which is told nothing more
            data.pop("init_main_from_path", None)
        return data

    spawn.get_preparation_data = tell  # type: ignore[attr-defined]


class _UseFace:
    """Calls `use_face` where it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return use_face, ()
