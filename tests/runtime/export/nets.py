"""Nets as files have them, made without Lua."""

from typing import Any

import numpy as np

from th_shell.runtime import Table, TorchObject
from th_shell.runtime.t7.tensors import tensor_of

_generator = np.random.default_rng(0)


def tensor(*sizes: int) -> Any:
    """A tensor of random floats."""
    return tensor_of(_generator.standard_normal(sizes).astype(np.float32))


def module(kind: str, *modules: TorchObject, **fields: Any) -> TorchObject:
    """A module of nn, with modules within it."""
    inner = {"modules": Table.of(modules)} if modules else {}
    return TorchObject(f"nn.{kind}", {**inner, **fields})


def linear(inputs: int, outputs: int) -> TorchObject:
    """A linear layer."""
    return module("Linear", weight=tensor(outputs, inputs), bias=tensor(outputs))


def conv(inputs: int, outputs: int, size: int, **fields: Any) -> TorchObject:
    """A convolution of planes."""
    made = {
        "nInputPlane": inputs,
        "nOutputPlane": outputs,
        "kW": size,
        "kH": size,
        "dW": 1,
        "dH": 1,
    }
    weight = tensor(outputs, inputs, size, size)
    return module("SpatialConvolution", weight=weight, bias=tensor(outputs), **made | fields)


def bare(source: str) -> str:
    """A source without the sizes of its values, and without its end, which runs it."""
    lines = source.partition("\n\n\nif __name__")[0].splitlines()
    kept = [line.partition("  # ")[0] for line in lines if not line.strip().startswith("# ")]
    return "\n".join(kept) + "\n"
