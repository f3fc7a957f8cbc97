"""What Python's own doctest notices in a page: the measure for pages of Python."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from tempfile import TemporaryDirectory

from tests.data_files import data
from th_shell.docs.reading.examples import Line

#: Reads a page and code to run before it, and writes the lines of the examples that fail or hold.
_PROGRAM = data(__file__, "_PROGRAM")
#: Fences end outputs, and doctest does not know them.
_FENCE = re.compile(r"\s*(?:```|~~~)")


def doctested(
    lines: Sequence[Line], prelude: str, environment: Mapping[str, str]
) -> tuple[set[int], set[int]]:
    """The numbers of lines whose examples fail, and of those whose examples hold."""
    page = "\n".join("" if _FENCE.match(line.text) else line.text for line in lines) + "\n"
    with TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            input=json.dumps([page, prelude]),
            capture_output=True,
            text=True,
            timeout=120,
            cwd=folder,
            env={**os.environ, **environment},
        )
    if done.returncode:
        return set(), set()  # it cannot read the page
    failed, held = json.loads(done.stdout.splitlines()[-1])
    return {lines[at].number for at in failed}, {lines[at].number for at in held}
