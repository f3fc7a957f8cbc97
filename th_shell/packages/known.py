"""What is known of packages by their names: where their sources are, and which th itself has."""

from __future__ import annotations

__all__ = ["SOURCES", "about_c_code", "provided_by_th"]

_GITHUB = "https://github.com/"

#: Names of packages, and the git repositories that they are cloned from.
SOURCES = {
    name: _GITHUB + path
    for name, path in {
        "argcheck": "torch/argcheck",
        "class": "torch/class",
        "csvigo": "clementfarabet/lua---csv",
        "dp": "nicholas-leonard/dp",
        "dpnn": "Element-Research/dpnn",
        "graph": "torch/graph",
        "moses": "Yonaba/Moses",
        "nn": "torch/nn",
        "nngraph": "torch/nngraph",
        "nnx": "clementfarabet/lua---nnx",
        "optim": "torch/optim",
        "penlight": "lunarmodules/Penlight",
        "rnn": "Element-Research/rnn",
        "torchnet": "torchnet/torchnet",
        "torchx": "nicholas-leonard/torchx",
        "totem": "deepmind/torch-totem",
        "unsup": "koraykv/unsup",
    }.items()
}

# Rocks that are not called as their modules are.
_MODULES = {"lua-cjson": "cjson", "luafilesystem": "lfs", "luasocket": "socket"}

# What th has from its start, or does without.
_PARTS = frozenset("cutorch cunn cudnn cwrap lua luaffi luajit sundown torch trepl".split())


def provided_by_th(name: str) -> bool:
    """Whether th itself has what a rock has."""
    if name in _PARTS:
        return True
    from runtime import Engine  # which only an installation needs

    with Engine() as engine:
        return engine.find_module(_MODULES.get(name, name)) == ""


def about_c_code(name: str) -> str:
    """What to tell about C code of a package, which is not built."""
    if name == "nn":
        return "its C code is not needed: th has the backend of nn"
    return "its C code is not built, and modules that load it do not work"
