"""What th knows of packages that programs for Torch7 use, and of words that mean something else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runtime import Engine

__all__ = [
    "GPU",
    "GPU_METHODS",
    "KEPT_BY",
    "LIBRARIES",
    "MAKERS",
    "OTHER",
    "PACKAGES",
    "Facts",
    "Lack",
    "facts_of",
]


@dataclass(frozen=True)
class Lack:
    """Why something is not here, and what to do about it."""

    why: str
    advice: str


GPU = Lack("th computes on the processor alone", "leave it out, or use :float()")
_GPU_PACKAGES = Lack("it computes on a GPU, and th on the processor alone", "leave it out")
_NN = Lack(
    "not part of th, and it needs a C library built against Torch7's own C core",
    "keep this part on Torch7",
)
_BUILT_ON_NN = Lack("not part of th, and it needs nn, which th has not", "keep this part on Torch7")
_CAMERA = Lack("not part of th, which reads pictures from files", "use image.load")
_WINDOWS = Lack("not part of th, which opens no windows", "leave it out, or write to files")
_THREADS = Lack("not part of th, and it needs Torch7's own C core", "do the work in one thread")

#: Packages of Torch7 that th has not, by the names that `require` knows them under.
PACKAGES: Mapping[str, Lack] = {
    name: lack
    for names, lack in (
        ("cunn cutorch cudnn cunnx fbcunn nccl cltorch clnn", _GPU_PACKAGES),
        ("nn", _NN),
        ("nnx nngraph dpnn rnn", _BUILT_ON_NN),
        ("camera", _CAMERA),
        ("qt qtwidget qttorch qtuiloader qtide qtcore qtgui", _WINDOWS),
        ("gnuplot display itorch iTorch", _WINDOWS),
        ("threads libthreads", _THREADS),
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
    engine: Engine


def facts_of(engine: Engine) -> Facts:
    """What there is in a new engine."""
    types = [name for name in engine.names("torch") if name.endswith("Tensor")]
    methods = [engine.names(f"torch.{name}") for name in types]
    fields = {name: frozenset(engine.names(name)) for name in LIBRARIES}
    return Facts(fields, frozenset().union(*methods), engine)
