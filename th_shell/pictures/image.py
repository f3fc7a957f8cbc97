"""The picture of `show` and `imshow`."""

from __future__ import annotations

from th_shell.pictures.characters import image_text
from th_shell.pictures.graphics import kitty, sixel
from th_shell.pictures.pixels import Array, enlarged, pixels
from th_shell.pictures.png import png
from th_shell.pictures.screen import Graphics, Screen


class Image:
    """An image of a tensor's values (see `pixels`)."""

    def __init__(self, values: Array) -> None:
        self._pixels = pixels(values)

    def to_png(self, least: int = 1) -> bytes:
        """A PNG file; least: pixels that the longer side is to have, about."""
        return png(enlarged(self._pixels, least))

    def to_text(self, screen: Screen) -> str:
        """What a terminal draws."""
        draw = {Graphics.KITTY: kitty, Graphics.SIXEL: sixel}.get(screen.graphics, image_text)
        return draw(self._pixels, screen)
