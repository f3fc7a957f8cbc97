"""The package signal: transforms against numpy's, and what the original does to a signal."""

from typing import Any

import numpy as np
import pytest

from tests.conftest import Lua


def complex_of(pairs: Any) -> Any:
    return pairs[..., 0] + 1j * pairs[..., 1]


def result(lua: Lua, expression: str) -> Any:
    lua(f"y = {expression}")
    return np.array(lua.engine.values["y"].numpy())


def give(lua: Lua, shape: tuple[int, ...], kind: str = "Double") -> Any:
    """Make a random tensor `x` whose elements do not follow each other."""
    sizes = ", ".join(map(str, (*shape, 2)))
    lua(f"signal = require 'signal' x = torch.randn({sizes}):type('torch.{kind}Tensor')")
    lua(f"x = x:select({len(shape) + 1}, 2)")
    return np.array(lua.engine.values["x"].numpy())


@pytest.mark.parametrize("kind", ["Float", "Double"])
@pytest.mark.parametrize(
    ("name", "shape", "axes"),
    [("fft", (7,), 1), ("fft2", (4, 5), 2), ("fft3", (2, 3, 4), 3), ("fftM", (3, 6), 1)],
)
def test_complex_transforms(
    lua: Lua, name: str, shape: tuple[int, ...], axes: int, kind: str
) -> None:
    over = tuple(range(-axes, 0))
    close = 1e-5 if kind == "Float" else 1e-12
    real = give(lua, shape, kind)
    forward = result(lua, f"signal.{name}(x)")
    assert np.allclose(complex_of(forward), np.fft.fftn(real, axes=over), atol=close)
    pairs = give(lua, (*shape, 2), kind)
    numbers = complex_of(pairs)
    forward, back = result(lua, f"signal.{name}(x)"), result(lua, f"signal.i{name}(x)")
    assert np.allclose(complex_of(forward), np.fft.fftn(numbers, axes=over), atol=close)
    assert np.allclose(complex_of(back), np.fft.ifftn(numbers, axes=over), atol=close)
    assert forward.dtype == pairs.dtype


@pytest.mark.parametrize(
    ("name", "shape", "axes"), [("rfft", (9,), 1), ("rfft2", (4, 6), 2), ("rfftM", (3, 6), 1)]
)
def test_real_transforms(lua: Lua, name: str, shape: tuple[int, ...], axes: int) -> None:
    real = give(lua, shape)
    forward = complex_of(result(lua, f"signal.{name}(x)"))
    assert np.allclose(forward, np.fft.rfftn(real, axes=tuple(range(-axes, 0))), atol=1e-12)
    back = result(lua, f"signal.i{name}(signal.{name}(x), {shape[-1]})")
    assert np.allclose(back, real, atol=1e-12)


@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 4)])
def test_cosine_transforms(lua: Lua, shape: tuple[int, ...]) -> None:
    name = "dct" if len(shape) == 1 else f"dct{len(shape)}"
    real = give(lua, shape)
    expected = real
    for axis, n in enumerate(shape):
        k, at = np.arange(n)[:, None], np.arange(n)
        matrix = 2 * np.cos(np.pi * k * (2 * at + 1) / (2 * n))
        expected = np.moveaxis(np.tensordot(matrix, expected, (1, axis)), 0, axis)
    assert np.allclose(result(lua, f"signal.{name}(x)"), expected, atol=1e-12)
    assert np.allclose(result(lua, f"signal.i{name}(signal.{name}(x))"), real, atol=1e-12)


def test_windows_along_a_signal(lua: Lua) -> None:
    x = give(lua, (20,))
    windows = np.lib.stride_tricks.sliding_window_view(x, 6)[::4]
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(6) / 5)
    assert np.allclose(
        complex_of(result(lua, "signal.stft(x, 6, 4, 'hann')")), np.fft.fft(windows * hann)
    )
    plain = complex_of(result(lua, "signal.rstft(x, 6, 4)"))
    assert np.allclose(plain, np.fft.rfft(windows))
    power = np.log(np.abs(plain) ** 2 + 0.01) * 10
    assert np.allclose(result(lua, "signal.spectrogram(x, 6, 4)"), power.T)
    assert result(lua, "x").tolist() == x.tolist()


def test_real_windows_change_the_signal(lua: Lua) -> None:
    x = give(lua, (8,))
    rows = np.fft.rfft(np.lib.stride_tricks.sliding_window_view(x, 4)[::2])
    assert np.allclose(complex_of(result(lua, "signal.rstft(x, 4, 2, 'hamming')")), rows)
    lua("x = x:clone()")
    shape = 0.53836 - 0.46164 * np.cos(2 * np.pi * np.arange(4) / 3)
    changed, rows = x.copy(), []
    for start in (0, 2, 4):
        changed[start : start + 4] *= shape
        rows.append(np.fft.rfft(changed[start : start + 4]))
    assert np.allclose(complex_of(result(lua, "signal.rstft(x, 4, 2, 'hamming')")), rows)
    assert np.allclose(result(lua, "x"), changed)


def test_cepstra_and_hilbert(lua: Lua) -> None:
    """Numbers of Matlab's documentation and of the original's tests."""
    lua("signal = require 'signal' x = torch.Tensor{ 12, 2, 9, 16 }")
    expected = [2.5213, -0.0386, -0.1402, 1.3211]
    assert np.allclose(result(lua, "signal.cceps(x)"), expected, atol=1e-4)
    assert np.allclose(result(lua, "signal.icceps(signal.cceps(x))"), [12, 2, 9, 16])
    expected = [2.5213, 0.6412, -0.1402, 0.6412]
    assert np.allclose(result(lua, "signal.rceps(x)"), expected, atol=1e-4)
    assert np.allclose(result(lua, "signal.hilbert(x)")[:, 1], [7, 1.5, -7, -1.5])
    odd = result(lua, "signal.hilbert(torch.Tensor{ 12, 2, 9, 16, 25 })")[:, 1]
    assert np.allclose(odd, [13.1402, 0.5388, -6.7285, -8.3955, 1.4450], atol=1e-4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("signal.irfft(torch.zeros(1, 2))", "1 frequencies are not enough"),
        ("signal.irfft(torch.zeros(3, 2), 6)", "3 frequencies are not enough"),
    ],
)
def test_errors(lua: Lua, call: str, message: str) -> None:
    lua("signal = require 'signal' x = torch.range(1, 7)")
    assert lua.error(f"local y = {call}").startswith(message)
