"""JPEG files, by Pillow.

A file's segments are checked first, as libjpeg checks them, with its messages. Wrong segments
without which there is a picture, too, are passed over.
"""

from __future__ import annotations

import re
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

_FINE = 25  # the quality from which on all steps fit into a byte
_CANNOT_OPEN = "cannot open file <%s> for reading"


def _open(data: bytes) -> Any:
    if not data:
        raise TorchError("Empty input file")
    if data[:2] != b"\xff\xd8":
        first, second = data[0], data[1] if len(data) > 1 else 0xFF
        raise TorchError(f"Not a JPEG file: starts with 0x{first:02x} 0x{second:02x}")
    plugin = optional("PIL.JpegImagePlugin", "Pillow", "image")
    return plugin.JpegImageFile(BytesIO(plain(data)))


def _load(call: Call) -> Tensor:
    with _open(files.read_source(call, _CANNOT_OPEN)) as picture:
        width, height = picture.size
        sizes = len(picture.getbands()), height, width
        tensor = TENSOR_CLASSES[call.dtype.index].new(sizes)
        try:
            pixels = np.asarray(picture)
        except (OSError, SyntaxError, ValueError) as error:
            raise TorchError("Corrupt JPEG data") from error
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

    For low ones the steps in which values are stored exceed a byte. The original stores them as
    they are; Pillow cuts them, but not steps that it is given itself.
    """
    if quality >= _FINE:
        return {"quality": quality}
    percent = 5000 // max(quality, 1)
    steps = [[(step * percent + 50) // 100 for step in table] for table in _standard_steps()]
    return {"qtables": steps}


@lru_cache(1)
def _standard_steps() -> list[list[int]]:
    """The steps of the standard, which are those of quality 50."""
    grey = np.zeros((8, 8, 3), np.uint8)
    with _open(files.encoded(grey, "JPEG", quality=50)) as picture:
        return [list(table) for table in picture.quantization.values()]


FUNCTIONS: files.Functions = {"libjpeg.load": _load, "libjpeg.size": _size, "libjpeg.save": _save}


_START, _END = b"\xff\xd8", b"\xff\xd9"
_SOI, _EOI, _SOS = 0xD8, 0xD9, 0xDA
_DHT, _DQT, _DAC, _DRI = 0xC4, 0xDB, 0xCC, 0xDD
_FRAMES, _PROGRESSIVE = (0xC0, 0xC1, 0xC2, 0xC9, 0xCA), (0xC2, 0xCA)
_OTHER_FRAMES = (0xC3, 0xC5, 0xC6, 0xC7, 0xC8, 0xCB, 0xCD, 0xCE, 0xCF)
_PASSED_OVER = (0xDC, *range(0xE0, 0xF0), 0xFE)
# Segments of programs that tell what the numbers of a pixel are: their names, and least sizes.
_COLOURS = {0xE0: (b"JFIF\0", 14), 0xEE: (b"Adobe", 12)}

# Markers that begin a segment. The others stand alone, or are data.
_MARKER = re.compile(rb"\xff([\x02-\xcf\xd8-\xfe])")
# Behind the end of a file that was cut short libjpeg reads marks of the end, also where they are
# in the middle of a segment; these are enough for the longest one.
_BEHIND = _END * (1 << 15 | 1)

_TABLES = 4  # of a kind
_QUANTA, _LENGTHS, _MOST_CODES, _LARGEST_FIRST = 64, 16, 256, 15
_KNOWN_CODES = (0, 1)  # tables that a sequential picture need not bring
_PLANES = (1, 3, 4)


class _BadLengthError(TorchError):
    """A segment is longer or shorter than what it has to have."""

    def __init__(self) -> None:
        super().__init__("Bogus marker length")


def plain(data: bytes) -> bytes:
    """A file of the same picture, with no other segments. Raises TorchError.

    data: a file that begins as JPEG files do; it may have been cut short.
    """
    return _File(data + _BEHIND).read()


class _File:
    """A file that is being read.

    planes: for the names of its planes the tables of quanta that they use, once these are known.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._frame, self._planes = 0, dict[int, int]()
        self._scans, self._has_more = 0, True
        self._quanta = set[int]()
        self._codes = dict[int, bool]()  # whether a table that is defined is one

    def read(self) -> bytes:
        """The parts of the file that its picture needs."""
        parts, at = [_START], len(_START)
        while True:
            match = _MARKER.search(self._data, at)
            marker, start = (match[1][0], match.start()) if match else (_EOI, len(self._data))
            if self._scans:  # the picture's data, up to here
                parts.append(self._data[at:start])
            if marker == _EOI:
                break
            size = int.from_bytes(self._data[start + 2 : start + 4], "big")
            at = start + 2 + max(size, 2)
            if self._is_needed(marker, size, self._data[start + 4 : at]):
                parts.append(self._data[start:at])
        if not self._frame:
            raise TorchError("JPEG datastream contains no image")
        if not self._scans:
            raise TorchError("Invalid JPEG file structure: missing SOS marker")
        return b"".join([*parts, _END])

    def _is_needed(self, marker: int, size: int, body: bytes) -> bool:
        """Check a segment; returns whether the picture needs it."""
        if marker in _PASSED_OVER:
            name, least = _COLOURS.get(marker, (b"", 1 << 16))
            return len(body) >= least and body.startswith(name)
        if marker == _SOI:
            raise TorchError("Invalid JPEG file structure: two SOI markers")
        if marker in _OTHER_FRAMES:
            raise TorchError(f"Unsupported JPEG process: SOF type 0x{marker:02x}")
        if marker not in (*_FRAMES, _SOS, _DHT, _DQT, _DAC, _DRI):
            raise TorchError(f"Unsupported marker type 0x{marker:02x}")
        if size < 2 or marker == _DRI and size != 4:
            raise _BadLengthError
        if marker in _FRAMES:
            self._read_frame(marker, body)
        elif marker == _SOS:
            self._read_scan(body)
        elif marker == _DQT:
            self._read_quanta(body)
        elif marker == _DHT:
            self._read_codes(body)
        return True

    def _read_frame(self, marker: int, body: bytes) -> None:
        if self._frame:
            raise TorchError("Invalid JPEG file structure: two SOF markers")
        if len(body) < 6:
            raise _BadLengthError
        bits, count = body[0], body[5]
        height, width = int.from_bytes(body[1:3], "big"), int.from_bytes(body[3:5], "big")
        if not (height and width and count):
            raise TorchError("Empty JPEG image (DNL not supported)")
        if len(body) != 6 + 3 * count:
            raise _BadLengthError
        if max(height, width) > 65500:
            raise TorchError("Maximum supported image dimension is 65500 pixels")
        if bits != 8:
            raise TorchError(f"Unsupported JPEG data precision {bits}")
        if any(not 1 <= n <= 4 for factors in body[7::3] for n in divmod(factors, 16)):
            raise TorchError("Bogus sampling factors")
        if count not in _PLANES:
            raise TorchError(f"JPEG files of {count} planes are not supported")
        self._frame, self._planes = marker, dict(zip(body[6::3], body[8::3], strict=True))

    def _read_scan(self, body: bytes) -> None:
        if not self._frame:
            raise TorchError("Invalid JPEG file structure: SOS before SOF")
        if not body or not 1 <= body[0] <= 4 or len(body) != 4 + 2 * body[0]:
            raise _BadLengthError
        if not self._has_more:
            raise TorchError("Didn't expect more than one scan")
        names, codes, first, last, shifts = body[1:-3:2], body[2:-3:2], *body[-3:]
        for name in names:
            if name not in self._planes:
                raise TorchError(f"Invalid component ID {name} in SOS")
            if self._planes[name] not in self._quanta:
                raise TorchError(f"Quantization table 0x{self._planes[name]:02x} was not defined")
        self._scans += 1
        is_progressive = self._frame in _PROGRESSIVE
        self._has_more = is_progressive or len(names) < len(self._planes)
        high, low = divmod(shifts, 16)
        if is_progressive:
            _check_progression(len(names), first, last, high, low)
        for tables in codes:
            if not is_progressive or not first and not high:
                self._need_codes(tables >> 4, 0, is_progressive)
            if not is_progressive or first:
                self._need_codes(tables & 15, 0x10, is_progressive)

    def _need_codes(self, index: int, kind: int, is_progressive: bool) -> None:
        is_good = self._codes.get(kind | index)
        if is_good is None and (is_progressive or index not in _KNOWN_CODES):
            raise TorchError(f"Huffman table 0x{index:02x} was not defined")
        if is_good is False:
            raise TorchError("Bogus Huffman table definition")

    def _read_quanta(self, body: bytes) -> None:
        while body:
            wide, index = divmod(body[0], 16)
            if index >= _TABLES:
                raise TorchError(f"Bogus DQT index {index}")
            size = 1 + _QUANTA * (2 if wide else 1)
            if len(body) < size:
                raise _BadLengthError
            self._quanta.add(index)
            body = body[size:]

    def _read_codes(self, body: bytes) -> None:
        while len(body) > _LENGTHS:
            kind, index = body[0] & 0x10, body[0] & ~0x10
            counts, body = body[1 : 1 + _LENGTHS], body[1 + _LENGTHS :]
            if sum(counts) > min(_MOST_CODES, len(body)):
                raise TorchError("Bogus Huffman table definition")
            if index >= _TABLES:
                raise TorchError(f"Bogus DHT index {index}")
            symbols, body = body[: sum(counts)], body[sum(counts) :]
            fits = kind or max(symbols, default=0) <= _LARGEST_FIRST
            self._codes[kind | index] = bool(fits) and _are_codes(counts)
        if body:
            raise _BadLengthError


def _are_codes(counts: bytes) -> bool:
    """Tell whether so many codes of 1 bit, of 2, and so on exist, none of which are all ones."""
    code = 0
    for length, count in enumerate(counts, 1):
        code = 2 * code + count
        if code and count and code >= 1 << length:
            return False
    return True


def _check_progression(count: int, first: int, last: int, high: int, low: int) -> None:
    is_bad = last != 0 if first == 0 else first > last or last >= _QUANTA or count != 1
    if is_bad or high and low != high - 1 or low > 13:
        text = f"Ss={first} Se={last} Ah={high} Al={low}"
        raise TorchError(f"Invalid progressive parameters {text}")
