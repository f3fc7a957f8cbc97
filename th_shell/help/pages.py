"""Finds the examples of a function in pages, with the examples before them that they need.

The pages are those in ``pages/`` beside this module, which are tests too, and those of the folders
that the user names. They are read as th-docs reads them.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import th_shell.docs.library as docs
from th_shell.files import read_file
from th_shell.help.meanings import parts_of
from th_shell.runtime.shell import Engine
from th_shell.tokens import without_texts

_CODE = (docs.Kind.PROMPT, docs.Kind.BARE, docs.Kind.CELL)
_LIBRARIES = {"torch", "paths", "print", "math", "string", "table"}


class Shown(NamedTuple):
    """An example of a page as it is shown."""

    page: str
    heading: str
    example: docs.Example
    #: The examples it needs, itself, and the one behind it if that prints what it has assigned.
    steps: tuple[docs.Example, ...]


class SearchResult(NamedTuple):
    """The examples of a function, best first, and what is wrong with pages: a line for each."""

    examples: list[Shown]
    problems: list[str]


def page_folders(named: str = "") -> list[str]:
    """Return the folder that the user's settings name, if they do, and our own."""
    folders = [os.path.expanduser(named)] if named else []
    return [*folders, str(Path(__file__).with_name("pages"))]


def find_examples(name: str, folders: Sequence[str], engine: Engine, most: int = 6) -> SearchResult:
    """Return the first examples that use a function, by its path: 'torch.gather', 'x:gather'.

    engine: compiles the pages' code; it does not run it.
    """
    uses = _uses(name)
    examples: list[Shown] = []
    problems: list[str] = []
    for folder in folders:
        try:
            pages = docs.find_pages([folder])
        except docs.NoPagesError as error:
            problems.append(str(error))
            continue
        for page in pages:
            try:
                examples += _examples_in(page, name, uses, engine)
            except (OSError, docs.PageError) as error:
                problems.append(f"{page}: {getattr(error, 'strerror', None) or error}")
    return SearchResult(_best(examples)[:most], problems)


def _uses(name: str) -> Callable[[str], bool]:
    """Return a function that tells whether a source uses the function of this name."""
    path, mark, last = parts_of(name)
    if mark == "." and path != "torch":
        pattern = rf"(?<![\w.:]){re.escape(path)}\s*\.\s*{last}\b"
    elif mark:
        pattern = rf"(?<![\w.:])torch\s*\.\s*{last}\b|:\s*{last}\b(?=\s*[({{'\"])"
    else:
        pattern = rf"(?<![\w.:]){last}\b(?=\s*[({{'\"])|torch\s*\.\s*{last}\b|:\s*{last}\b(?=\s*\()"
    searched = re.compile(pattern, re.ASCII)
    return lambda source: searched.search(without_texts(source)) is not None


def _examples_in(
    page: Path, name: str, uses: Callable[[str], bool], engine: Engine
) -> Iterator[Shown]:
    if parts_of(name)[2].encode() not in read_file(page):
        return
    examples = _read(page, page.stat().st_mtime_ns, engine)
    for at, example in enumerate(examples):
        if uses(example.source) and example.settings.skip is None:
            steps = _needed(examples, at) + _printing(examples, at)
            yield Shown(page.name, example.heading, example, steps)


#: The examples of the pages that were read, by page and by the time of its last change.
_examples: dict[tuple[Path, int], tuple[docs.Example, ...]] = {}


def _read(page: Path, changed: int, engine: Engine) -> tuple[docs.Example, ...]:
    """Return the examples of a page that are Lua."""
    examples = _examples.get((page, changed))
    if examples is None:
        all_examples = docs.read(page, docs.Compiler(engine)).examples
        examples = tuple(
            example
            for example in all_examples
            if example.kind in _CODE and example.language == "lua"
        )
        _examples[page, changed] = examples
    return examples


# -- what an example needs


def _needed(examples: Sequence[docs.Example], at: int) -> tuple[docs.Example, ...]:
    """Return an example behind those before it that give its names their values."""
    missing = _unset_names(examples[at].source)
    steps = [examples[at]]
    for example in reversed(examples[:at]):
        if _changes(example, missing):
            steps.append(example)
            missing -= docs.lua_names.lasting_names(example.source)
            missing |= _unset_names(example.source)
    return tuple(reversed(steps))


def _printing(examples: Sequence[docs.Example], at: int) -> tuple[docs.Example, ...]:
    """Return the example behind one that prints nothing, if it is a name that this one assigns."""
    behind = examples[at + 1] if at + 1 < len(examples) else None
    if examples[at].expected or behind is None or not behind.expected:
        return ()
    is_shown = behind.source.strip() in docs.lua_names.lasting_names(examples[at].source)
    return (behind,) if is_shown else ()


def _unset_names(source: str) -> set[str]:
    """Return the names whose former values a source needs."""
    unset = docs.lua_names.read_names(source) - docs.lua_names.bound_names(source)
    return {*unset, *docs.lua_names.reused_names(source)} - _LIBRARIES


def _changes(example: docs.Example, names: set[str]) -> bool:
    """Tell whether an example assigns one of some names, or changes its value in a statement."""
    if docs.lua_names.lasting_names(example.source) & names:
        return True
    return not example.expected and bool(docs.lua_names.changed_names(example.source) & names)


# -- which examples are shown


def _best(examples: Sequence[Shown]) -> list[Shown]:
    """Sort examples: first those with a documented output and few steps, else as in the pages."""
    alike = {shown.example.source.strip(): shown for shown in reversed(examples)}
    unique = [shown for shown in examples if alike[shown.example.source.strip()] is shown]
    return sorted(unique, key=lambda shown: (not shown.steps[-1].expected, len(shown.steps) > 4))
