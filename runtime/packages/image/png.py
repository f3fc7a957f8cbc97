"""PNG files, by Pillow; those of several planes with 16 bits by pypng, since Pillow cuts them.

A file's chunks are checked first, as libpng checks them, with its messages. Wrong chunks without
which there is a picture, too, are passed over. Libraries can read a file that passes (`plain`).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO

import numpy as np

from th_shell.runtime.calls.arguments import Call
from th_shell.runtime.core.dtypes import BYTE, Array
from th_shell.runtime.core.encoding import shown
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import TENSOR_CLASSES, Tensor
from th_shell.runtime.packages import optional
from th_shell.runtime.packages.image import files

_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_CANNOT_OPEN = "[%s] File %%s could not be opened for reading"


def _check_signature(data: bytes, label: str, name: bytes | None) -> None:
    what = "ByteTensor" if name is None else f"File {shown(name)}"
    if name is not None and len(data) < len(SIGNATURE):
        raise TorchError(f"[{label}] {what} error reading header")
    if not data.startswith(SIGNATURE):
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
    if file.colour == PALETTE:
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


SIGNATURE = b"\x89PNG\r\n\x1a\n"
GREY, RGB, PALETTE, GREY_ALPHA, RGBA = 0, 2, 3, 4, 6
_SAMPLES = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGBA: 4}  # of a pixel
_BITS_OF = {GREY: (1, 2, 4, 8, 16), PALETTE: (1, 2, 4, 8)}
_BITS = (8, 16)  # of a sample of all others

_HEADER_SIZE = 13
_PIECE = 1 << 30  # bytes of a chunk, whose size has 31 bits
_COLOUR_SIZE = 3  # bytes of a colour of the palette
_LAST_FILTER = 4
# The first column and row, and the steps to the next ones, of the pictures that an interlaced one
# is made of.
_PASSES = [
    *((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4)),
    *((0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)),
]


class PngError(ValueError):
    """An error in a PNG file, in libpng's words."""


class _Chunks:
    """The chunks of a file, one after the other. name: that of the current one."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = len(SIGNATURE)
        self.name = b""
        self.size = 0

    def go_on(self) -> bytes:
        """Go to the next chunk; returns its name."""
        self.size = int.from_bytes(self._take(4), "big")
        if self.size >> 31:
            raise PngError("PNG unsigned integer out of range")
        self.name = self._take(4)
        if not self.name.isalpha():
            raise self.error("invalid chunk type")
        return self.name

    def data(self) -> bytes:
        """The bytes of the current chunk, which is then at its checksum."""
        return self._take(self.size)

    def check(self, data: bytes) -> None:
        """Read the checksum, and compare it with the current chunk's bytes."""
        check = int.from_bytes(self._take(4), "big")
        if self.name[:1].isupper() and zlib.crc32(data, zlib.crc32(self.name)) != check:
            raise self.error("CRC error")

    def contents(self) -> bytes:
        """The bytes of the current chunk, checked."""
        data = self.data()
        self.check(data)
        return data

    def skip(self) -> None:
        """Pass over the current chunk, which is not needed."""
        if self.name == b"IHDR":
            raise self.error("out of place")
        if self.name[:1].isupper() and self.name not in (b"PLTE", b"IDAT", b"IEND"):
            raise self.error("unhandled critical chunk")
        self.contents()

    def error(self, message: str) -> PngError:
        """The error about the current chunk."""
        letters = (chr(c) if chr(c).isalpha() and c < 128 else f"[{c:02X}]" for c in self.name)
        return PngError(f"{''.join(letters)}: {message}")

    def _take(self, count: int) -> bytes:
        data = self._data[self._at : self._at + count]
        if len(data) < count:
            raise PngError("Read Error")
        self._at += count
        return data


