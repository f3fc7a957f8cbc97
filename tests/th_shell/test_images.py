"""Images: pixels of tensors, and how terminals draw them."""

import os
import pty
from io import BytesIO

import numpy as np
import pytest
from PIL import Image as Pillow

from th_shell.images import (
    Array,
    Image,
    Ink,
    Screen,
    enlarged,
    fitted,
    image_text,
    pixels,
    resized,
    screen,
)

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


@pytest.mark.parametrize(
    ("environment", "ink"),
    [
        ({"TERM": "xterm-256color"}, Ink.COLOURS_256),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, Ink.COLOURS),
        ({"TERM": "xterm", "COLORTERM": "24bit", "NO_COLOR": "1"}, Ink.SHADES),
        ({"TERM": "dumb", "COLORTERM": "truecolor"}, Ink.ASCII),
        ({"TERM": "linux"}, Ink.SHADES),
        ({"TERM": "xterm-kitty"}, Ink.COLOURS_256),
    ],
)
def test_terminals(environment: dict[str, str], ink: Ink) -> None:
    leader, follower = pty.openpty()
    try:
        os.set_blocking(leader, False)
        assert screen(environment, follower) == Screen(80, 24, ink)
        with pytest.raises(BlockingIOError):
            os.read(leader, 1)  # the terminal was not asked anything
    finally:
        os.close(leader)
        os.close(follower)


def test_what_is_no_terminal() -> None:
    reader, writer = os.pipe()
    try:
        environment = {"TERM": "xterm-kitty", "COLORTERM": "truecolor"}
        assert screen(environment, writer) == Screen(80, 24, Ink.SHADES)
    finally:
        os.close(reader)
        os.close(writer)
