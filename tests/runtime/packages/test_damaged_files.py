"""Files of images and of HDF5 that are damaged in many ways: errors in the package's own words."""

import io
import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from random import Random

import h5py
import numpy as np
import png
import pytest
from PIL import Image

from tests.conftest import Lua, run_text
from tests.fuzz.mutations import mutate
from th_shell.runtime.core.dtypes import Array

COUNT = 400  # of damaged files of each kind

NO_IMAGE = r"<image\.load> (unable to determine|unknown) image type.*"
READING = r"\[\w+\] Error during \w+: "
PNG = (
    r"\[(read_png_file|get_png_size)\] File \S+ (error reading header|is not recognized as a .*)",
    READING + r"(Read Error|\w+: CRC error|Invalid IHDR data|Missing IHDR|the picture is damaged)",
    r"\[get_png_size\] unsupported type: PALETTE",
    NO_IMAGE,
)
JPEG = (
    "Corrupt JPEG data",
    "Empty input file",
    r"Not a JPEG file: starts with 0x\w\w 0x\w\w",
    NO_IMAGE,
)
PPM = (r"corrupted file( or read error)?", r"unsupported magic number: P.?", NO_IMAGE)
HDF5 = (
    r"HDF5File: fileID -1 is not valid \(.*\)",
    r"Unable to read from '.*' in \[HDF5Group \d+ .*\] - no such data path \(.*\)",
    r"(Failed getting (group info|dataspace size)|Invalid groupID -1) \(.*\)",
    r"Error getting type for object \d+ \(.*\)",
    r"HDF5DataSet:all\(\) - failed reading data from \[HDF5DataSet \(\d+ .* DATASET\)\] \(.*\)",
    r"Unsupported data type at .*",
    r"Reading data of class \w+\(.*\) is unsupported",
    r"Cannot support reading \w+ data with size = \d+ bytes",
    r"HDF5Group:read\(\) - no such child '\w+' for \[HDF5Group \d+ .*\]",
    r"\$ Torch: not enough memory: you tried to allocate \d+GB. Buy new RAM!",
)
THEIRS = re.compile(r"h5py|numpy|Errno|PIL|codec|unpack|Python|errno|synchronously", re.IGNORECASE)


def pngs() -> Iterator[bytes]:
    rng = np.random.default_rng(1)
    for bits, depth in ((1, 1), (4, 1), (8, 1), (8, 2), (8, 3), (16, 1), (16, 3), (16, 4)):
        file, pixels = io.BytesIO(), rng.integers(0, 1 << bits, (6, 7 * depth))
        kind = {"greyscale": depth < 3, "alpha": depth in (2, 4), "interlace": depth != 3}
        png.Writer(7, 6, bitdepth=bits, gamma=1.2, **kind).write(file, pixels.tolist())
        yield file.getvalue()
    file = io.BytesIO()
    png.Writer(3, 1, palette=[(1, 2, 3), (9, 8, 7)], bitdepth=2).write(file, [[1, 0, 1]])
    yield file.getvalue()


def jpegs() -> Iterator[bytes]:
    rng = np.random.default_rng(1)
    for mode, depth in (("L", 1), ("RGB", 3), ("CMYK", 4)):
        for progressive in (False, True):
            pixels: Array = rng.integers(0, 256, (17, 16, depth)).astype(np.uint8)
            file = io.BytesIO()
            image = Image.frombytes(mode, (16, 17), pixels.tobytes())
            exif = b"Exif\0\0MM\0*\0\0\0\x08\0\0"
            image.save(file, "JPEG", progressive=progressive, exif=exif, comment="c")
            yield file.getvalue()


def ppms() -> Iterator[bytes]:
    yield b"P2\n3 2\n15\n1 2 3 4 5 6\n"
    yield b"P3\n# colours\n1 2\n255\n1 2 3 4 5 99999999999999999999\n"
    yield b"P5\n3 2\n255\nabcdef"
    yield b"P6\n2 1\n65535\nabcdefghijkl"