class PngFile:
    """A PNG file, of which all that stands before the picture is read. Raises PngError.

    bits: of a sample. depth: the planes of the picture; a palette has three. palette: the bytes of
    its colours; empty where there is none.
    """

    def __init__(self, data: bytes) -> None:
        chunks = self._chunks = _Chunks(data)
        if chunks.go_on() != b"IHDR":
            missing = "Missing IHDR before IDAT" if chunks.name == b"IDAT" else "missing IHDR"
            raise chunks.error(missing)
        if chunks.size != _HEADER_SIZE:
            raise chunks.error("invalid")
        header = struct.unpack(">IIBBBBB", chunks.contents())
        _check_header(*header)
        self.width, self.height, self.bits, self.colour = header[:4]
        self.depth = 3 if self.colour == PALETTE else _SAMPLES[self.colour]
        self._is_interlaced = header[-1] == 1
        self.palette = _read_palette(chunks, self.bits, self.colour)

    def rows(self) -> bytes:
        """Read the picture, once: all rows with the bytes that tell their filters.

        Raises PngError also for what is wrong with the file behind it.
        """
        passes = list(self._passes())
        size_in_bytes = sum(rows * size for rows, size in passes)
        data = self._inflated(size_in_bytes)
        at = 0
        for rows, size in passes:
            filters = np.frombuffer(data, np.uint8, rows * size, at)[::size]
            if filters.max() > _LAST_FILTER:
                raise PngError("bad adaptive filter value")
            at += rows * size
        self._chunks.skip()
        while self._chunks.name != b"IEND":
            self._chunks.go_on()
            self._chunks.skip()
        return data

    def _passes(self) -> Iterator[tuple[int, int]]:
        """The number of rows of the picture, or its parts, and the bytes of one with its filter."""
        for column, row, step, down in _PASSES if self._is_interlaced else [(0, 0, 1, 1)]:
            columns, rows = -(-(self.width - column) // step), -(-(self.height - row) // down)
            if columns > 0 and rows > 0:
                yield rows, 1 + (columns * self.bits * _SAMPLES[self.colour] + 7) // 8

    def _inflated(self, size_in_bytes: int) -> bytes:
        """So many bytes of what is compressed, which goes on, or ends as it has to."""
        chunks, inflater, pieces, left = self._chunks, zlib.decompressobj(), [], size_in_bytes + 1
        try:
            while chunks.name == b"IDAT":
                data = chunks.data()
                if left and not inflater.eof:
                    pieces.append(inflater.decompress(data, left))
                    left -= len(pieces[-1])
                chunks.check(data)
                chunks.go_on()
        except zlib.error as error:  # libpng, too, tells zlib's reason
            reason = str(error).partition(": ")[2] or "missing LZ dictionary"
            raise PngError(f"IDAT: {reason}") from error
        if left > 1 or left and not inflater.eof:
            raise PngError("Not enough image data")
        return b"".join(pieces)

    def plain(self, rows: bytes) -> bytes:
        """A file of the same picture, in which nothing else is."""
        kinds = self.bits, self.colour, 0, 0, self._is_interlaced
        header = struct.pack(">IIBBBBB", self.width, self.height, *kinds)
        data = zlib.compress(rows, 0)
        pieces = [(b"IDAT", data[at : at + _PIECE]) for at in range(0, len(data), _PIECE)]
        palette = [(b"PLTE", self.palette)] if self.palette else []
        parts = [SIGNATURE]
        for name, contents in ((b"IHDR", header), *palette, *pieces, (b"IEND", b"")):
            check = zlib.crc32(contents, zlib.crc32(name))
            parts += (struct.pack(">I", len(contents)), name, contents, struct.pack(">I", check))
        return b"".join(parts)


def _check_header(
    width: int, height: int, bits: int, colour: int, packing: int, filters: int, interlace: int
) -> None:
    if max(width, height) >> 31:
        raise PngError("PNG unsigned integer out of range")
    # libpng takes no more columns and rows.
    fits = min(width, height) > 0 and max(width, height) <= 1_000_000 and colour in _SAMPLES
    if not fits or bits not in _BITS_OF.get(colour, _BITS) or packing or filters or interlace > 1:
        raise PngError("Invalid IHDR data")


def _read_palette(chunks: _Chunks, bits: int, colour: int) -> bytes:
    """Go to the picture; returns the palette on the way, as long as one can be."""
    palette, longest = b"", _COLOUR_SIZE << bits
    while chunks.go_on() != b"IDAT":
        if chunks.name != b"PLTE" or colour != PALETTE:
            chunks.skip()
            continue
        if palette:
            raise chunks.error("duplicate")
        if not chunks.size or chunks.size > _COLOUR_SIZE << 8 or chunks.size % _COLOUR_SIZE:
            raise chunks.error("invalid")
        palette = chunks.contents()[:longest].ljust(longest, b"\0")
    if colour == PALETTE and not palette:
        raise chunks.error("Missing PLTE before IDAT")
    return palette
