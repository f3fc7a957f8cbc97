"""Models of Torch7 for other programs: PyTorch, ONNX.

to_pytorch              source and parameters for PyTorch
to_onnx                 an ONNX file
Report                  what they return
ExportError             what has no counterpart, or does not compute the same
"""

from runtime.export.conversion import How, Report, to_onnx, to_pytorch
from runtime.export.graph import ExportError

__all__ = ["ExportError", "How", "Report", "to_onnx", "to_pytorch"]
