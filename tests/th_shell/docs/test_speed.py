"""Reading takes time in proportion to a page's size, whatever it has.

The tests compare the processor time of a page with that of one eight times as long. What is
quadratic takes 64 times as long.
"""

from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest

from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.page import read

COMPILER = Compiler()

_FACTOR = 8

PAGES: dict[str, Callable[[int], list[str]]] = {
    "prose": lambda n: ["Words, and more words.", ""] * n * 8,
    "blocks": lambda n: ["Words.", "", "```", "x = 1", "```", ""] * n,
    "statements": lambda n: ["```", *["x = 1"] * n, "```"],
    "one long input": lambda n: ["```", "f(function()", *["  x = {}"] * n, "end)", "```"],
    "inputs of several lines": lambda n: ["```", *["f(", "1)"] * n, "```"],
    "one long string": lambda n: ["```", "x = [[", *["text"] * n, "]]", "```"],
    "inputs without an end": lambda n: ["```", *["f("] * (n // 8), "```"],
    "functions without an end": lambda n: ["```", *["function f()"] * (n // 8), "```"],
    "tables without an end": lambda n: ["```", *["{"] * n, "```"],
    "a string without an end": lambda n: ["```", "x = [[", *["text"] * n, "```"],
    "sums without an end": lambda n: ["```", *["x = 1 +"] * n, "```"],
    "prompts": lambda n: ["th> 1", "1", ""] * n,
    "values": lambda n: ["```", *["x = 1", "--> 1"] * n, "```"],
    "rows that an input prints": lambda n: ["```", "> x", *[" 1  2"] * n * 8, "```"],
    "rows below a script": lambda n: [
        "```",
        "x = y",
        "print(x)",
        "```",
        "```",
        *[" 1  2"] * n,
        "```",
    ],
    "rows in comments": lambda n: ["```", "print(x)", *["-- 1  2"] * n, "```"],
    "words that an input prints": lambda n: ["```", "th> f()", *["it is x = 1"] * n, "```"],
    "names with their values": lambda n: ["```", "th> f()", *["t =", " 1", ""] * n, "```"],
    "paragraphs of text": lambda n: ["```", *["x = 1", "words are here", ""] * n, "```"],
}


@pytest.mark.thorough
@pytest.mark.parametrize("lines", PAGES.values(), ids=PAGES)
@pytest.mark.parametrize("name", ["page.md", "page.txt"])
def test_time_is_in_proportion(
    tmp_path: Path, name: str, lines: Callable[[int], list[str]]
) -> None:
    def seconds(count: int) -> float:
        page = tmp_path / name
        page.write_text("\n".join(lines(count)))
        start = process_time()
        read(page, COMPILER)
        return process_time() - start

    count = 100
    seconds(count)
    short = min(seconds(count) for _ in range(3))
    # Any of several may meet a busy machine.
    assert any(seconds(count * _FACTOR) < 6 * _FACTOR * short + 0.02 for _ in range(5))
