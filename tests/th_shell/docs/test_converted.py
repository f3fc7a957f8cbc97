"""A page that went through print is cut where its fences, prompts and comments were damaged.

What its examples do is tested where it stands, in tests/docs.
"""

from pathlib import Path

from tests.data_files import data
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.page import read

PAGE = Path(__file__).parents[2] / "docs" / "converted.txt"

#: Each example: its line, its block, the lines of the input and of the text under it.
CUT = data(__file__, "CUT")


def test_every_example_is_found() -> None:
    found = [
        f"{e.line} {e.block} {len(e.source.splitlines())} {len(e.expected.splitlines())}  "
        + e.source.splitlines()[0].partition(" --")[0]
        for e in read(PAGE, Compiler()).examples
    ]
    assert found == CUT.strip().splitlines()
