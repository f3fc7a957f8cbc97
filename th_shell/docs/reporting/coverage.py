"""Says which functions that pages document have a checked example.

A function has an example if the input of one uses the last part of its name as `torch.name`,
`x:name` or `name(…)`. It is checked, too, if a checked example below it in the same block shows
what it has changed.

A page documents a function where a heading has its name before a bracket, `lume.round(x)`, or a
directive such as `.. function::`.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from textwrap import TextWrapper
from typing import NamedTuple

from th_shell.docs.judging.verdicts import PageResult, Result, Verdict
from th_shell.docs.reading.names import bound_names, called_names, read_names
from th_shell.docs.reporting.excerpts import page_lines
from th_shell.patterns import pattern
from th_shell.visible import visible

_RECEIVER = pattern(r"\b([A-Za-z_]\w*)\s*:\s*[A-Za-z_]")
_FUNCTION = pattern(
    r"^(?:#{1,6}[^(]*?(?P<heading>(?<![\w.:])[A-Za-z_][\w.:]*)\("
    r"|\s*\.\. (?:\w+:)?(?:auto)?(?:function|method|classmethod|staticmethod):: +(?P<name>[\w.:]+))"
)
_FENCE = pattern(r"^\s*(?:```|~~~)")
_WRAPPER = TextWrapper(98, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


class Coverage(NamedTuple):
    """The functions that pages document, by their examples."""

    #: Functions with an example that is compared with the page.
    checked: tuple[str, ...]
    #: Functions whose examples only run.
    ran: tuple[str, ...]
    #: Functions without an example.
    none: tuple[str, ...]


def documented(pages: Sequence[PageResult]) -> list[str]:
    """Return the functions that pages document, in order."""
    functions: dict[str, None] = {}
    for page in pages:
        is_code = False
        for line in page_lines(page.page):
            is_code ^= bool(_FENCE.match(line))
            match = None if is_code else _FUNCTION.match(line)
            if match:
                functions[match["heading"] or match["name"]] = None
    return list(functions)


def measure(pages: Sequence[PageResult]) -> Coverage:
    """Return the functions that pages document, by their examples."""
    uses = defaultdict[str, list[bool]](list)
    for page in pages:
        for result, checked in _examples(page.results):
            for name in called_names(result.example.language, result.example.source):
                uses[name].append(checked)
    checks = {name: uses[re.split("[.:]", name)[-1]] for name in documented(pages)}
    return Coverage(
        checked=tuple(name for name, examples in checks.items() if any(examples)),
        ran=tuple(name for name, examples in checks.items() if examples and not any(examples)),
        none=tuple(name for name, examples in checks.items() if not examples),
    )


def coverage_lines(coverage: Coverage) -> Iterator[str]:
    """Yield the lines of a report on coverage."""
    total = sum(map(len, coverage))
    yield f"documented functions: {len(coverage.checked)} of {total} have a checked example"
    yield from _listed("only run", coverage.ran)
    yield from _listed("no example", coverage.none)


def _examples(results: Sequence[Result]) -> Iterator[tuple[Result, bool]]:
    """Yield the examples that were run, from the last one; whether what they do is checked."""
    block, shown = -1, set[str]()
    for result in reversed(results):
        source, language = result.example.source, result.example.language
        if result.example.block != block:
            block, shown = result.example.block, set()
        if result.checked:
            shown |= read_names(language, source)
        if result.verdict not in (Verdict.SKIPPED, Verdict.TEXT):
            changed = bound_names(language, source) | set(_RECEIVER.findall(source))
            yield result, result.checked or bool(changed & shown)


def _listed(title: str, names: Sequence[str]) -> list[str]:
    shown = " ".join(map(visible, names))
    return _WRAPPER.wrap(f"  {title}: {shown}") if names else []
