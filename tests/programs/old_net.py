# pyright: strict
"""Classify images by a net that Torch7 has saved: old_net.py NET.t7 (needs nn)."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from th_shell import Engine, LuaError, LuaObject, LuaTimeout

Images = npt.NDArray[np.float32]


class Answer(NamedTuple):
    label: int
    probability: float


class Classifier:
    """A net of Torch7 and the engine that it lives in."""

    def __init__(self, path: Path, seconds: float = 10) -> None:
        self.engine = Engine(arrays=True)
        self.engine.require("nn")
        self.net: LuaObject = self.engine.eval(f"torch.load({str(path)!r})")
        self.net.evaluate()
        self.seconds = seconds

    def __call__(self, images: Images) -> list[Answer]:
        with self.engine.timeout(self.seconds):
            scores = cast(Images, self.net.forward(images)).copy()
        likely = scores.argmax(1)
        return [
            Answer(int(k), float(np.exp(row[k]))) for k, row in zip(likely, scores, strict=True)
        ]


def batches(images: Images, size: int) -> Iterator[Images]:
    """Yield so many images at a time, as nets take them: colours first, from 0 to 1."""
    for start in range(0, len(images), size):
        part = images[start : start + size].transpose(0, 3, 1, 2)
        yield np.ascontiguousarray(part, np.float32) / np.float32(255)


def main(path: str) -> int:
    images: Any = np.random.default_rng(0).integers(0, 256, (10, 8, 8, 3))
    try:
        classify = Classifier(Path(path))
        for batch in batches(images, 4):
            print([answer.label for answer in classify(batch)])
    except LuaTimeout:
        return 2
    except LuaError as error:
        print(error.message, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
