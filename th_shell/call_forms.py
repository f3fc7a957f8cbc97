"""Reads the call forms of torch's operations: their words, and how many arguments they take."""

import re

_WORD = re.compile(r"\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\]|\([^()]*\)|\{[^{}]*\}|\S+")


def words_of(form: str) -> list[str]:
    """Return the words for the arguments, a method's object among them: '[*T*]', 'T', '[index]'."""
    return [word for word in _WORD.findall(form) if not word.startswith("<")]


def least_and_most(form: str) -> tuple[int, int | None]:
    """Return how many arguments a form takes, a method's object among them; None: any number."""
    words = words_of(form)
    if "|" in words:  # of forms that share a line
        return 0, None
    least = sum(not word.startswith("[") and word != "..." for word in words)
    optional = [word.strip("[]").split() for word in words if word.startswith("[")]
    most = len(words) + sum(len(inner) - 1 for inner in optional)
    return least, None if "..." in form else most


def takes(form: str, count: int, is_loose: bool = False) -> bool:
    """Tell whether a form takes a number of arguments, a method's object among them.

    is_loose: nobody looks at further ones than it needs.
    """
    least, most = least_and_most(form)
    return least <= count and (is_loose or most is None or count <= most)


def without_types(form: str, tensor: str, number: str) -> str:
    """Return a form as people read it. tensor, number: the words for its element type's."""
    form = re.sub(r"<[^<>]*>|=[^\s\]>*]+", "", form)
    form = re.sub(r"\bT\b", tensor, form)
    return " ".join(re.sub(r"\b(?:acc)?real\b", number, form).split())
