"""PNG files of pixels."""

from __future__ import annotations

from io import BytesIO

from th_shell.pictures.libraries import load
from th_shell.pictures.pixels import Array


def png(image: Array) -> bytes:
    """The file of an image H x W x 3 of bytes. Raises ValueError where pillow is missing."""
    module = load("PIL.Image", "a PNG file")
    file = BytesIO()
    module.fromarray(image).save(file, "PNG")
    return file.getvalue()
