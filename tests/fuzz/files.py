"""Mutated .t7 files: what they load as is printed, summed, sorted, cloned and saved again.

The files to start from are those of `write_originals`, and those that the real Torch7 writes.
"""

import os
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.cases import Case
from tests.fuzz.mutations import OBJECTS, mutations
from tests.runtime.io.torch7_files import FILES, mode_of
from th_shell.runtime.shell import Engine

#: The environment's variable that names the folder with the files to start from.
FOLDER = "TH_FUZZ_ORIGINALS"

_WRITE = f"""
local folder = ...
for i, object in ipairs((function() {OBJECTS} end)()) do
  for _, mode in ipairs{{ 'binary', 'ascii' }} do
    torch.save(('%s/%d.%s.t7'):format(folder, i, mode), object, mode)
  end
end
"""

_PROGRAM = """local path, mode = 'case.t7', '{mode}'
v[1] = try(torch.load, path, mode)
use(v[1])
v[2] = try(torch.deserialize, io.open(path, 'rb'):read('*a'), mode)
use(v[2])
try(torch.serialize, v[1], '{mode}')
v = {{}}"""


def write_originals(engine: Engine, folder: Path) -> None:
    """Write good files of all kinds of objects."""
    engine.run(engine.compile(_WRITE.encode()), os.fsencode(folder))


@cache
def _originals(folder: str) -> tuple[tuple[str, bytes], ...]:
    """Good files: mode and bytes."""
    ours = {path.name: path.read_bytes() for path in sorted(Path(folder).glob("*.t7"))}
    return tuple((mode_of(name), data) for name, data in (*ours.items(), *FILES.items()))


def make(rng: Random) -> Case:
    """A file with some changes, and a program that loads and uses it."""
    originals = _originals(os.environ[FOLDER])
    mode, data = rng.choice(originals)
    others = [other for kind, other in originals if kind == mode]
    changes = mutations(rng, data, others, mode == "ascii")
    if rng.random() < 0.05:
        mode = rng.choice(("binary", "ascii", "b32"))
    return Case(tuple(changes), partial(_build, mode, data))


def _build(mode: str, data: bytes, changes: Sequence[Any]) -> tuple[str, dict[str, bytes]]:
    for change in changes:
        data = change.apply(data)
    return _PROGRAM.format(mode=mode), {"case.t7": data}
