"""Tells which comments announce that an error is raised, and which errors they rule out.

`-- this fails` announces one, `-- compute the error` and `-- no error here` do not. What a comment
says behind `error:` may be in other words than the message, but must not name other things.
"""

from __future__ import annotations

import re
from itertools import pairwise

from th_shell.docs.judging.comparison import is_nearly
from th_shell.docs.judging.printout import number_words

_CLAUSE_ENDS = re.compile(r"[;:,.!()\[\]>]|\s-+\s")
_NEGATED = re.compile(
    r"\b(?:no|not(?! allowed)|never|without|nothing|cannot|if|unless|whether|until|instead|avoids?"
    r"|prevents?|handl\w+|catch\w*|checks?|comput\w+|prints?|returns?|logs?|ignores?)\b|n't\b",
    re.I,
)
_RAISED = r"(?:(?:an?|the|\w+) )?(?:\w+ )?(?:errors?|exceptions?)"
_PREDICATE = re.compile(
    rf"(?:\bfails?|\b(?:raises?|throws?|gives?|causes?|produces?|results? in)(?: {_RAISED})"
    r"|\b(?:raises?|throws?)|\b(?:illegal|invalid|not allowed)"
    r"|(?:^|\b(?:an?|also|now|is|will|would|should|must|syntax|type|run-?time) )errors?(?: out)?)"
    r"(?=\s*(?:$|['\"`]|\b(?:because|since|as|here|again|too|now|when)\b))"
    r"|^(?:illegal|invalid)(?: \w+){1,2}$",
    re.I,
)
_ANNOUNCEMENT = re.compile(r"\berrors?\b[\])]*\s*:\s*(?P<text>.+)", re.I | re.S)
_LETTER = re.compile(r"\w")
_QUOTED = re.compile(r"(?<!\w)(['\"`])([^'\"`]+)\1")


def announces_error(comment: str) -> bool:
    """Return whether a comment says that its code raises an error."""
    for clause in _CLAUSE_ENDS.split(comment):
        predicate = _PREDICATE.search(clause.strip())
        if predicate and not _NEGATED.search(clause.strip(), 0, predicate.end()):
            return True
    return False


def rules_out(comment: str, message: str) -> bool:
    """Return whether a comment tells of another error: nearly the same, or with other names."""
    announcement = _ANNOUNCEMENT.search(comment)
    if not announcement:
        return False
    text = announcement["text"]
    names = [name for _, name in _QUOTED.findall(text)] + number_words(text)
    return is_nearly(text, message) or any(not says(message, name) for name in names)


def says(text: str, words: str) -> bool:
    """Return whether a text has these words in it, and not as parts of longer ones."""
    pieces = text.split(words) if words else []
    return any(not _LETTER.search(before[-1:] + after[:1]) for before, after in pairwise(pieces))
