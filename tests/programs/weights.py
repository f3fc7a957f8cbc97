# pyright: strict
"""Tell what the layers of a file of Torch7 hold, and write their weights for numpy."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from th_shell import T7Error, Table, Tensor, TorchObject, load, save

Array = npt.NDArray[np.generic]


def layers(module: TorchObject) -> Iterator[TorchObject]:
    """Go through a net's layers in their order, those of nets within it, too."""
    children = module.fields.get("modules")
    if not isinstance(children, Table):
        yield module
        return
    for child in children.values():
        if isinstance(child, TorchObject):
            yield from layers(child)


def weights(net: TorchObject) -> dict[str, Array]:
    """Return the tensors of all layers, by the layer's number and the field's name."""
    found: dict[str, Array] = {}
    for number, layer in enumerate(layers(net)):
        for name, value in layer.fields.items():
            if isinstance(name, str) and isinstance(value, Tensor):
                found[f"{number}.{name}"] = value.numpy()
    return found


def example(path: Path) -> None:
    """Write a small net."""
    linears = [TorchObject("nn.Linear", {"weight": np.eye(n), "bias": np.ones(n)}) for n in (2, 3)]
    save(path, TorchObject("nn.Sequential", {"modules": linears}), "ascii")


def main(path: Path) -> int:
    if not path.exists():
        example(path)
    try:
        net = load(path)
    except T7Error as error:
        print(error, file=sys.stderr)
        return 1
    if not isinstance(net, TorchObject):
        print(f"{path} has no net", file=sys.stderr)
        return 1
    for name, array in weights(net).items():
        print(name, array.shape, array.dtype)
    np.savez(path.with_suffix(".npz"), allow_pickle=False, **weights(net))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
