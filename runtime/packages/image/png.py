"""PNG files, by Pillow; those of several planes with 16 bits by pypng, since Pillow cuts them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO

import numpy as np

from th_shell.runtime.calls.arguments import Call
from th_shell.runtime.core.dtypes import BYTE, Array
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import TENSOR_CLASSES, Tensor
from th_shell.runtime.core.texts import shown
from th_shell.runtime.packages import optional
from th_shell.runtime.packages.image import files, png_chunks
from th_shell.runtime.packages.image.png_chunks import PngError, PngFile

_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_CANNOT_OPEN = "[%s] File %%s could not be opened for reading"


def _check_signature(data: bytes, label: str, name: bytes | None) -> None:
    what = "ByteTensor" if name is None else f"File {shown(name)}"
    if name is not None and len(data) < len(png_chunks.SIGNATURE):
        raise TorchError(f"[{label}] {what} error reading header")
    if not data.startswith(png_chunks.SIGNATURE):
        raise TorchError(f"[{label}] {what} is not recognized as a PNG file")


def _load(call: Call) -> tuple[Tensor, int]:
    data = files.read_source(call, _CANNOT_OPEN % "read_png_file")
    if call.long(1) == 1:
        _check_signature(data, "read_png_file", files.file_name(call, 2))
    else:
        _check_signature(data, "read_png_byte_tensor", None)
    with _errors("[read_png] Error during init_io"):
        file = PngFile(data)
    depth, bits, keeps_16_bits = file.depth, file.bits, call.dtype is not BYTE
    tensor = TENSOR_CLASSES[call.dtype.index].new((depth, file.height, file.width))
    with _errors("[read_png_file] Error during read_image"):
        plain = file.plain(file.rows())
    read = _read_wide if bits == 16 and depth > 1 and keeps_16_bits else _read
    pixels = read(plain, depth if bits < 16 or depth > 1 else 0)
    if pixels.dtype != np.uint8 and not keeps_16_bits:
        pixels = pixels >> 8
    tensor.array[...] = pixels.reshape(file.height, file.width, depth).transpose(2, 0, 1)
    return tensor, max(bits, 8)


@contextmanager
def _errors(what: str) -> Iterator[None]:
    """Raise what is wrong with a file as an error of the original."""
    try:
        yield
    except PngError as error:
        raise TorchError(f"{what}: {error}") from error


def _read(data: bytes, depth: int) -> Array:
    """The pixels as Pillow has them, as bytes; depth: 0 for a grey image of 16 bits."""
    plugin = optional("PIL.PngImagePlugin", "Pillow", "image")
    with plugin.PngImageFile(BytesIO(data)) as picture:
        return np.asarray(picture.convert(_MODES[depth]) if depth else picture)


def _read_wide(data: bytes, depth: int) -> Array:
    library = optional("png", "pypng", "image")
    _, _, rows, _ = library.Reader(bytes=data).read()
    return np.vstack([np.asarray(row, np.uint16) for row in rows])


def _size(call: Call) -> tuple[int, int, int]:
    name = files.file_name(call, 1)
    data = files.read_file(name, _CANNOT_OPEN % "get_png_size")
    _check_signature(data, "get_png_size", name)
    with _errors("[get_png_size] Error during init_io"):
        file = PngFile(data)
    if file.colour == png_chunks.PALETTE:
        raise TorchError("[get_png_size] unsupported type: PALETTE")
    return file.depth, file.height, file.width


def _save(call: Call) -> None:
    image = call.tensor(2)
    depth = {2: 1, 3: image.sizes[0] if image.sizes else 0}.get(image.ndim, 0)
    if depth not in (1, 3, 4):
        raise TorchError("[write_png_file] Depth must be 1, 3 or 4")
    data = files.encoded(files.image_bytes(image), "PNG")
    cannot_open = "[write_png_file] File %s could not be opened for writing"
    files.write(call, data, cannot_open, at=4)


FUNCTIONS: files.Functions = {"libpng.load": _load, "libpng.size": _size, "libpng.save": _save}
