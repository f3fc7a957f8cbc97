"""The package gnuplot: files and pictures; what it draws is told by matplotlib."""

import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import Lua, run_text
from th_shell.runtime.core.tensor import TENSOR_CLASSES, Tensor
from th_shell.runtime.packages import gnuplot
from th_shell.runtime.packages.gnuplot.plotter import Style, draw, read_description, read_style
from th_shell.runtime.shell import Engine

DOUBLE = next(c for c in TENSOR_CLASSES if c.dtype.name == "Double")
STARTS = {"png": b"\x89PNG", "svg": b"<?xml", "eps": b"%!PS-Adobe", "pdf": b"%PDF"}


def tensor(*values: Any) -> Tensor:
    return DOUBLE.of(np.array(values, np.float64))


def drawn(text: str, *tensors: Tensor) -> Any:
    """The axes of a figure that is described."""
    from matplotlib.figure import Figure  # which takes long to load

    figure = Figure()
    draw(figure, read_description(text.removesuffix("\n").encode(), list(tensors)))
    return figure.axes[0]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lua: Lua) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(gnuplot, "_FREE", math.inf)
    lua("require 'gnuplot' pcall(gnuplot.closeall)")
    yield tmp_path
    lua("pcall(gnuplot.closeall)")
    gnuplot._waiting.clear()


# ------------------------------------------------------------------------- files


@pytest.mark.thorough
@pytest.mark.parametrize("kind", STARTS)
def test_figures_for_files(lua: Lua, here: Path, kind: str) -> None:
    file = here / f"x.{kind}"
    lua(f"n = gnuplot.{kind}figure('{file.name}') gnuplot.plot('a', torch.rand(3), '-')")
    assert not file.exists()
    lua("gnuplot.plotflush(n)")
    assert file.read_bytes().startswith(STARTS[kind])
    file.unlink()
    assert lua("gnuplot.close() print(n)") == "1\t\n"
    assert file.exists()


@pytest.mark.thorough
def test_figures_for_files_are_drawn_at_the_end(here: Path) -> None:
    program = "require 'gnuplot' gnuplot.pngfigure('x.png') gnuplot.plot(torch.rand(3))"
    subprocess.run([sys.executable, "-m", "th_shell", "-e", program], check=True, timeout=60)
    assert (here / "x.png").read_bytes().startswith(STARTS["png"])


@pytest.fixture
def no_time_to_draw(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gnuplot, "_FREE", 0.0)
    monkeypatch.setattr(gnuplot, "_SHARE", 0.0)


@pytest.mark.thorough
@pytest.mark.usefixtures("no_time_to_draw")
def test_figures_that_change_all_the_time_wait(lua: Lua, here: Path) -> None:
    """The first state is drawn at once, the last one before a command, which may look at it."""
    lua("gnuplot.pngfigure('x.png') gnuplot.plot(torch.rand(3)) gnuplot.plotflush()")
    file = here / "x.png"
    first = file.read_bytes()
    lua("for _ = 1, 1e3 do gnuplot.plot(torch.rand(4)) gnuplot.title('a') gnuplot.plotflush() end")
    assert file.read_bytes() == first
    lua("os.execute('cp x.png y.png')")
    assert first != file.read_bytes() == (here / "y.png").read_bytes()