def groups() -> Iterator[bytes]:
    """Files of HDF5. Chunks are left out: damaged ones may end the process in HDF5's library."""
    for version in ("earliest", "latest"):
        file = io.BytesIO()
        with h5py.File(file, "w", libver=version) as top:
            top["x"], top["g/h/y"] = np.arange(12.0).reshape(3, 4), np.arange(5, dtype="i4")
            top["t"] = ["a", "bc"]
            top["g"].attrs["a"] = 3
        yield file.getvalue()


def with_sums(data: bytes) -> bytes:
    """A PNG file with the checksums that its chunks should have."""
    at, parts = 8, [data[:8]]
    while at + 12 <= len(data):
        end = at + 12 + int.from_bytes(data[at : at + 4], "big")
        if end > len(data):
            break
        contents = data[at + 4 : end - 4]
        parts += [data[at : at + 4], contents, struct.pack(">I", zlib.crc32(contents))]
        at = end
    return b"".join(parts) + data[at:]


IMAGES = {"png": (pngs, PNG), "jpg": (jpegs, JPEG), "ppm": (ppms, PPM)}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", IMAGES)
def test_images(lua: Lua, tmp_path: Path, kind: str) -> None:
    make, words = IMAGES[kind]
    originals, rng, path = list(make()), Random(5), tmp_path / f"x.{kind}"
    own = re.compile("|".join(words), re.DOTALL)
    load = lua.engine.values.eval(
        "(function() local image = require 'image' return function(path, kind) "
        "local done, e = pcall(image.load, path, nil, kind) "
        "local sized, f = pcall(image.getSize, path) "
        "return done and 'done' or e, sized and 'done' or f end end)()"
    )
    outcomes = set()
    for _ in range(COUNT):
        data = mutate(rng, rng.choice(originals), originals, False)
        path.write_bytes(with_sums(data) if kind == "png" and rng.random() < 0.7 else data)
        for answer in load(str(path), rng.choice(["byte", "double"])):
            text = re.sub(r"\x1b\[[\d;]*m", "", answer)
            assert text == "done" or own.fullmatch(text), text
            outcomes.add(text)
    assert "done" in outcomes and len(outcomes) > 3
    assert lua.output() == ""


def test_what_is_beside_the_picture_may_be_damaged(lua: Lua, tmp_path: Path) -> None:
    """As for the original's libraries: numbers of other programs, and chunks of another kind."""
    grey = next(jpegs())
    (tmp_path / "a.jpg").write_bytes(grey)
    (tmp_path / "b.jpg").write_bytes(grey.replace(b"MM\0*", b"\xff\0\xff\0"))
    picture = next(pngs())
    (tmp_path / "a.png").write_bytes(picture)
    at = picture.index(b"gAMA") - 4
    (tmp_path / "b.png").write_bytes(picture[:at] + b"\0\0\0\1tEXt\xff????" + picture[at + 16 :])
    run_text(
        lua.engine,
        f"""
        local image = require 'image'
        for _, name in ipairs{{ 'jpg', 'png' }} do
          local x, y = image.load('{tmp_path}/a.' .. name), image.load('{tmp_path}/b.' .. name)
          assert(x:equal(y))
        end
    """,
    )


@pytest.mark.thorough
def test_hdf5(lua: Lua, tmp_path: Path) -> None:
    originals, rng, path = list(groups()), Random(5), tmp_path / "x.h5"
    own = re.compile("|".join(HDF5))
    read = lua.engine.values.eval(
        "(function() local hdf5 = require 'hdf5' return function(path) "
        "local done, f = pcall(hdf5.open, path, 'r') if not done then return f end "
        "local answers = {} for _, name in ipairs{ 'x', 'g/h/y', 't' } do "
        "local done, e = pcall(function() return f:read(name):all() end) "
        "answers[#answers + 1] = done and 'done' or e end f:close() "
        "return unpack(answers) end end)()"
    )
    outcomes = set()
    for _ in range(COUNT):
        path.write_bytes(mutate(rng, rng.choice(originals), originals, False))
        answers = read(str(path))
        for answer in (answers,) if isinstance(answers, str) else answers:
            assert answer == "done" or own.fullmatch(answer), answer
            assert not THEIRS.search(answer), answer
            outcomes.add(answer)
    assert "done" in outcomes and len(outcomes) > 3
    assert lua.output() == ""
