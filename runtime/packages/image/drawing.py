"""Text and rectangles, drawn in an image of three planes with colours between 0 and 255.

Letters have the classic font of 5 x 7 pixels of small displays, with the shapes of Adafruit's GFX
library, in which the original draws.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from th_shell.runtime.calls.arguments import Call
from th_shell.runtime.core.dtypes import BYTE, INT, Array, cast_scalar
from th_shell.runtime.core.errors import ArgError
from th_shell.runtime.core.tensor import Tensor
from th_shell.runtime.packages.image.planes import FLOAT, colour_image

#: Colours of bytes are between 0 and 255, others between 0 and 1.
_Colour = tuple[int, int, int]


def _int(call: Call, at: int) -> int:
    return int(cast_scalar(call.number(at), INT))


def _colour(call: Call, at: int) -> _Colour:
    return _int(call, at), _int(call, at + 1), _int(call, at + 2)


def _paint(image: Tensor, mask: Array, colour: _Colour) -> None:
    levels = np.array(colour, np.int64)
    shown = levels if image.dtype is BYTE else levels.astype(FLOAT) / FLOAT(255)
    image.array[:3, mask] = shown.astype(image.dtype.numpy)[:, None]


def _text(call: Call) -> None:
    """Draw a text; letters that are wholly outside of the image are left out.

    Torch7: letters that are partly outside are an error, behind which the others are drawn.
    """
    image = colour_image(call, 1)
    text, size = call.get(2), _int(call, 5)
    colour, background, wrap = _colour(call, 6), _colour(call, 9), _int(call, 12) != 0
    marks = np.zeros(image.sizes[1:], bool)
    grounds = np.zeros_like(marks)
    has_ground = -1 not in background
    for code, x, y in _places(text, call.long(3), call.long(4), size, image, wrap):
        shape = letter(code).repeat(size, 0).repeat(size, 1)
        drawn = np.ones_like(shape) if has_ground else shape
        rows, columns = drawn.nonzero()
        if not rows.size:
            continue
        if min(y + rows.min(), x + columns.min()) < 0 or (
            y + rows.max() >= image.sizes[1] or x + columns.max() >= image.sizes[2]
        ):
            raise ArgError(2, "out of range")
        ys, xs = y + rows, x + columns
        marks[ys, xs] = shape[rows, columns]
        grounds[ys, xs] = ~shape[rows, columns]
    _paint(image, grounds, background)
    _paint(image, marks, colour)


def _places(
    text: bytes, x: int, y: int, size: int, image: Tensor, wrap: bool
) -> Iterator[tuple[int, int, int]]:
    """Yield the letters of a text that are seen, and the upper left pixel of each: x, y."""
    height, width = image.sizes[1:]
    left = x
    for code in text.partition(b"\0")[0]:
        if code == ord("\n"):
            y, x = y + size * HEIGHT, left
        elif code != ord("\r"):
            if wrap and x + size * WIDTH >= width:
                y, x = y + size * HEIGHT, 0
            seen_x = x < width and x + WIDTH * size > 0
            if seen_x and y < height and y + HEIGHT * size > 0:
                yield code, x, y
            x += size * WIDTH


def _rectangle(call: Call) -> None:
    image = colour_image(call, 1)
    x1, y1, x2, y2 = (call.long(at) for at in (2, 3, 4, 5))
    line, colour = _int(call, 6), _colour(call, 7)
    height, width = image.sizes[1:]
    left, right = _line(x1, line, width), _line(x2, line, width)
    top, bottom = _line(y1, line, height), _line(y2, line, height)
    mask = np.zeros((height, width), bool)
    rows, columns = slice(top.start, bottom.stop), slice(left.start, right.stop)
    mask[rows, left] = mask[rows, right] = True
    mask[top, columns] = mask[bottom, columns] = True
    _paint(image, mask, colour)


def _line(position: int, width: int, size: int) -> slice:
    """Return the pixels of a line of some width around a position that counts from 1."""
    # Division as in C, which rounds towards 0.
    before = int(width / 2) + 1
    last = min(size, position + width - before)
    return slice(max(0, position - before), max(0, last))


FUNCTIONS = {"text": _text, "drawRect": _rectangle}


#: The pixels that each letter takes, with the space behind it.
WIDTH, HEIGHT = 6, 8

# For each byte of a text five columns of eight pixels, the uppermost in the lowest bit.
_COLUMNS = bytes.fromhex(
    """
    00000000003e5b4f5b3e3e6b4f6b3e1c3e7c3e1c183c7e3c181c577d571c1c5e7f5e1c00183c1800ffe7c3e7ff
    00000000000000000000000000000000000000000000000000407f05253f5a3ce73c5a7f3e1c1c08081c1c3e7f
    14227f22145f5f005f5f06097f017f006689956a606060606094a2ffa29408047e040810207e201008082a1c08
    081c2a08081e101010100c1e0c1e0c30383e3830060e3e0e06000000000000005f00000007000700147f147f14
    242a7f2a12231308646236495620500008070300001c2241000041221c002a1c7f1c2a08083e08080080703000
    0808080808000060600020100804023e5149453e00427f400072494949462141494d331814127f102745454539
    3c4a49493141211109073649494936464949291e00001400000040340000000814224114141414140041221408
    02015909063e415d594e7c1211127c7f494949363e414141227f4141413e7f494949417f090909013e41415173
    7f0808087f00417f41002040413f017f081422417f404040407f021c027f7f0408107f3e4141413e7f09090906
    3e4151215e7f09192946264949493203017f01033f4040403f1f2040201f3f4038403f63140814630304780403
    6159494d43007f4141410204081020004141417f04020102044040404040000307080020545478407f28444438
    3844444428384444287f385454541800087e090218a4a49c787f0804047800447d40002040403d007f10284400
    00417f40007c047804787c080404783844444438fc1824241818242418fc7c08040408485454542404043f4424
    3c4040207c1c2040201c3c4030403c44281028444c9090907c4464544c44000836410000007700000041360800
    02010204023c2623263c1ea1a161123a4040207a38545455592155557941225454784221555478402054557940
    0c1e5272123955555559395454545939555454580000457c410002457d420001457c407d1211127df0282528f0
    7c545545002054547c547c0a097f4932494949323a4444443a324a4848303a4141217a3a42402078009da0a07d
    3d4242423d3d4040403d3c24ff2424487e4943662b2ffc2f2bff0929f620c0887e090320545479410000447d41
    3048484a32384040227a007a0a0a727d0d19317d2629292f28262929292630484d402038080808080808080838
    2f10c8acba2f102834fa00007b000008142a142222142a14085500550055aa55aa55aaff55ff55ff000000ff00
    101010ff00141414ff001010ff00ff1010f010f0141414fc001414f700ff0000ff00ff1414f404fc141417101f
    10101f101f1414141f00101010f0000000001f101010101f10101010f010000000ff101010101010101010ff10
    000000ff140000ff00ff00001f10170000fc04f414141710171414f404f40000ff00f714141414141414f700f7
    141414171410101f101f141414f4141010f010f000001f101f0000001f14000000fc140000f010f01010ff10ff
    141414ff141010101f00000000f010fffffffffff0f0f0f0f0ffffff0000000000ffff0f0f0f0f0f3844443844
    fc4a4a4a347e02020606027e027e0263554941633844443c04407e201e2006027e020299a5e7a5991c2a492a1c
    4c7201724c304a4d4d303048784830bc625a463d3e494949007e0101017e2a2a2a2a2a44445f444440514a4440
    40444a51400000ff0103e080ff000008086b6b083612362436060f090f06000018180000001010003040ff0101
    001f01011e00191d1712003c3c3c3c0000000000
    """
)


def letter(code: int) -> Array:
    """Return the pixels of a letter that are set, as booleans: height x width."""
    columns = np.frombuffer(_COLUMNS, np.uint8, 5, 5 * code)
    bits = np.unpackbits(columns[None], axis=0, bitorder="little").astype(bool)
    return np.pad(bits, ((0, 0), (0, WIDTH - 5)))
