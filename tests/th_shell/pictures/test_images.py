"""Images: pixels of tensors, and how terminals draw them."""

from __future__ import annotations

import base64
import re
import zlib
from io import BytesIO

import numpy as np
import pytest
from PIL import Image as Pillow

from th_shell.pictures.display import Graphics, Ink, Screen
from th_shell.pictures.drawing import Image, fitted, image_text, kitty, sixel
from th_shell.pictures.pixels import Array, enlarged, pixels, resized

BLACK, WHITE, RED = [0, 0, 0], [255, 255, 255], [255, 0, 0]
SMALL = Screen(40, 12)


def grey(*rows: list[int]) -> Array:
    return np.array(rows, np.uint8)[:, :, None].repeat(3, axis=2)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([[0.0, 0.5], [1, 0.25]], grey([0, 128], [255, 64])),
        ([[[0.0, 0.5], [1, 0.25]]], grey([0, 128], [255, 64])),
        ([[-1.0, 0], [1, 3]], grey([0, 64], [128, 255])),
        ([[5.0, 5]], grey([0, 0])),
        ([[np.nan, 1, np.inf, -np.inf]], grey([0, 255, 255, 0])),
        ([[[1.0]], [[0]], [[0]]], np.array([[RED]], np.uint8)),
        ([[[1.0, 0, 0], [0, 0, 0]]] * 2, np.array([[RED, BLACK]] * 2, np.uint8)),
        (np.array([[7, 255]], np.uint8), grey([7, 255])),
    ],
)
def test_the_pixels_of_a_tensor(values: object, expected: Array) -> None:
    assert np.array_equal(pixels(np.array(values)), expected)


