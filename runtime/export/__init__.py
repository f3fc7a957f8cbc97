"""Models of Torch7 for other programs: PyTorch, ONNX, safetensors, HDF5, numpy.

to_pytorch              source and parameters for PyTorch
to_onnx                 an ONNX file
Report                  what these two return
to_safetensors, to_npz, tensors by name
to_hdf5
describe                what a value holds, and what its modules become, for people
ExportError             what has no counterpart, or does not compute the same
"""

from th_shell.runtime.export.conversion import ConversionOptions, Report, to_onnx, to_pytorch
from th_shell.runtime.export.description import describe
from th_shell.runtime.export.graph import ExportError
from th_shell.runtime.export.weights import WeightOptions, to_hdf5, to_npz, to_safetensors

__all__ = [
    "ExportError",
    "ConversionOptions",
    "Report",
    "WeightOptions",
    "describe",
    "to_hdf5",
    "to_npz",
    "to_onnx",
    "to_pytorch",
    "to_safetensors",
]
