"""Finds outputs that a page should show, and does not.

Settings may demand the outputs of all prompts (`--strict`). Otherwise the page itself sets the
rule. In Python all outputs are shown by custom, and the module doctest demands it: a page that
shows most of the outputs of its prompts has lost the rest. Pages of Lua leave out uninteresting
outputs, such as the object that a method returns: there a single output that is missing beside many
that are shown counts as lost, and so does a single one whose input only names a variable, since
showing it is all that such an input is for. Outputs that depend on chance, or show an address, need
not be shown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from th_shell.docs.judging.python_output import comparable_outcome
from th_shell.docs.judging.verdicts import Result, Verdict, is_by_equals
from th_shell.docs.reading.comment_values import ASSIGNMENT, remark_of
from th_shell.docs.reading.examples import LUA, PYTHON, Example, Kind
from th_shell.docs.reading.page import Page
from th_shell.docs.running.evaluation import Outcome, Plan, Runner
from th_shell.patterns import pattern

#: The note of an example whose output the page omits, beside those of others.
LEFT_OUT = "the page shows what others print, and not this"
#: If so many outputs of Lua are shown, a single one that is left out counts as lost.
_MANY = 5
#: An input that only names a variable, or an element of one.
_NAME = pattern(r"=?\s*[A-Za-z_][\w.]*(?:\[[^\]\n]*\])*\s*")
#: Inputs that a page shows no output of.
_SILENT = ("require", "return")
#: A value that a script does not show: a table, a tensor, another object.
_OBJECT = pattern(r"^\{|: 0x|\n")
#: A method of the page's own object, which a script calls for what it does to it.
_METHOD = pattern(r"[A-Za-z_]\w*:\w")
#: The seeds of further runs, which show the outputs that depend on chance.
_SEEDS = (2, 3, 4, 5)
#: The inputs at each of which a page shows what it prints; without a prompt, in comments.
_FORMS = ((PYTHON, Kind.PROMPT), (LUA, Kind.PROMPT), (LUA, Kind.BARE))


def with_missing_outputs(
    results: Sequence[Result], outcomes: Sequence[Sequence[Outcome]], page: Page, runner: Runner
) -> list[Result]:
    """Return the results; an example whose output the page should show, and omits, fails."""
    texts = _texts(results, outcomes)
    judged = [_strict(*pair) for pair in zip(results, texts, strict=True)]
    lines = page.code_lines
    indices = _left_out(judged, texts, outcomes, lines)
    if indices:  # two runs may print the same by chance
        lost = {i: runs[0] for i, runs in enumerate(outcomes) if runs[0].lost}
        plans = [Plan(seed, engine=seed % 2, lost=lost) for seed in _SEEDS]
        more = runner.evaluate([result.example for result in judged], plans)
        every = [
            (*runs, *(comparable_outcome(result.example, outcome) for outcome in further))
            for result, runs, further in zip(judged, outcomes, more, strict=True)
        ]
        indices = _left_out(judged, texts, every, lines)
    for i in indices:
        judged[i] = _failed(judged[i], LEFT_OUT)
    return judged


def _texts(results: Sequence[Result], outcomes: Sequence[Sequence[Outcome]]) -> list[str]:
    """Return the texts that the page can show: no outputs but values where it writes `= x`."""
    by_equals = any(is_by_equals(r.example) for r in results)
    return [
        runs[0].printed
        if by_equals and result.example.kind is Kind.PROMPT and not is_by_equals(result.example)
        else result.got
        for result, runs in zip(results, outcomes, strict=True)
    ]


def _left_out(
    results: Sequence[Result],
    texts: Sequence[str],
    outcomes: Sequence[Sequence[Outcome]],
    lines: Mapping[int, str],
) -> list[int]:
    """Return the indices of the examples whose outputs the page should show, and does not.

    texts: the outputs that it can show. lines: those of the page's code, by their numbers.
    """
    indices: list[int] = []
    for form in _FORMS:
        members = [i for i, r in enumerate(results) if (r.example.language, r.example.kind) == form]
        told = [i for i in members if _documents_output(results[i].example)]
        blocks = {results[i].example.block for i in told}
        if Kind.BARE in form:  # a script may show what it prints, and no values
            told = [i for i in told if not outcomes[i][0].printed]
        shown = sum(results[i].checked for i in told)
        silent = [
            i
            for i in members
            if _prints(results[i], texts[i], outcomes[i])
            and not _is_excused(results[i].example, lines)
            # A script may consist of an expression alone: it shows the form of a call.
            and (Kind.BARE not in form or results[i].example.block in blocks)
        ]
        is_python = PYTHON in form
        if Kind.BARE in form and len(silent) == 1 and _OBJECT.search(texts[silent[0]].strip()):
            silent = []  # in a script, a call is made for what it does, too
        named = [i for i in silent if _NAME.fullmatch(results[i].example.source)]
        if len(named) == 1 and not is_python:
            silent = named
        if len(silent) <= shown if is_python else len(silent) == 1 and shown >= _MANY:
            indices += silent
    return indices


def _documents_output(example: Example) -> bool:
    """Tell whether an output is documented under the input or in its comment."""
    return bool(example.expected or example.value)


def _prints(result: Result, text: str, runs: Sequence[Outcome]) -> bool:
    """Tell whether an example prints a text that a page can show, the same in each run.

    The order of words does not count, since that of fields and sets differs between runs. A
    statement without a prompt must show a value: printed text may be shown below the whole script.
    """
    is_script = result.example.kind is Kind.BARE and runs[0].printed
    is_something = set(text.split()) - {"nil"} and "\x1b[" not in text  # no page shows colours
    is_fixed = len({tuple(sorted(run.output.split())) for run in runs}) == 1
    return bool(result.verdict is Verdict.RAN and is_something and is_fixed and not is_script)


def _is_excused(example: Example, lines: Mapping[int, str]) -> bool:
    """Tell whether an output is documented, or need not be, by comments or settings.

    lines: those of the page's code, by their numbers.
    """
    if _documents_output(example) or example.settings.strict is False:
        return True
    above = lines.get(example.line - 1, "").lstrip() if example.kind is Kind.BARE else ""
    is_of_another = above.lstrip("- ").startswith((">", "=>"))  # the value of what is above it
    is_above = above.startswith("--") and not is_of_another
    is_done = example.kind is Kind.BARE and _METHOD.match(example.source)
    is_remark = bool(remark_of(example.source) or is_done) or is_above
    is_silent = ASSIGNMENT.match(example.source) or example.source.startswith(_SILENT)
    return example.language == LUA and (is_remark or bool(is_silent))


def _strict(result: Result, text: str) -> Result:
    """Return a result that fails where the settings demand an output that is not shown."""
    is_shown = result.example.kind in (Kind.PROMPT, Kind.CELL) and text.strip()
    if not (result.example.settings.strict and result.verdict is Verdict.RAN and is_shown):
        return result
    return _failed(result, "the page documents nothing of what it prints")


def _failed(result: Result, note: str) -> Result:
    """Return a result that fails for a reason."""
    return replace(result, verdict=Verdict.DIFFERS, note=note)
