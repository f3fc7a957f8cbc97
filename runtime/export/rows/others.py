"""Classes of well-known repositories, which their saved nets name."""

from __future__ import annotations

from functools import partial

from th_shell.runtime.export.graph import Data, Value
from th_shell.runtime.export.modules import Module, data_row, function_rows, row
from th_shell.runtime.export.operators import elementwise as ew
from th_shell.runtime.export.operators.layers import instance_norm
from th_shell.runtime.export.operators.shaping import narrow

function_rows(
    {
        "nn.Rectifier": (ew.relu, {}),
        "w2nn.InplaceClip01": (partial(ew.clamp, low=0, high=1), {}),
        "w2nn.LeakyReLU": (ew.leaky_relu, {"negative_scale": None}),
    }
)


@row("nn.InstanceNormalization")
def _instance_normalization(m: Module, x: Value) -> Value:
    """Of fast-neural-style, texture_nets and CycleGAN: each plane by its own statistics.

    They run nn's layer on a batch of one as in training. From August 2017 on nn takes the learned
    statistics for such batches, by which their nets no longer compute what they were trained for.
    """
    return instance_norm(x, m.optional("weight"), m.optional("bias"), m.number("eps", 1e-5))


@row("nn.ShaveImage")
def _shave(m: Module, x: Value) -> Value:
    size = m.whole("size")
    if size:
        x = narrow(narrow(x, x.rank - 2, size, -size), x.rank - 1, size, -size)
    return x.copied()


@data_row("w2nn.AuxiliaryLossTable")
def _auxiliary_loss(m: Module, data: Data) -> Data:
    """One of a table's entries; in training all."""
    return data if m.graph.training else m.tensors(data)[m.whole("i", 1) - 1]
