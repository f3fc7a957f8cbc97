"""Changes of .t7 files: of bits, sizes, lengths, payloads of NaN, class names; and splices.

A mutation is a value of its own, so that one can be left out and the others tried again.
"""

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

#: Lua code that makes objects of all kinds that files can hold.
OBJECTS = """
local x = torch.range(1, 12):resize(3, 4)
local up = {}
local function f(a) return a + #up end
return {
  { 1, 2.5, 'abc', true, x, x:t(), x[1], { a = { b = { c = x:storage() } } } },
  { torch.FloatTensor(1, 3):fill(1):expand(4, 3), torch.CharStorage{ 5, 6 }, x:half() },
  { f, function() return f(up) end, [x] = 1, [{}] = {} },
  torch.LongTensor{ 1, 2, 3 }, torch.range(1, 300), 'string', torch.Tensor(),
}
"""

#: The first 16 bits of the infinities and of NaN; LuaJIT marks its values by those from 0xFFF8.
HIGH_WORDS = (*range(0x7FF0, 0x8000), *range(0xFFF0, 0x10000))

_SPECIAL = (0, 1, -1, 2, 3, 4, 6, 7, 8, 255, 1000, 2**31 - 1, -(2**31), 2**40, 2**62, -(2**63))
_WORDS = (b"0", b"-1", b"2147483647", b"99999999999999999999", b"nan", b"x", b"1e400", b"", b"8")
_LOW = (0, 1, 0x414141414141, 0x7FFFFFFFFFFF, 0xFFFFFFFFFFFF, 0x800000000000)
_CLASS = re.compile(rb"torch\.(?:Double|Float|Long|Int|Short|Char|Byte|Half)(?:Tensor|Storage)")
_NAMES = tuple(
    b"torch." + name + kind
    for name in (b"Double", b"Float", b"Long", b"Int", b"Short", b"Char", b"Byte", b"Half")
    for kind in (b"Tensor", b"Storage")
) + (b"torch.Timer", b"torch.DiskFile", b"torch.MemoryFile", b"torch.Generator", b"torch.Tester")

_KINDS = (
    *("flip", "byte", "cut", "size", "long", "repeat", "word", "index", "class", "splice"),
    *("payload",) * 4,
)


@dataclass(frozen=True)
class Mutation:
    """A change of one kind at a place; value is what is written there, as the kind has it."""

    kind: str
    at: int
    value: bytes

    def apply(self, data: bytes) -> bytes:
        """The changed file."""
        if not data:
            return data
        at = self.at % len(data)
        if self.kind == "flip":
            return data[:at] + bytes([data[at] ^ self.value[0]]) + data[at + 1 :]
        if self.kind == "cut":
            return data[:at]
        if self.kind == "repeat":
            return data[:at] + data[at : at + self.value[0]] + data[at:]
        if self.kind == "splice":
            return data[:at] + self.value
        if self.kind == "word":
            lines = data.split(b"\n")
            lines[self.at % len(lines)] = self.value
            return b"\n".join(lines)
        if self.kind == "class":
            return _renamed(data, self.at, self.value)
        return data[:at] + self.value + data[at + len(self.value) :]


def _renamed(data: bytes, which: int, name: bytes) -> bytes:
    """With one class name exchanged, and the length in front of it made to fit."""
    places = list(_CLASS.finditer(data))
    if not places:
        return data
    place = places[which % len(places)]
    before, old = data[: place.start()], len(place.group())
    if before.endswith(struct.pack("<i", old)):
        before = before[:-4] + struct.pack("<i", len(name))
    elif before.endswith(b"%d\n" % old):
        before = before.removesuffix(b"%d\n" % old) + b"%d\n" % len(name)
    return before + name + data[place.end() :]


def mutations(rng: Random, data: bytes, others: Sequence[bytes], text: bool) -> list[Mutation]:
    """One to four changes that suit a file, in text or in binary."""
    return [_mutation(rng, data, others, text) for _ in range(rng.randint(1, 4))]


def mutate(rng: Random, data: bytes, others: Sequence[bytes], text: bool) -> bytes:
    """The file with one to four changes."""
    for mutation in mutations(rng, data, others, text):
        data = mutation.apply(data)
    return data


def _mutation(rng: Random, data: bytes, others: Sequence[bytes], text: bool) -> Mutation:
    kind = rng.choice(_KINDS)
    if text and kind in ("payload", "size", "long", "index"):
        return Mutation("word", rng.randrange(1 << 16), _word(rng))
    at = rng.randrange(len(data)) if data else 0
    if kind == "flip":
        return Mutation(kind, at, bytes([1 << rng.randrange(8)]))
    if kind == "byte":
        return Mutation(kind, at, bytes([rng.randrange(256)]))
    if kind == "repeat":
        return Mutation(kind, at, bytes([rng.randint(1, 40)]))
    if kind == "word":
        return Mutation(kind, at, _word(rng))
    if kind == "class":
        return Mutation(kind, at, rng.choice(_NAMES))
    if kind == "splice":
        other = rng.choice(others)
        return Mutation(kind, at, other[rng.randrange(len(other) + 1) :])
    if kind == "payload":
        return Mutation(kind, _place_of_number(rng, data), _payload(rng))
    return Mutation(kind, at - at % 4, _whole(rng, kind))


def _whole(rng: Random, kind: str) -> bytes:
    if kind == "index":  # of an object, which then comes twice, or stands for another
        return struct.pack("<i", rng.randint(1, 20))
    value = rng.choice(_SPECIAL)
    if kind == "cut":
        return b""
    return struct.pack("<i" if kind == "size" and abs(value) < 2**31 else "<q", value)


def _payload(rng: Random) -> bytes:
    high = rng.choice(HIGH_WORDS)
    if rng.random() < 0.25:
        return struct.pack("<I", high << 16 | rng.choice((0, 1, 0x4141, 0xFFFF)))
    low = rng.choice(_LOW) if rng.random() < 0.8 else rng.randrange(1 << 48)
    return struct.pack("<Q", high << 48 | low) * rng.choice((1, 1, 4))


def _word(rng: Random) -> bytes:
    choice = rng.randrange(3)
    if choice == 0:
        return rng.choice((b"-nan(0x%x)", b"nan(0x%x)")) % rng.randrange(1 << 52)
    return b"%d" % rng.choice(_SPECIAL) if choice == 1 else rng.choice(_WORDS)


def _place_of_number(rng: Random, data: bytes) -> int:
    """Where a small double stands, or any place that is a multiple of 4."""
    form = struct.pack("<d", rng.randint(1, 12))
    at = data.find(form, rng.randrange(max(1, len(data) // 2)))
    return at if at >= 0 else 4 * rng.randrange(len(data) // 4 + 1)
