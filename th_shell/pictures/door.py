"""The functions `show`, `imshow`, `hist` and `plot` of the prompt and of notebooks.

They are globals there alone: a program for Torch7 may use these names for its own, and what it
does as a script must not depend on them. A program or session that assigns to one of the names has
its own from then on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runtime import Engine

NAMES = ("show", "imshow", "hist", "plot")


def install(engine: Engine) -> None:
    """Define the functions in an engine; the package image shows its pictures as `show` does."""
    for name, function in zip(NAMES, (_show, _show, _hist, _plot), strict=True):
        engine.define(name, function)
    engine.show_pictures_by(_show)


def _show(*args: Any) -> str | None:
    from th_shell.pictures.display import present
    from th_shell.pictures.drawing import Image

    (values, *rest), file = _split(args, "show(x) or show(x, 'file.png')")
    _expect_none(rest, "show(x) or show(x, 'file.png')")
    return present(Image(values), file)


def _hist(*args: Any) -> str | None:
    from th_shell.pictures.display import present
    from th_shell.pictures.plots import Histogram

    usage = "hist(x), hist(x, bins) or hist(x, bins, 'file.png')"
    (values, *rest), file = _split(args, usage)
    bins = rest.pop(0) if rest and isinstance(rest[0], (int, float)) else 20
    _expect_none(rest, usage)
    return present(Histogram(values, int(bins)), file)


def _plot(*args: Any) -> str | None:
    from th_shell.pictures.display import present
    from th_shell.pictures.plots import Line

    usage = "plot(y), plot(x, y) or plot(x, y, 'file.png')"
    (first, *rest), file = _split(args, usage)
    if not rest:
        return present(Line(first), file)
    _expect_none(rest[1:], usage)
    if not hasattr(rest[0], "shape"):
        raise ValueError(f"is called as {usage}")
    return present(Line(rest[0], first), file)


def _split(args: tuple[Any, ...], usage: str) -> tuple[list[Any], str | None]:
    """The arguments without the name of a file at their end, and that name."""
    values = list(args)
    file = values.pop() if values and isinstance(values[-1], str) else None
    if not values or not hasattr(values[0], "shape"):
        raise ValueError(f"is called as {usage}")
    return values, file


def _expect_none(rest: list[Any], usage: str) -> None:
    if rest:
        raise ValueError(f"is called as {usage}")
