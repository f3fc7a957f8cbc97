"""Writes `share/`: completions for bash, zsh and fish, and pages for man, from the command lines.

`.venv/bin/python -m tests.share` does it after options have changed. The wheel installs the folder.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from th_shell.docs.command_lines import parser_of
from th_shell.options import usage

SHARE = Path(__file__).parents[1] / "share"
#: The shells, and the file of a program that each finds by itself.
_PLACES = {
    "bash": "bash-completion/completions/{}",
    "fish": "fish/vendor_completions.d/{}.fish",
    "zsh": "zsh/site-functions/_{}",
}
_ROW = re.compile(r"  (-[^\s,]*(?:, -[^\s,]+)*)(?: (\S+))?(?:  +|\n +)(\S.*(?:\n {4,}.*)*)")
#: Words that stand for files.
_FILES = re.compile(r"(path|file|in\.t7|FILE|FOLDER|PATH|PAGE)\b")
_SUMMARIES = {
    "th": "the Torch7 shell without building Torch7",
    "th-docs": "run the examples of documentation pages and compare what they print",
}


class Row(NamedTuple):
    """An option in the help of th."""

    #: The option, and its other names.
    names: tuple[str, ...]
    #: The word behind it, such as 'path...' or '[file]', or ''.
    word: str
    #: What it does.
    help: str


def rows() -> Iterator[Row]:
    """Go through the options in the help of th."""
    text = usage().partition("\nOptions:\n")[2].partition("\n\n")[0]
    for names, word, help in _ROW.findall(text):
        yield Row(tuple(names.split(", ")), word, " ".join(help.split()))


def th_parser() -> argparse.ArgumentParser:
    """The options of th as argparse has them."""
    top, _, end = usage().strip().rpartition("\n\n")
    words = top.partition("\n")[0].removeprefix("Usage: ")
    text = " ".join(end.split())
    parser = argparse.ArgumentParser("th", usage=words, add_help=False, description=text)
    parser.add_argument("script", nargs="?", metavar="file", help="a program; - is what is piped")
    options: dict[str, argparse.Action] = {}
    for names, word, help in rows():
        if names[0] in options:  # --jupyter install, --jupyter remove
            option = options[names[0]]
            option.choices = [*(option.choices or [option.metavar]), word]
            option.metavar = None
        elif names != ("-",):
            options[names[0]] = parser.add_argument(*names, help=help, **_arguments(word))
    return parser


def _arguments(word: str) -> dict[str, Any]:
    if not word:
        return {"action": "store_true"}
    nargs = "+" if word.endswith("...") else "?" if word.startswith("[") else None
    return {"metavar": re.sub(r"[][]|\.\.\.", "", word), "nargs": nargs}


def files() -> dict[str, str]:
    """Return the texts of all files, by their paths in `share/`."""
    import shtab
    from argparse_manpage.manpage import Manpage

    texts = {}
    for program, parser in (("th", th_parser()), ("th-docs", parser_of("th-docs"))):
        for action in parser._actions:
            if _FILES.match(str(action.metavar)):
                action.complete = shtab.FILE  # type: ignore[attr-defined]
        for shell, place in _PLACES.items():
            texts[place.format(program)] = shtab.complete(parser, shell)
        parser.man_short_description = _SUMMARIES[program]  # type: ignore[attr-defined]
        texts[f"man/man1/{program}.1"] = _page(program, str(Manpage(parser)))
    return texts


def _page(program: str, page: str) -> str:
    """Return a page for man without its date, and with what argparse-manpage takes for requests."""
    page = re.sub(r"\A.*", f'.TH {program.upper()} 1 "" {program}', page)
    page = page.replace("\n'", "\n\\&'")
    return page.replace(" th-docs fix ", "\n.br\nth-docs fix ").replace(
        " th-docs init ", "\n.br\nth-docs init "
    )


if __name__ == "__main__":
    for path, text in files().items():
        (SHARE / path).parent.mkdir(parents=True, exist_ok=True)
        (SHARE / path).write_text(text)
