"""The package image: what the reference prints, files, and what it does where libraries lack."""

import re
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import png
import pytest

from tests.conftest import Lua, run_text
from tests.data_files import data
from tests.transcripts import Entry, cases, normal, wrong
from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.shell import Engine, LuaError

HERE = Path(__file__).parent / "transcripts"


@pytest.mark.sample(1)
@pytest.mark.parametrize("programs", cases("image", HERE))
def test_as_the_reference(
    lua: Lua, programs: list[Entry], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert wrong(programs, lua.answer_anew) == ""


# ------------------------------------------------------------------------- files


@pytest.mark.parametrize("alpha", [False, True])
@pytest.mark.parametrize("grey", [False, True])
@pytest.mark.parametrize("bits", [8, 16])
def test_png_of_all_kinds(lua: Lua, tmp_path: Path, bits: int, grey: bool, alpha: bool) -> None:
    depth = (1 if grey else 3) + alpha
    pixels = np.random.default_rng(3).integers(0, 1 << bits, (4, 5, depth))
    writer = png.Writer(5, 4, greyscale=grey, alpha=alpha, bitdepth=bits, interlace=True)
    path = tmp_path / "x.png"
    with path.open("wb") as file:
        writer.write(file, pixels.reshape(4, -1).tolist())
    loaded = load_image(lua, path, "'double'")
    assert np.allclose(loaded.transpose(1, 2, 0), pixels / ((1 << bits) - 1), atol=1e-15)
    as_bytes = load_image(lua, path, "'byte'")
    assert (as_bytes.transpose(1, 2, 0) == pixels >> (bits - 8)).all()


def load_image(lua: Lua, path: Path, kind: str) -> Array:
    run_text(lua.engine, f"x = require('image').load({str(path)!r}, nil, {kind})")
    values: Array = lua.engine.values["x"].numpy()
    return values


def test_png_with_few_bits_and_with_a_palette(lua: Lua, tmp_path: Path) -> None:
    grey, palette = tmp_path / "grey.png", tmp_path / "palette.png"
    with grey.open("wb") as file:
        png.Writer(3, 1, greyscale=True, bitdepth=2).write(file, [[0, 1, 3]])
    with palette.open("wb") as file:
        png.Writer(2, 1, palette=[(1, 2, 3), (9, 8, 7)], bitdepth=1).write(file, [[1, 0]])
    assert load_image(lua, grey, "'byte'").tolist() == [[[0, 85, 255]]]
    assert load_image(lua, palette, "'byte'").tolist() == [[[9, 1]], [[8, 2]], [[7, 3]]]
    assert lua.error(f"image.getSize({str(palette)!r})") == (
        "[get_png_size] unsupported type: PALETTE"
    )


@pytest.mark.parametrize(
    "header",
    [b"P5\n# c\n3 # 9\r2\n15\n", b"P53,2,15,", b"P5 03x2x15#\n", b"P2 3 2 255#1\n"],
)
def test_headers_of_ppm(lua: Lua, tmp_path: Path, header: bytes) -> None:
    """A comment stands for the end of its line, and any one byte ends a number."""
    path = tmp_path / "x.pgm"
    path.write_bytes(header + (b"35 48 49 50 51 52" if b"P2" in header else b"#01234"))
    assert load_image(lua, path, "'byte'").tolist() == [[[35, 48, 49], [50, 51, 52]]]


def test_jpeg_that_was_cut_short_is_grey_where_it_ends(lua: Lua, tmp_path: Path) -> None:
    path = tmp_path / "x.jpg"
    run_text(lua.engine, f"require('image').saveJPG({str(path)!r}, torch.rand(3, 64, 64))")
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    loaded = load_image(lua, path, "'byte'")
    assert loaded.shape == (3, 64, 64)
    assert (loaded[:, -8:] == 128).all()


PNG = b"\x89PNG\r\n\x1a\n"
READING = "[read_png_file] Error during read_image: "
DAMAGED = READING + "the picture is damaged"
PIXEL = zlib.compress(b"\0\0")


def chunk(name: bytes, data: bytes = b"") -> bytes:
    """A part of a PNG file."""
    check = zlib.crc32(data, zlib.crc32(name))
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", check)


def header(width: int = 1, height: int = 1, colour: int = 0) -> bytes:
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"P6\n99999999 99999999\n255\nabc", "corrupted file or read error"),
        (b"P5\n2 2\n65535\nabc", "corrupted file or read error"),
        (b"P2\n1 1\n0\n1", "corrupted file or read error"),
        (b"P2\n1 1\n1\nx", "corrupted file or read error"),
        (b"P3 #", "corrupted file or read error"),
        (b"P5 " + b"#" * 10**6 + b"\nx", "corrupted file or read error"),
        (b"P5 " + b"1" * 10**6, "corrupted file or read error"),
        (b"P5#\x8f\n3 2#5 \nabcdef", "corrupted file or read error"),
        (b"P2\n1 1\n1\n" + b"9" * 20, "corrupted file or read error"),
        (b"\xff\xd8\xff\xe0", "Corrupt JPEG data"),
        (b"\xff\xd8\xff\xdb\0\3\5", "Corrupt JPEG data"),
        (b"\xff\xd8\xff\xc0\0\x0b\10\0\1\0\1\1\1\x11\0", "Corrupt JPEG data"),
        (PNG, "[read_png] Error during init_io: Missing IHDR"),
        (PNG + chunk(b"IDAT") + bytes(99), "[read_png] Error during init_io: Missing IHDR"),
        (PNG + header()[:-1] + b"?", "[read_png] Error during init_io: IHDR: CRC error"),
        (PNG + header(width=1_000_001), "[read_png] Error during init_io: Invalid IHDR data"),
        (PNG + header() + chunk(b"xxxx"), READING + "Read Error"),
        (PNG + header(colour=3) + chunk(b"IDAT", PIXEL) + chunk(b"IEND"), DAMAGED),
        (
            PNG + header(width=10**6, height=10**6) + chunk(b"IDAT"),
            "$ Torch: not enough memory: you tried to allocate 7450GB. Buy new RAM!",
        ),
        (PNG + header() + chunk(b"IDAT", b"xx") + chunk(b"IEND"), DAMAGED),
        (PNG + header() + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND"), DAMAGED),
        (PNG + header() + chunk(b"IDAT", zlib.compress(b"\5\0")) + chunk(b"IEND"), DAMAGED),
        (
            PNG + header() + chunk(b"IDAT", PIXEL)[:-1] + b"?" + chunk(b"IEND"),
            READING + "IDAT: CRC error",
        ),
        (PNG + header() + chunk(b"IDAT", PIXEL), READING + "Read Error"),
    ],
)
def test_files_that_are_broken(lua: Lua, tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(data)
    assert lua.error(f"require('image').load({str(path)!r})") == message


def test_what_needs_no_library_works_without(lua: Lua, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PIL", "PIL.Image", "PIL.PngImagePlugin", "PIL.JpegImagePlugin", "png"):
        monkeypatch.setitem(sys.modules, name, None)
    assert lua("local image = require 'image' print(image.scale(torch.ones(4, 4), 2):sum())") == (
        "4\t\n"
    )
    message = lua.error("image.compressPNG(torch.rand(2, 2))")
    assert message.startswith("Pillow is needed for this and cannot be loaded (")
    assert message.endswith("): pip install 'th-shell[image]'")


def test_a_full_disk_is_an_error(lua: Lua) -> None:
    message = lua.error("require('image').savePNG('/dev/full', torch.rand(2, 2))")
    assert message == "/dev/full: No space left on device"


# ----------------------------------------------------------------------- display


def test_display_writes_a_file(lua: Lua) -> None:
    printed = lua(
        "w = require('image').display{ image = torch.rand(2, 3), legend = 'mine', zoom = 4 }"
    )
    file = Path(printed.partition(": ")[2].strip())
    try:
        assert printed == f"mine: {file}\t\n"
        assert lua("print(image.load(w.file, nil, 'byte'):size(3))") == "12\t\n"
        again = lua("v = image.display{ image = torch.rand(2, 3), win = w } print(v == w)")
        assert again == f"image.display: {file}\t\ntrue\t\n"
        assert lua("print(image.getSize(w.file)[3])") == "3\t\n"
    finally:
        file.unlink()
    assert (
        lua("print(image.display{ image = torch.rand(2, 2), offscreen = true }.file)") == "nil\t\n"
    )


def test_display_where_a_front_end_shows_pictures() -> None:
    engine, shown = Engine(), []
    engine.show_pictures_by(lambda picture: shown.append(picture.tolist()))
    run_text(engine, "require('image').display(torch.Tensor{ { 1, 3 }, { 2, 5 } })")
    assert shown == [[[0, 0.5], [0.25, 1]]]


def test_there_are_no_windows(lua: Lua) -> None:
    message = normal(lua.answer("require('image').window()"))
    assert message.startswith("error: <image.window> there are no windows here")


def test_pictures_of_the_original(tmp_path: Path) -> None:
    engine = Engine()
    run_text(engine, f"package.path = 'a/?/init.lua;{tmp_path}/?.lua' require 'image'")
    with pytest.raises(LuaError, match="torch/image brings it"):
        run_text(engine, "image.lena()")
    assets = tmp_path / "image" / "assets"
    assets.mkdir(parents=True)
    run_text(engine, f"image.savePNG('{assets}/fabio.png', torch.rand(3, 2, 5))")
    assert engine.values.eval("image.fabio():size(2)") == 5


# ----------------------------------------------------------------------- tensors

NATIVE = data(__file__, "NATIVE")


@pytest.mark.parametrize("call", NATIVE)
def test_functions_of_tensors_check_sizes(lua: Lua, call: str) -> None:
    lua("require 'image' x = torch.rand(2, 3, 4) y = torch.zeros(3, 3, 4)")
    assert lua.error(f"local t = torch.Tensor() t.{call} return nil") == NATIVE[call]
    assert lua("print(y:sum())") == "0\t\n"


WRONG = data(__file__, "WRONG")


@pytest.mark.parametrize("call", WRONG)
def test_which_argument_is_wrong(lua: Lua, call: str) -> None:
    lua("require 'image' x = torch.rand(3, 4, 4)")
    message = lua.error(f"local y = image.{call} return nil")
    assert re.sub(r"\x1b\[[\d;]*m", "", message) == WRONG[call]


def test_destinations_are_views(lua: Lua) -> None:
    """Only the elements of the view change, and those of the source that it shares."""
    assert lua(
        "require 'image' local base = torch.zeros(4, 6) local view = base:narrow(2, 2, 3):t() "
        "image.scale(view:narrow(1, 1, 2), torch.ones(3, 3), 'simple') print(base) "
        "local x = torch.range(1, 5):view(1, 5) x.image.translate(x, x, 2, 0) print(x) "
        "x.image.scaleSimple(x:narrow(2, 1, 2), x) print(x)"
    ) == (
        " 0  1  1  0  0  0\n" * 4 + "[torch.DoubleTensor of dimension 4x6]\n\n"
        " 1  2  1  2  3\n[torch.DoubleTensor of dimension 1x5]\n\n"
        " 1  1  1  2  2\n[torch.DoubleTensor of dimension 1x5]\n\n"
    )
