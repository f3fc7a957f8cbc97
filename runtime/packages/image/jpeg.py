"""Reads and writes JPEG files by Pillow.

The missing part of a file that was cut short is grey, as in the original.
"""

from functools import lru_cache
from io import BytesIO
from typing import Any

import numpy as np

from th_shell.runtime.calls.arguments import Call
from th_shell.runtime.core.dtypes import INT, cast_scalar
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import TENSOR_CLASSES, Tensor
from th_shell.runtime.packages import optional
from th_shell.runtime.packages.image import files

_FINE = 25  # from this quality on, all steps of quantization fit into a byte
_END = b"\xff\xd9"
_DAMAGED = "Corrupt JPEG data"
_CANNOT_OPEN = "cannot open file <%s> for reading"


def _open(data: bytes) -> Any:
    if not data:
        raise TorchError("Empty input file")
    if data[:2] != b"\xff\xd8":
        first, second = data[0], data[1] if len(data) > 1 else 0xFF
        raise TorchError(f"Not a JPEG file: starts with 0x{first:02x} 0x{second:02x}")
    plugin = optional("PIL.JpegImagePlugin", "Pillow", "image")
    with files.damage(_DAMAGED):
        return plugin.JpegImageFile(BytesIO(data + _END))


def _load(call: Call) -> Tensor:
    with _open(files.read_source(call, _CANNOT_OPEN)) as picture:
        width, height = picture.size
        sizes = len(picture.getbands()), height, width
        tensor = TENSOR_CLASSES[call.dtype.index].new(sizes)
        with files.damage(_DAMAGED):
            pixels = np.asarray(picture)
        if picture.mode == "CMYK" and "adobe" in picture.info:
            pixels = 255 - pixels  # Pillow has inverted them
    tensor.array[...] = pixels.reshape(height, width, -1).transpose(2, 0, 1)
    return tensor


def _size(call: Call) -> tuple[int, int, int]:
    with _open(files.read_file(files.file_name(call, 1), _CANNOT_OPEN)) as picture:
        width, height = picture.size
        return len(picture.getbands()), height, width


def _save(call: Call) -> None:
    image, quality = call.tensor(2), int(cast_scalar(call.number(4), INT))
    if not 0 <= quality <= 100:
        raise TorchError("quality should be between 0 and 100")
    if image.ndim not in (2, 3):
        raise TorchError("supports only 1 or 3 dimension tensors")
    if image.ndim == 3 and image.sizes[0] not in (1, 3):
        raise TorchError("tensor should have 1 or 3 channels (gray or RGB)")
    data = files.encoded(files.image_bytes(image), "JPEG", **_options(quality))
    files.write(call, data, "Error opening output jpeg file %s\n!", at=5)


def _options(quality: int) -> dict[str, Any]:
    """Return Pillow's options for a quality.

    For a low quality some steps of quantization exceed a byte. The original stores them as they
    are. Pillow cuts the steps that it computes itself, but stores given ones as they are.
    """
    if quality >= _FINE:
        return {"quality": quality}
    percent = 5000 // max(quality, 1)
    steps = [[(step * percent + 50) // 100 for step in table] for table in _standard_steps()]
    return {"qtables": steps}


@lru_cache(1)
def _standard_steps() -> list[list[int]]:
    """Return the steps of quantization of the JPEG standard, which are those of quality 50."""
    grey = np.zeros((8, 8, 3), np.uint8)
    with _open(files.encoded(grey, "JPEG", quality=50)) as picture:
        return [list(table) for table in picture.quantization.values()]


FUNCTIONS: files.Functions = {"libjpeg.load": _load, "libjpeg.size": _size, "libjpeg.save": _save}
