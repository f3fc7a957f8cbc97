"""PNG files, by Pillow; those of several planes with 16 bits by pypng, since Pillow cuts them."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

import numpy as np

from runtime.calls.arguments import Call
from runtime.core.dtypes import BYTE, Array
from runtime.core.errors import TorchError
from runtime.core.tensor import Tensor
from runtime.packages import optional
from runtime.packages.image.files import (
    Functions,
    file_name,
    image_bytes,
    read_file,
    read_source,
    tensor_of,
    text,
    write,
)

__all__ = ["FUNCTIONS"]

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_GREY, _RGB, _PALETTE, _GREY_ALPHA, _RGBA = 0, 2, 3, 4, 6
_DEPTHS = {_GREY: 1, _RGB: 3, _PALETTE: 3, _GREY_ALPHA: 2, _RGBA: 4}
_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_CANNOT_OPEN = "[%s] File %%s could not be opened for reading"


def _header(data: bytes) -> tuple[int, int, int, int]:
    """Width, height, bits of a sample and kind of colour."""
    if len(data) < 33 or data[12:16] != b"IHDR":
        raise ValueError("Missing IHDR before IDAT")
    if zlib.crc32(data[12:29]) != int.from_bytes(data[29:33], "big"):
        raise ValueError("IHDR: CRC error")
    width, height, bits, colour = struct.unpack(">IIBB", data[16:26])
    if not (width and height and bits in (1, 2, 4, 8, 16) and colour in _DEPTHS):
        raise ValueError("Invalid IHDR data")
    return width, height, bits, colour


def _check_signature(data: bytes, label: str, name: bytes | None) -> None:
    if name is None and not data.startswith(_SIGNATURE):
        raise TorchError(f"[{label}] ByteTensor is not recognized as a PNG file")
    if name is not None and len(data) < len(_SIGNATURE):
        raise TorchError(f"[{label}] File {text(name)} error reading header")
    if name is not None and not data.startswith(_SIGNATURE):
        raise TorchError(f"[{label}] File {text(name)} is not recognized as a PNG file")


def _load(call: Call) -> tuple[Tensor, int]:
    data = read_source(call, _CANNOT_OPEN % "read_png_file")
    if call.long(1) == 1:
        _check_signature(data, "read_png_file", file_name(call, 2))
    else:
        _check_signature(data, "read_png_byte_tensor", None)
    with _errors("[read_png] Error during init_io"):
        width, height, bits, colour = _header(data)
    depth, keeps_16_bits = _DEPTHS[colour], call.dtype is not BYTE
    read = _read_wide if bits == 16 and depth > 1 and keeps_16_bits else _read
    pixels = read(data, depth if bits < 16 or depth > 1 else 0)
    if pixels.dtype != np.uint8 and not keeps_16_bits:
        pixels = pixels >> 8
    return tensor_of(call.dtype, pixels.reshape(height, width, depth)), max(bits, 8)


@contextmanager
def _errors(what: str) -> Iterator[None]:
    """Raise the libraries' errors about a file's content as errors of the original."""
    try:
        yield
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise TorchError(f"{what}: {error}") from error


def _read(data: bytes, depth: int) -> Array:
    """The pixels as Pillow has them, as bytes; depth: 0 for a grey image of 16 bits."""
    plugin = optional("PIL.PngImagePlugin", "Pillow", "image")
    with _errors("[read_png] Error during init_io"):
        picture = plugin.PngImageFile(BytesIO(data))
    picture.info.pop("transparency", None)  # of a palette's colours; Torch7: mixes them up
    with picture, _errors("[read_png_file] Error during read_image"):
        return np.asarray(picture.convert(_MODES[depth]) if depth else picture)


def _read_wide(data: bytes, depth: int) -> Array:
    library = optional("png", "pypng", "image")
    with _errors("[read_png_file] Error during read_image"):
        try:
            _, _, rows, _ = library.Reader(bytes=data).read()
            return np.vstack([np.asarray(row, np.uint16) for row in rows])
        except library.Error as error:
            raise ValueError(str(error)) from error


def _size(call: Call) -> tuple[int, int, int]:
    name = file_name(call, 1)
    data = read_file(name, _CANNOT_OPEN % "get_png_size")
    _check_signature(data, "get_png_size", name)
    try:
        width, height, _, colour = _header(data)
    except ValueError as error:
        raise TorchError(f"[get_png_size] Error during init_io: {error}") from error
    if colour == _PALETTE:
        raise TorchError("[get_png_size] unsupported type: PALETTE")
    return _DEPTHS[colour], height, width


def _save(call: Call) -> None:
    image = call.tensor(2)
    depth = {2: 1, 3: image.sizes[0] if image.sizes else 0}.get(image.ndim, 0)
    if depth not in (1, 3, 4):
        raise TorchError("[write_png_file] Depth must be 1, 3 or 4")
    pixels = image_bytes(image)
    library: Any = optional("PIL.Image", "Pillow", "image")
    picture = library.fromarray(pixels[..., 0] if depth == 1 else pixels)
    buffer = BytesIO()
    picture.save(buffer, "PNG")
    cannot_open = "[write_png_file] File %s could not be opened for writing"
    write(call, buffer.getvalue(), cannot_open, at=4)


FUNCTIONS: Functions = {"libpng.load": _load, "libpng.size": _size, "libpng.save": _save}
