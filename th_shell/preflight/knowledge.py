"""What th knows of packages that programs for Torch7 use, and of words that mean something else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runtime import Engine


@dataclass(frozen=True)
class Lack:
    """Why something is not here, and what to do about it."""

    why: str
    advice: str


GPU = Lack(
    "th computes on the processor alone", "use :float(), or th --gpu-as-cpu for the whole program"
)
_GPU_PACKAGES = Lack(
    "it computes on a GPU, and th on the processor alone", "leave it out, or use th --gpu-as-cpu"
)
_WINDOWS = Lack("not part of th, which opens no windows", "leave it out, or write to files")

#: Packages of Torch7 that cannot do here what they are for, besides those that cannot be here.
_PACKAGES: Mapping[str, Lack] = {
    name: lack
    for names, lack in (
        ("cunn cutorch cudnn", _GPU_PACKAGES),
        ("display itorch iTorch", _WINDOWS),
    )
    for name in names.split()
}
OTHER = Lack("no such module is found", "install it where package.path (LUA_PATH) finds it")

GPU_METHODS = frozenset(
    "cl cuda cudaByte cudaChar cudaShort cudaInt cudaLong cudaHalf cudaDouble".split()
)

#: Global tables whose fields are known before a program runs.
LIBRARIES = "torch paths sys xlua string table math os io coroutine debug bit package jit".split()

#: Functions of torch whose first result is a tensor.
MAKERS = frozenset(
    "Tensor ByteTensor CharTensor ShortTensor IntTensor LongTensor FloatTensor DoubleTensor "
    "rand randn zeros ones eye range linspace logspace randperm".split()
)

#: Methods of a tensor whose first result is a tensor.
KEPT_BY = frozenset(
    "t clone contiguous fill zero resize view transpose double float long int byte uniform normal "
    "add mul div cmul cdiv abs exp log sqrt copy narrow expand".split()
)


@dataclass(frozen=True)
class Facts:
    """What there is before a program runs.

    fields: the names in the global tables of `LIBRARIES`. methods: those of tensors, of any type.
    engine: finds modules.
    """

    fields: Mapping[str, frozenset[str]]
    methods: frozenset[str]
    packages: Mapping[str, Lack]
    engine: Engine


def facts_of(engine: Engine) -> Facts:
    """What there is in a new engine."""
    types = [name for name in engine.names("torch") if name.endswith("Tensor")]
    methods = [engine.names(f"torch.{name}") for name in types]
    fields = {name: frozenset(engine.names(name)) for name in LIBRARIES}
    # The error about a tensor without a GPU is no method that programs may use.
    known = frozenset().union(*methods) - GPU_METHODS
    packages = {**_PACKAGES, **_impossible(engine), **_installable(engine)}
    return Facts(fields, known, packages, engine)


def _impossible(engine: Engine) -> Mapping[str, Lack]:
    packages = engine.impossible_packages()
    return {name: Lack(f"it {what}", "leave it out") for name, what in packages.items()}


def _installable(engine: Engine) -> Mapping[str, Lack]:
    why = "a package of Lua files that is not installed"
    return {name: Lack(why, f"th --install {name}") for name in engine.package_sources()}
