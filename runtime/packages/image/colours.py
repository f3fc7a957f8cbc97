"""Colour spaces, colour maps, values kept between 0 and 1, and kernels of convolutions.

A function for two colour spaces makes an image of three planes in one from one in the other. Hue,
saturation, lightness and value lie between 0 and 1, for bytes between 0 and 255. LAB is that
of the CIE for the white point D65, of sRGB; its numbers are not bounded.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from th_shell.runtime.calls.arguments import Call
from th_shell.runtime.core.dtypes import BYTE, Array
from th_shell.runtime.core.errors import ArgError, TorchError
from th_shell.runtime.core.tensor import Tensor
from th_shell.runtime.packages.image.planes import colour_image, put, working

#: convert(three planes in the type that they are computed in): the three planes of the result.
_Convert = Callable[[Array], "tuple[Array, Array, Array]"]

# The CIE's definition of LAB: where its curve begins, and that curve's factor.
_EPSILON, _KAPPA = 216 / 24389, 24389 / 27
_WHITE_X, _WHITE_Z = 0.950456, 1.088754
_TO_XYZ = (
    (0.412453, 0.357580, 0.180423),
    (0.212671, 0.715160, 0.072169),
    (0.019334, 0.119193, 0.950227),
)
_FROM_XYZ = (
    (3.2404542, -1.5371385, -0.4985314),
    (-0.9692660, 1.8760108, 0.0415560),
    (0.0556434, -0.2040259, 1.0572252),
)


def _operands(call: Call) -> tuple[Tensor, Tensor]:
    source, target = colour_image(call, 1), colour_image(call, 2)
    if target.sizes[1] < source.sizes[1] or target.sizes[2] < source.sizes[2]:
        raise ArgError(2, "out of range")
    return source, target


def _store(source: Tensor, target: Tensor, converted: Any) -> None:
    values = np.stack(converted)
    if source.dtype is BYTE:
        values = values * values.dtype.type(255)
    first = target.narrow(0, 0, 3)
    for d in (1, 2):
        first = first.narrow(d, 0, source.sizes[d])
    put(first, values)


def _converted(call: Call, convert: _Convert) -> None:
    source, target = _operands(call)
    values = source.array[:3].astype(working(call.dtype))
    _store(source, target, convert(values / 255 if call.dtype is BYTE else values))


def _hue(rgb: Array, largest: Array, span: Array) -> Array:
    """Return the place on the circle of colours, between 0 and 1; 0 for shades of grey."""
    r, g, b = rgb
    of_red = (g - b) / span + np.where(g < b, 6, 0).astype(rgb.dtype)
    of_others = np.where(largest == g, (b - r) / span + 2, (r - g) / span + 4)
    return np.where(span == 0, 0, np.where(largest == r, of_red, of_others) / 6)


def _rgb2hsl(rgb: Array) -> tuple[Array, Array, Array]:
    largest, smallest = rgb.max(0), rgb.min(0)
    span = largest - smallest
    lightness = (largest + smallest) / 2
    saturation = np.where(
        lightness > 0.5, span / (2 - largest - smallest), span / (largest + smallest)
    )
    grey = span == 0
    return (
        _hue(rgb, largest, span),
        np.where(grey, 0, saturation),
        np.where(grey, largest, lightness),
    )


def _rgb2hsv(rgb: Array) -> tuple[Array, Array, Array]:
    largest = rgb.max(0)
    span = largest - rgb.min(0)
    return _hue(rgb, largest, span), np.where(span == 0, 0, span / largest), largest


def _hsl2rgb(hsl: Array) -> tuple[Array, Array, Array]:
    h, s, l = hsl  # noqa: E741
    q = np.where(l < 0.5, l * (1 + s), l + s - l * s)
    p = 2 * l - q
    wide = h.astype(np.float64)
    r, g, b = (_level(p, q, t.astype(h.dtype)) for t in (wide + 1 / 3, wide, wide - 1 / 3))
    return np.where(s == 0, l, r), np.where(s == 0, l, g), np.where(s == 0, l, b)


def _level(p: Array, q: Array, t: Array) -> Array:
    """Return one of red, green and blue, for a place on the circle of colours."""
    t = np.where(t < 0, t + 1, t)
    t = np.where(t > 1, t - 1, t)
    wide, base, step = t.astype(np.float64), p.astype(np.float64), (q - p).astype(np.float64)
    up, down = base + step * 6 * wide, base + step * (2 / 3 - wide) * 6
    choices = [(wide < 1 / 6, up), (wide < 1 / 2, q), (wide < 2 / 3, down)]
    levels = np.select([test for test, _ in choices], [value for _, value in choices], base)
    return np.asarray(levels.astype(t.dtype))


def _hsv2rgb(hsv: Array) -> tuple[Array, Array, Array]:
    h, s, v = hsv
    sector = np.floor(h.astype(np.float64) * 6)
    f = h * 6 - sector.astype(h.dtype)
    p, q, t = v * (1 - s), v * (1 - f * s), v * (1 - (1 - f) * s)
    tests = [np.fmod(sector, 6) == i for i in range(6)]
    zero = np.zeros_like(v)
    return (
        np.select(tests, [v, q, p, p, t, v], zero),
        np.select(tests, [t, v, v, q, p, p], zero),
        np.select(tests, [p, p, t, v, v, q], zero),
    )


def _rgb2lab(rgb: Array) -> Any:
    kind = rgb.dtype
    wide = rgb.astype(np.float64)
    linear = np.where(wide <= 0.04045, wide / 12.92, np.power((wide + 0.055) / 1.055, 2.4))
    r, g, b = linear.astype(kind).astype(np.float64)
    x, y, z = (of_r * r + of_g * g + of_b * b for of_r, of_g, of_b in _TO_XYZ)
    x, y, z = (_curve(value) for value in (x / _WHITE_X, y, z / _WHITE_Z))
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)]


def _curve(value: Array) -> Array:
    return np.where(value > _EPSILON, np.power(value, 1 / 3), (_KAPPA * value + 16) / 116)


def _lab2rgb(lab: Array) -> Any:
    kind = lab.dtype
    l, a, b = lab  # noqa: E741
    of_l = ((l + 16) / 116).astype(np.float64)
    of_a, of_b = (a / 500).astype(np.float64) + of_l, of_l - (b / 200).astype(np.float64)
    wide = l.astype(np.float64)
    x, z = (_cube(value) for value in (of_a, of_b))
    y = np.where(wide > _KAPPA * _EPSILON, np.power(of_l, 3), wide / _KAPPA)
    x, z = x * _WHITE_X, z * _WHITE_Z
    linear = np.stack([of_x * x + of_y * y + of_z * z for of_x, of_y, of_z in _FROM_XYZ])
    linear = linear.astype(kind).astype(np.float64)
    bright = 1.055 * np.power(linear, 1 / 2.4) - 0.055
    return np.where(linear <= 0.0031308, 12.92 * linear, bright)


def _cube(value: Array) -> Array:
    cube = np.power(value, 3)
    return np.where(cube <= _EPSILON, (116 * value - 16) / _KAPPA, cube)


def _lab(call: Call, name: str, convert: Callable[[Array], Any]) -> None:
    if call.dtype is BYTE:
        raise TorchError(f"image.{name}: not supported for torch.ByteTensor")
    _converted(call, convert)


def _rgb2y(call: Call) -> None:
    source, target = call.tensor(1), call.tensor(2)
    if source.ndim != 3:
        raise ArgError(1, "image.rgb2y: src not 3D")
    if target.ndim != 2:
        raise ArgError(2, "image.rgb2y: dst not 2D")
    for d, word in enumerate(("height", "width")):
        if source.sizes[d + 1] != target.sizes[d]:
            raise ArgError(2, f"image.rgb2y: src and dst not of same {word}")
    r, g, b = colour_image(call, 1).array[:3].astype(np.float64)
    put(target, (0.299 * r + 0.587 * g + 0.114 * b)[None])


def _gaussian(call: Call) -> None:
    target = call.tensor(1)
    if target.ndim != 2:
        raise TorchError("expecting 2D tensor")
    kind = working(call.dtype)
    normalize = call.get(3) not in (None, False)
    amplitude, sigma_x, sigma_y, mean_x, mean_y = (kind(call.number(at)) for at in (2, 4, 5, 6, 7))
    height, width = target.sizes
    squares = []
    for size, sigma, mean in ((height, sigma_y, mean_y), (width, sigma_x, mean_x)):
        middle = kind(float(mean * kind(size)) + 0.5)
        scale = kind(1 / np.float64(sigma * kind(size)))
        distance = (np.arange(1, size + 1, dtype=kind) - middle) * scale
        squares.append(distance * distance)
    exponent = (squares[1] + squares[0][:, None]).astype(np.float64) * -0.5
    values = (float(amplitude) * np.exp(exponent)).astype(kind)
    put(target, values[None])
    if normalize:
        elements = target.array.astype(kind)
        total = np.add.accumulate(elements.ravel())[-1]  # in order, as the original adds them
        target.array[...] = (elements * kind(1 / np.float64(total))).astype(call.dtype.numpy)


def _saturate(call: Call) -> Tensor:
    image: Tensor = call.tensor(1)
    if call.dtype is not BYTE and image.ndim:
        np.clip(image.array, 0, 1, out=image.array)
    return image


def _colorize(call: Call) -> None:
    target, source, colours = call.tensor(1), call.tensor(2), call.tensor(3)
    for image in (source, colours):
        if image.ndim != 2:
            raise ArgError(1, "tensor must have two dimensions")
    rows = source.array.astype(np.int64)
    if rows.min() < 0 or rows.max() >= colours.sizes[0]:
        raise ArgError(2, "out of range")
    coloured = colours.array[rows].transpose(2, 0, 1).copy()
    target.resize(coloured.shape)
    target.array[...] = coloured


FUNCTIONS: dict[str, Callable[[Call], Any]] = {
    "rgb2hsl": partial(_converted, convert=_rgb2hsl),
    "rgb2hsv": partial(_converted, convert=_rgb2hsv),
    "hsl2rgb": partial(_converted, convert=_hsl2rgb),
    "hsv2rgb": partial(_converted, convert=_hsv2rgb),
    "rgb2lab": partial(_lab, name="rgb2lab", convert=_rgb2lab),
    "lab2rgb": partial(_lab, name="lab2rgb", convert=_lab2rgb),
    "rgb2y": _rgb2y,
    "gaussian": _gaussian,
    "saturate": _saturate,
    "colorize": _colorize,
}
