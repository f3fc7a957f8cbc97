"""Reads and writes ascii files: numbers as C's scanf reads them, and printf writes them.

Behind each number, list of numbers and string is a newline. The text is in memory as a whole.
"""

import math
import re
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import BYTE, CHAR, FLOAT, HALF, INT, Array, DType, cast, wrapped
from th_shell.runtime.core.storage import STORAGE_CLASSES, Storage
from th_shell.runtime.t7.binary import (
    FULL,
    OVERFLOW,
    BinarySink,
    Collector,
    check_length,
    too_short,
)
from th_shell.runtime.t7.tensors import parts_of
from th_shell.runtime.t7.values import T7Error

_WHOLE = re.compile(rb"[ \t-\r]*([+-]?[0-9]+)")
_NUMBER = re.compile(
    rb"[ \t-\r]*([+-]?(?:0x(?:[0-9a-f]+(?:\.[0-9a-f]*)?|\.[0-9a-f]+)(?:p[+-]?[0-9]+)?"
    rb"|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?|nan(?:\([0-9a-z_]*\))?))",
    re.IGNORECASE,
)
_LONG = 1 << 63


class TextSource:
    """An ascii file, read as a `BinarySource` is."""

    has_longs = False  # of some size

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def position(self) -> int:
        return self._at

    def read_int(self) -> int:
        return wrapped(self.read_long(), INT)

    def read_long(self) -> int:
        number = self._whole()
        self._skip_newline()
        return number

    def read_double(self) -> float:
        number = self._number()
        self._skip_newline()
        return number

    def read_longs(self, count: int) -> tuple[int, ...]:
        numbers = tuple([self._whole() for _ in range(count)])
        self._skip_newline()
        return numbers

    def read_string(self) -> bytes:
        count = self.read_int()
        if count < 0:
            raise T7Error(OVERFLOW)
        text = self._data[self._at : self._at + count]
        self._at += len(text)
        if len(text) < count:
            raise too_short(len(text), count)
        if count:
            self._skip_newline()
        return text

    def read_elements(self, dtype: DType, count: int) -> Storage:
        if count < 0:
            raise T7Error(OVERFLOW)
        left = len(self._data) - self._at
        most = left if dtype in (BYTE, CHAR) else (left + 1) // 2
        if count > most:
            raise too_short(0, count)
        storage = STORAGE_CLASSES[dtype.index].new(count)
        if dtype in (BYTE, CHAR):  # as they are
            storage.data.view(np.uint8).data[:] = self._data[self._at : self._at + count]
            self._at += count
        else:
            numbers = self._numbers(dtype, count)
            if dtype is HALF:  # scanf reads a float
                numbers = cast(numbers, FLOAT)
            storage.data[:] = cast(numbers, dtype)
        if count:
            self._skip_newline()
        return storage

    def read_plain_entries(self, into: dict[Any, Any], count: int) -> tuple[int, Any]:
        return 0, None

    def _numbers(self, dtype: DType, count: int) -> Array:
        """Return the next numbers, as the widest of the type's kind."""
        wide = np.float64 if dtype.is_float else np.int64
        numbers = self._line(_NUMBER if dtype.is_float else _WHOLE, wide, count)
        if numbers is not None:
            return numbers
        read = self._number if dtype.is_float else self._whole
        return np.fromiter((read() for _ in range(count)), wide, count)

    def _line(self, pattern: re.Pattern[bytes], wide: type, count: int) -> Array | None:
        """Return numbers that are all those of one line, as Torch7 writes them; None for others."""
        end = self._data.find(b"\n", self._at)
        words = self._data[self._at : end].split() if end >= 0 else []
        if len(words) != count or not all(pattern.fullmatch(word) for word in words):
            return None
        try:
            numbers: Array = np.array(words, dtype=wide)
        except (ValueError, OverflowError):  # numbers that scanf reads in ways of its own
            return None
        self._at = end
        return numbers

    def _whole(self) -> int:
        """Return the next whole number; beyond 64 bits it is the nearest one of 64 bits."""
        text = self._next(_WHOLE)
        digits = text.lstrip(b"+-0")
        if len(digits) > len(str(_LONG)):  # Python refuses to read very many
            return -_LONG if text[:1] == b"-" else _LONG - 1
        return min(max(int(text), -_LONG), _LONG - 1)

    def _number(self) -> float:
        text = self._next(_NUMBER).lower()
        if b"nan" in text:
            return math.copysign(math.nan, -1 if text[:1] == b"-" else 1)
        if b"x" in text:
            try:
                return float.fromhex(text.decode())
            except OverflowError:
                return math.copysign(math.inf, -1 if text[:1] == b"-" else 1)
        return float(text)

    def _next(self, pattern: re.Pattern[bytes]) -> bytes:
        match = pattern.match(self._data, self._at)
        if match is None:
            raise too_short(0, 1)
        self._at = match.end()
        return match[1]

    def _skip_newline(self) -> None:
        if self._data[self._at : self._at + 1] == b"\n":
            self._at += 1


def number_text(value: float) -> bytes:
    """Return a double as text: all its digits, and of a nan the sign."""
    if value != value:
        return b"-nan" if math.copysign(1, value) < 0 else b"nan"
    return b"%.17g" % value


def element_texts(data: Array, dtype: DType) -> bytes:
    """Return elements as text, with blanks between them."""
    if not dtype.is_float:
        return b" ".join([b"%d" % value for value in data.tolist()])
    if dtype.size == 8:
        return b" ".join(map(number_text, data.tolist()))
    texts = [b"%.9g" % value if value == value else number_text(value) for value in data.tolist()]
    return b" ".join(texts)


class TextSink(Collector):
    """An ascii file, written as a `BinarySink` is."""

    def put_int(self, value: int) -> None:
        self._add(b"%d\n" % value)

    put_long = put_int

    def put_longs(self, values: tuple[int, ...]) -> None:
        if values:
            self._add(b" ".join([b"%d" % value for value in values]) + b"\n")

    def put_double(self, value: float) -> None:
        self._add(number_text(value) + b"\n")

    def put_string(self, value: bytes) -> None:
        check_length(value)
        self.put_int(len(value))
        if value:
            self._add(value + b"\n")

    def put_elements(self, storage: Storage) -> None:
        dtype, between = storage.dtype, b""
        for piece in parts_of(storage):
            if dtype in (BYTE, CHAR):  # as they are
                self._pass_on(piece.view(np.uint8).data)
                continue
            for start in range(0, len(piece), FULL):
                self._add(between + element_texts(piece[start : start + FULL], dtype))
                between = b" "
        if storage.size:
            self._add(b"\n")


Sink = BinarySink | TextSink
