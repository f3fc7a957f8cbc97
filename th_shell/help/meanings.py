"""One line of meaning for each function: read from the files in ``meanings/``, and searched.

A file has sections by what the functions belong to: 'torch', 'Tensor' (methods), 'string' and so
on; 'globals' are functions without a name before them, 'keywords' words of the language.
"""

import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from th_shell.paragraphs import MOST_NAMES
from th_shell.runtime.shell import Engine
from th_shell.toml import loads

#: Where the methods of a class stand, by its name without 'torch.'; the first section counts.
SECTIONS_OF_CLASS: Mapping[str, tuple[str, ...]] = {
    "Tensor": ("Tensor", "torch"),
    "Storage": ("Storage",),
    "DiskFile": ("DiskFile", "File"),
    "PipeFile": ("DiskFile", "File"),
    "MemoryFile": ("MemoryFile", "File"),
    "File": ("File",),
    "Timer": ("Timer",),
    "CmdLine": ("CmdLine",),
    "Tester": ("Tester",),
    "Generator": ("Generator",),
    "file": ("file",),
}
_NAMES = ("torch", "packages", "required", "image", "classes", "lua")
_OBJECTS = {"Tensor": "x", "Storage": "s", "Timer": "timer", "CmdLine": "cmd", "Tester": "tester"}
_COMMON = frozenset("a an and as at by for from how i in into is it of on or the to with".split())
_SHOWN = 8


class Meaning(NamedTuple):
    """A line of help on a function."""

    #: Its section in the files, where it stands under its name.
    section: str
    name: str
    #: The arguments of its call, with their brackets; '' where the table of operations has its
    #: forms, or it is no function.
    arguments: str
    #: A sentence.
    text: str

    @property
    def call(self) -> str:
        """The name as a program writes it: 'torch.sum', 'x:narrow', 'pairs'."""
        if self.section in ("globals", "keywords"):
            return self.name
        if self.section in SECTIONS_OF_CLASS and self.section != "torch":
            return f"{_OBJECTS.get(self.section, 'file')}:{self.name}"
        return f"{self.section}.{self.name}"


@lru_cache(maxsize=1)
def sections() -> Mapping[str, Mapping[str, Meaning]]:
    """Return all meanings, by section and name."""
    meanings: dict[str, dict[str, Meaning]] = {}
    for name in _NAMES:
        text = Path(__file__).with_name("meanings").joinpath(f"{name}.toml").read_text("utf-8")
        for section, lines in loads(text).items():
            read = {key: _read(section, key, line) for key, line in lines.items()}
            meanings.setdefault(section, {}).update(read)
    return meanings


def _read(section: str, name: str, line: str) -> Meaning:
    arguments = re.match(r"\([^()]*\)(?= )", line)
    if arguments is None:
        return Meaning(section, name, "", line)
    return Meaning(section, name, arguments[0], line[arguments.end() :].strip())


def find(name: str, in_sections: Iterable[str]) -> Meaning | None:
    """Return the meaning of a name in the first of some sections that has it."""
    candidates = (sections().get(section, {}).get(name) for section in in_sections)
    return next((meaning for meaning in candidates if meaning is not None), None)


def find_path(path: str) -> Meaning | None:
    """Return the meaning of a library's function by its path: 'torch.sum', 'Tensor:narrow'."""
    owner, _, name = path.replace(":", ".").rpartition(".")
    if not owner:
        return find(name, ("globals",))
    return find(name, SECTIONS_OF_CLASS.get(owner, (owner,)) if ":" in path else (owner,))


def search(query: str) -> list[Meaning]:
    """Return the functions that words tell of, best first: those with the most of the words."""
    words = [word for word in _words(query) if word not in _COMMON]
    entries = [meaning for section in sections().values() for meaning in section.values()]
    scores = {word: [_score(word, entry) for entry in entries] for word in words}
    weights = {word: _rarity(scores[word]) for word in words}
    ranked = []
    for i, entry in enumerate(entries):
        matched = [word for word in words if scores[word][i]]
        total = sum(scores[word][i] * weights[word] for word in matched)
        ranked.append((len(matched), total, entry))
    most = max((count for count, _, _ in ranked), default=0)
    relevant = [item for item in ranked if item[0] > 0 and 2 * item[0] >= most]
    relevant.sort(key=lambda item: (-item[0], -item[1], len(item[2].name), item[2].call))
    return [entry for _, _, entry in relevant[:_SHOWN]]


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def _words_of_name(name: str) -> list[str]:
    return _words(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name))


def _score(word: str, meaning: Meaning) -> float:
    """Return how well a word fits a function: 0 for not at all."""
    if word == meaning.name.lower():
        return 10
    if any(_alike(word, part) for part in _words_of_name(meaning.name)):
        return 6
    texts = Counter(_words(meaning.text))
    if texts[word]:
        return 4
    if any(_alike(word, text_word) for text_word in texts):
        return 3
    return 2 if len(word) > 2 and word in meaning.name.lower() else 0


def _alike(first: str, second: str) -> bool:
    """Tell whether two words have the same stem, as 'multiply' and 'multiplies' have."""
    shorter, longest = sorted((len(first), len(second)))
    common = len(os.path.commonprefix((first, second)))
    return common >= 3 and common >= longest - 3 and common >= shorter - 1


def _rarity(scores: list[float]) -> float:
    return math.log(len(scores) / (1 + sum(score > 0 for score in scores))) + 0.1


# -- the names that people ask about, and those that may follow a path


_PATH = re.compile(r"[A-Za-z_]\w*(?:[.:][A-Za-z_]\w*)*$", re.ASCII)


def name_in(text: str) -> str:
    """Return the name that a text asks about: the text without the arguments of a call."""
    text = text.strip().rstrip("? ")
    is_call = text.removesuffix(";").rstrip().endswith(")")
    return text.partition("(")[0].rstrip() if is_call else text


def is_path(name: str) -> bool:
    """Tell whether a text is a name, which may have a path before it: 'torch.sum', 'x:t'."""
    return _PATH.match(name) is not None


def parts_of(name: str) -> tuple[str, str, str]:
    """Return the path before a name, '.' or ':', and the name."""
    last = re.split("[.:]", name)[-1]
    before = name.removesuffix(last)
    return before[:-1], before[-1:], last


def few_names(path: str, engine: Engine) -> list[str]:
    """Return the names that may follow a path; none where they are too many to compare."""
    listed = engine.variables.members(
        [f".{name}" for name in path.split(".") if name], limit=MOST_NAMES
    )
    return [] if listed.more else [member.name for member in listed.members]
