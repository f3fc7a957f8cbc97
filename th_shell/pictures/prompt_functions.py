"""The functions `show`, `imshow`, `hist` and `plot` of the prompt and of notebooks.

They are globals there alone: a program for Torch7 may use these names for its own, and what it
does as a script must not depend on them. A program or session that assigns to one of the names has
its own from then on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from th_shell.pictures.display import Picture
    from th_shell.runtime.shell import Engine

NAMES = ("show", "imshow", "hist", "plot")


def install(engine: Engine) -> None:
    """Define the functions in an engine; the package image shows its pictures as `show` does."""
    for name, function in zip(NAMES, (_show, _show, _hist, _plot), strict=True):
        engine.define(name, function)
    engine.show_pictures_by(_show)


def _show(*args: Any) -> str | None:
    from th_shell.pictures.images import Image

    values, _, file = _read(args, "show(x) or show(x, 'file.png')")
    return _present(Image(values), file)


def _hist(*args: Any) -> str | None:
    from th_shell.pictures.plots import Histogram

    usage = "hist(x), hist(x, bins) or hist(x, bins, 'file.png')"
    values, bins, file = _read(args, usage, lambda second: isinstance(second, (int, float)))
    return _present(Histogram(values, 20 if bins is None else int(bins)), file)


def _plot(*args: Any) -> str | None:
    from th_shell.pictures.plots import Line

    usage = "plot(y), plot(x, y) or plot(x, y, 'file.png')"
    first, second, file = _read(args, usage, _is_array)
    return _present(Line(first) if second is None else Line(second, first), file)


def _present(picture: Picture, file: str | None) -> str | None:
    from th_shell.pictures.display import present

    return present(picture, file)


def _is_array(value: Any) -> bool:
    return hasattr(value, "shape")


def _read(
    args: tuple[Any, ...], usage: str, fits: Callable[[Any], bool] = lambda _: False
) -> tuple[Any, Any, str | None]:
    """Return the array, a second argument that fits or None, and the file's name or None."""
    values = list(args)
    file = values.pop() if values and isinstance(values[-1], str) else None
    first, second = [*values, None, None][:2]
    if not _is_array(first) or len(values) > 2 or (len(values) == 2 and not fits(second)):
        raise ValueError(f"is called as {usage}")
    return first, second, file