@pytest.mark.parametrize(
    ("shape", "size"), [((5, 4, 4), (9, 14)), ((4, 1, 2, 2), (5, 5)), ((2, 3, 2, 2), (2, 5))]
)
def test_several_images_make_a_grid(shape: tuple[int, ...], size: tuple[int, int]) -> None:
    sheet = pixels(np.ones(shape))
    assert sheet.shape == (*size, 3)
    assert sheet[0, 0].tolist() == WHITE
    assert sheet[0, shape[-1]].tolist() == [96, 96, 96]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.empty(0), "the tensor is empty"),
        (np.ones(3), "an image is HxW, 1xHxW or 3xHxW, or several of these, not 3"),
        (
            np.ones((2, 2, 3, 3)),
            "an image is HxW, 1xHxW or 3xHxW, or several of these, not 2x2x3x3",
        ),
        (np.full((2, 2), np.nan), "there is no finite number in the tensor"),
    ],
)
def test_what_is_no_image(values: Array, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        pixels(values)
    assert str(caught.value) == message


def test_other_sizes() -> None:
    image = grey([0, 100], [50, 250])
    assert np.array_equal(resized(image, 1, 1), grey([100]))
    assert np.array_equal(resized(image, 2, 4)[0], grey([0, 0, 100, 100])[0])
    assert resized(grey([1] * 7), 3, 5).shape == (3, 5, 3)
    assert enlarged(image, 7).shape == (6, 6, 3)
    assert enlarged(image, 1).shape == (2, 2, 3)


@pytest.mark.parametrize(
    ("size", "room", "expected"),
    [
        ((16, 16), (80, 24), (32, 32)),
        ((100, 100), (80, 24), (40, 40)),
        ((1000, 10), (80, 24), (40, 1)),
        ((10, 1000), (40, 24), (1, 39)),
        ((1, 1), (80, 24), (32, 32)),
        ((3, 3), (10, 4), (6, 6)),
    ],
)
def test_images_fit_the_screen(
    size: tuple[int, int], room: tuple[int, int], expected: tuple[int, int]
) -> None:
    assert fitted(*size, *room) == expected


IMAGE = np.array([[BLACK, RED], [WHITE, RED]], np.uint8).repeat(8, axis=0).repeat(8, axis=1)


@pytest.mark.parametrize(
    ("ink", "first", "last"),
    [
        (Ink.SHADES, " " * 8 + "░" * 8, "█" * 8 + "░" * 8),
        (Ink.ASCII, " " * 8 + ":" * 8, "@" * 8 + ":" * 8),
        (
            Ink.COLOURS_256,
            f"\x1b[38;5;232;48;5;232m{'▀' * 8}\x1b[38;5;196;48;5;196m{'▀' * 8}\x1b[0m",
            f"\x1b[38;5;255;48;5;255m{'▀' * 8}\x1b[38;5;196;48;5;196m{'▀' * 8}\x1b[0m",
        ),
        (
            Ink.COLOURS,
            f"\x1b[38;2;0;0;0;48;2;0;0;0m{'▀' * 8}\x1b[38;2;255;0;0;48;2;255;0;0m{'▀' * 8}\x1b[0m",
            f"\x1b[38;2;255;255;255;48;2;255;255;255m{'▀' * 8}"
            f"\x1b[38;2;255;0;0;48;2;255;0;0m{'▀' * 8}\x1b[0m",
        ),
    ],
)
def test_images_of_characters(ink: Ink, first: str, last: str) -> None:
    lines = image_text(IMAGE, SMALL._replace(ink=ink)).splitlines()
    assert [lines[0], lines[-1]] == [first, last]
    assert len(lines) == 8


def test_half_a_line_at_the_end() -> None:
    image = np.full((33, 20, 3), 255, np.uint8)
    lines = image_text(image, Screen(ink=Ink.COLOURS)).splitlines()
    assert lines[-1] == f"\x1b[38;2;255;255;255;48;2;0;0;0m{'▀' * 20}\x1b[0m"


def test_a_png_file() -> None:
    data = Image(np.array([[0.0, 1]])).to_png()
    assert np.array_equal(np.array(Pillow.open(BytesIO(data))), grey([0, 255]))
    assert Pillow.open(BytesIO(Image(np.ones((2, 4))).to_png(40))).size == (40, 20)


def test_kitty() -> None:
    noise = np.random.default_rng(1).integers(0, 256, (60, 50, 3), np.uint8)
    text = kitty(noise, Screen(20, 10))
    codes = re.findall("\x1b_G(.*?);(.*?)\x1b\\\\", text)
    assert [keys for keys, _ in codes[1:]] == ["q=2,m=1"] * (len(codes) - 2) + ["q=2,m=0"]
    assert codes[0][0] == "a=T,f=24,o=z,s=160,v=192,q=2,m=1"
    assert all(len(chunk) <= 4096 for _, chunk in codes)
    data = zlib.decompress(base64.b64decode("".join(chunk for _, chunk in codes)))
    expected = resized(enlarged(noise, 256), 192, 160)
    assert np.array_equal(np.frombuffer(data, np.uint8).reshape(192, 160, 3), expected)


def read_sixel(text: str) -> Array:
    """The pixels that codes of sixels draw."""
    header = re.match(r'\x1bPq"1;1;(\d+);(\d+)', text)
    assert header and text.endswith("\x1b\\\n")
    width, height = int(header[1]), int(header[2])
    found = np.zeros((height + 5, width, 3))
    palette: dict[str, list[float]] = {}
    for band, codes in enumerate(text[header.end() : -3].split("-")):
        for number, rgb in re.findall(r"#(\d+);2;(\d+;\d+;\d+)", codes):
            palette[number] = [int(one) * 255 / 100 for one in rgb.split(";")]
        for number, line in re.findall(r"#(\d+)((?:!\d+[?-~]|[?-~])+)", codes):
            left = 0
            for again, char in re.findall(r"(?:!(\d+))?([?-~])", line):
                for _ in range(int(again or 1)):
                    for bit in range(6):
                        if (ord(char) - 63) >> bit & 1:
                            found[6 * band + bit, left] = palette[number]
                    left += 1
    return found[:height]


def test_sixels() -> None:
    image = np.array([[BLACK, RED, WHITE, [51, 102, 153]]], np.uint8).repeat(8, axis=0)
    image = image.repeat(80, axis=1)
    image[7, 5] = RED
    drawn = read_sixel(sixel(image, Screen(40, 10)))
    assert drawn.shape == (8, 320, 3)
    assert np.abs(drawn - image).max() <= 1


@pytest.mark.parametrize(
    ("graphics", "start"),
    [(Graphics.KITTY, "\x1b_G"), (Graphics.SIXEL, "\x1bP"), (Graphics.CHARACTERS, "█")],
)
def test_what_a_terminal_gets(graphics: Graphics, start: str) -> None:
    text = Image(np.ones((4, 4))).to_text(Screen(graphics=graphics))
    assert text.startswith(start)