@pytest.mark.thorough
@pytest.mark.usefixtures("no_time_to_draw")
def test_errors_of_figures_that_wait_are_told(
    lua: Lua, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = StringIO()
    monkeypatch.setattr(sys, "stderr", told)
    lua("gnuplot.pngfigure('x.png') gnuplot.plot(torch.rand(3)) gnuplot.plotflush()")
    lua("gnuplot.axis{ 'a', 'b', 0, 1 } io.popen('true'):close()")
    assert told.getvalue() == "gnuplot: 'a:b' is no range\n"
    assert lua("gnuplot.close() io.popen('true'):close() gnuplot.closeall()") == ""


@pytest.mark.thorough
def test_figprint(lua: Lua, here: Path) -> None:
    lua("gnuplot.pngfigure('x.png') gnuplot.imagesc(torch.rand(2, 3)) gnuplot.figprint('y.pdf')")
    assert [path.name for path in here.iterdir()] == ["y.pdf"]
    assert lua.error("gnuplot.figprint('y.gif')") == "only eps and png and pdf for figprint"


@pytest.mark.thorough
def test_a_script_gets_a_file(lua: Lua, here: Path) -> None:
    printed = lua("gnuplot.plot(torch.rand(3)) gnuplot.title('a') gnuplot.plot(torch.rand(4))")
    start, _, name = printed.strip().partition(" 1: ")
    assert start == "gnuplot: figure" and printed.count("\n") == 1
    file = Path(name)
    assert file.read_bytes().startswith(STARTS["png"])
    file.unlink()


@pytest.mark.thorough
def test_a_front_end_shows_a_picture() -> None:
    engine, shown = Engine(), []
    engine.show_pictures_by(lambda picture: shown.append(picture.shape))
    run_text(engine, "require 'gnuplot' gnuplot.title('a') gnuplot.plot(torch.rand(3))")
    run_text(engine, "gnuplot.xlabel('b')")
    assert shown == [(3, 480, 640)]


@pytest.mark.thorough
def test_what_cannot_be_drawn_changes_nothing(lua: Lua, here: Path) -> None:
    lua("gnuplot.pngfigure('x.png') gnuplot.plot(torch.rand(3))")
    message = "gnuplot: 'a:b' is no range"
    assert lua.error("gnuplot.axis{ 'a', 'b', 0, 1 }") == message
    assert lua.error("gnuplot.plot(torch.rand(3), 'odd')") == (
        "gnuplot.plot: there is no style 'odd' here"
    )
    lua("gnuplot.plotflush()")
    assert (here / "x.png").exists()


def test_raw_tells_what_has_no_effect(lua: Lua, here: Path) -> None:
    assert lua("gnuplot.raw('set title \"x\"; set multiplot\\nset grid')") == (
        "gnuplot.raw: without effect here: 'set multiplot'\t\n"
    )


def test_without_the_library(lua: Lua, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    lua("gnuplot.pngfigure('x.png') gnuplot.plot(torch.rand(3))")
    assert lua.error("gnuplot.plotflush()").endswith(": pip install 'th-shell[gnuplot]'")


# ----------------------------------------------------------------------- drawing


@pytest.mark.thorough
def test_lines_and_settings() -> None:
    axes = drawn(
        "plot\ntitle\tT\nxlabel\tX\nylabel\tY\nxrange\t0:9\nyrange\t*:2\ngrid\t\nlogscale\ty\n"
        "key\tleft\tbottom\nseries\tname\t-\nseries\t\t+\n",
        tensor(1, 2, 3),
        tensor(1, 4, 9),
        tensor(1, 2),
        tensor(5, 6),
    )
    assert (axes.get_title(), axes.get_xlabel(), axes.get_ylabel()) == ("T", "X", "Y")
    assert axes.get_xlim() == (0, 9) and axes.get_ylim()[1] == 2 and axes.get_yscale() == "log"
    assert [line.get_ydata().tolist() for line in axes.lines] == [[1, 4, 9], [5, 6]]
    assert [line.get_linestyle() for line in axes.lines] == ["-", "None"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["name"]


@pytest.mark.thorough
def test_smooth_lines_go_through_the_points() -> None:
    x, y = tensor(4, 1, 2, 3, 2), tensor(4, 1, 3, 0, 1)
    line = drawn("plot\nseries\t\t~\n", x, y).lines[0]
    at, values = line.get_data()
    assert at[0] == 1 and at[-1] == 4
    assert np.allclose(np.interp([1, 2, 3, 4], at, values), [1, 2, 0, 4], atol=0.01)


@pytest.mark.thorough
def test_a_smoothing_line_with_a_great_weight_is_a_spline() -> None:
    x, y = tensor(*range(8)), tensor(0, 3, 1, 4, 1, 5, 9, 2)
    smooth, exact = (
        drawn(f"plot\nseries\t\t{style}\n", x, y).lines[0].get_ydata() for style in ("1e9~", "~")
    )
    flat = drawn("plot\nseries\t\t0.000001~\n", x, y).lines[0].get_ydata()
    assert np.allclose(smooth, exact, atol=1e-5)
    assert np.abs(np.diff(flat, 2)).max() < 1e-5


@pytest.mark.parametrize(
    ("style", "y", "look"),
    [
        ("|", [2, 3], lambda axes: [bar.get_height() for bar in axes.patches] == [2, 3]),
        ("impulses", [2, 3], lambda axes: len(axes.collections) == 1),
        ("steps", [2, 3], lambda axes: len(axes.lines) == 1),
        ("with yerrorbars", [[2, 1], [3, 1]], lambda axes: len(axes.containers) == 1),
        ("filledcurves", [[2, 1], [3, 1]], lambda axes: len(axes.collections) == 1),
        ("-", [[2, 1], [3, 1]], lambda axes: axes.lines[0].get_ydata().tolist() == [2, 3]),
    ],
)
def test_styles(style: str, y: Any, look: Callable[[Any], bool]) -> None:
    assert look(drawn(f"plot\nseries\t\t{style}\n", tensor(1, 2), tensor(*y)))


def test_vectors_surfaces_points_and_images() -> None:
    pairs = tensor([0, 1], [2, 3])
    quiver = drawn("plot\nseries\t\tv\n", pairs, pairs).collections[0]
    assert (quiver.U.tolist(), quiver.V.tolist()) == ([1, 3], [1, 3])
    assert drawn("splot\nseries\t\t\n", pairs, pairs, pairs).name == "3d"
    column = tensor(1, 2)
    assert len(drawn("scatter3\nseries\ta\t\n", column, column, column).collections) == 1
    image = drawn("image\nseries\t\tcolor\n", pairs).images[0]
    assert image.get_cmap().name == "gnuplot" and image.get_array().tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize(
    ("text", "style"),
    [
        ("", Style("linespoints", {"marker": "o", "markersize": 3})),
        ("-", Style("lines")),
        (".", Style("dots", {"linestyle": "none", "marker": ","})),
        ("0.5~", Style("acsplines", weight=0.5)),
        ("acsplines 2", Style("acsplines", weight=2)),
        ("smooth csplines", Style("csplines")),
        ("with lines lw 2 lc rgb 'red'", Style("lines", {"linewidth": 2, "color": "red"})),
        ("w l ls 3", Style("lines", {"color": "C2"})),
        ("boxes", Style("boxes")),
    ],
)
def test_words_of_styles(text: str, style: Style) -> None:
    assert read_style(text) == style
