"""Checks pages: reads and runs them as the command line, their folders and they themselves say.

What fails is looked at again: a repair of the page's text may make it hold (`healing`), the text
may contradict itself, and the page may leave out what it uses, or need a device that is not there
(`reasons`). The file beside a page says which examples are wrong in it, and what they have reached
before (`expectations`).
"""

import atexit
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from th_shell import python_syntax
from th_shell.docs.judging import expectations
from th_shell.docs.judging.agreement import sufficient_tolerance
from th_shell.docs.judging.announcements import with_announced_errors
from th_shell.docs.judging.devices import with_missing_devices
from th_shell.docs.judging.missing_outputs import with_missing_outputs
from th_shell.docs.judging.randomness import judge_page
from th_shell.docs.judging.reasons import ALONE, NOT_WHOLE, damage, with_fragments
from th_shell.docs.judging.verdicts import ANNOUNCED, PageResult, Result, Verdict
from th_shell.docs.reading import lua_names
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.examples import LUA, PYTHON, Example, Kind
from th_shell.docs.reading.names import bound_names, read_names
from th_shell.docs.reading.page import Page, read
from th_shell.docs.running.configured import (
    configured_runner,
    missing_packages,
    with_imports,
    with_marks_decided,
)
from th_shell.docs.running.evaluation import FIRST, HiddenError, Runner, Runs
from th_shell.docs.running.processes import Starter, StoppedError
from th_shell.docs.settings.configuration import configuration
from th_shell.docs.settings.modules import with_own_modules
from th_shell.docs.settings.settings import Configuration, PageError
from th_shell.docs.settings.sidecar import Erratum
from th_shell.patterns import pattern

#: Rounds of `--update`: new errata may change outputs further down, and so other errata.
_ROUNDS = 5


class ReadPage(NamedTuple):
    """A page that has been read, and what runs it."""

    page: Page
    runner: Runner


@dataclass(frozen=True)
class Checker:
    """Reads and checks pages. Any thread may use it."""

    starter: Starter
    compiler: Compiler
    #: Rules for all pages, which stand over those of their folders.
    rules: Configuration
    #: See `check_page`.
    update: bool = False

    def check(self, path: Path) -> PageResult:
        """Read, run and judge a page."""
        return _answered(path, lambda: check_page(*self.read(path), self.update))

    def read(self, path: Path, text: str | None = None) -> ReadPage:
        """Read a page, or what it would be with another text. Raises PageError."""
        try:
            rules = configuration(path, self.rules)
            page = read(path, self.compiler, rules, text)
            rules = with_own_modules(rules, page)
        except OSError as error:
            raise PageError(f"cannot be read: {error.strerror}") from None
        if rules.sandbox:
            from th_shell.docs.running import sandbox  # late: few pages are sandboxed

            if lack := sandbox.missing():
                raise PageError(f"the sandbox cannot be had: {lack}")
        return ReadPage(page, configured_runner(self.starter, rules))


@cache
def shared_checker() -> Checker:
    """Return the checker of pages within another program, such as pytest, Sphinx or MkDocs."""
    starter = Starter()
    atexit.register(starter.stop)
    return Checker(starter, Compiler(), Configuration())


class Assessment(NamedTuple):
    """The verdicts on a page's examples, before its errata count."""

    results: Sequence[Result]
    #: The outcomes in the two runs that were judged.
    outcomes: Sequence[Runs]
    #: The repaired inputs, by the indices of examples.
    inputs: Mapping[int, str]
    #: The errata of the page, by the indices of examples.
    errata: Mapping[int, Erratum]


def assess_page(page: Page, runner: Runner) -> Assessment:
    """Judge a page's examples. Raises PageError."""
    return _assessed(*_ready(page, runner))


def check_page(page: Page, runner: Runner, update: bool = False) -> PageResult:
    """Run a page's examples and judge them: as many results as it has examples.

    update: write what they do now into the file beside the page.
    """

    def judged() -> PageResult:
        if update:
            return _whole(page, _rewritten(*_ready(page, runner)))
        return held(page, assess_page(page, runner))

    return _answered(page.path, judged)


def _whole(page: Page, results: Sequence[Result]) -> PageResult:
    """Return the results of a page, and whether a smaller share of it is checked than must be."""
    may_be_unchecked = bool(results) and page.least == 0
    result = PageResult(page.path, results, "", page.unread, may_be_unchecked)
    if page.least is None or result.share >= page.least:
        return result
    problem = f"{result.share:.0%} of what could be compared is checked, not {page.least:.0%}"
    return replace(result, problem=problem)


def _answered(path: Path, check: Callable[[], PageResult]) -> PageResult:
    """Return the results of a page, or the problem with it."""
    try:
        with own_faults():
            return check()
    except PageError as error:
        return PageResult(path, [], str(error))


@contextmanager
def own_faults() -> Iterator[None]:
    """Makes whatever fails the problem of one page, a PageError, and of no other page."""
    try:
        yield
    except (PageError, StoppedError):
        raise
    except Exception as error:
        is_lack = isinstance(error, MemoryError)
        why = "not enough memory" if is_lack else f"{type(error).__name__}: {error}"
        raise PageError(f"th-docs cannot check it: {why}") from error


def _ready(page: Page, runner: Runner) -> tuple[Page, Runner]:
    """Return a page without marks that do not hold, and what runs it."""
    runner = with_imports(runner, page.examples)
    return replace(page, examples=with_marks_decided(page.examples, runner)), runner


def _assessed(page: Page, runner: Runner) -> Assessment:
    errata = expectations.errata_of(page.examples, page.sidecar)
    sources = {i: erratum.right for i, erratum in errata.items() if erratum.right is not None}
    judged = judge_page(page.examples, runner, sources, {})
    results, inputs = judged.results, dict[int, str]()
    if any(result.failed or result.note == ANNOUNCED for result in results):
        from th_shell.docs.judging.healing import Healing  # late: most pages hold

        announced = with_announced_errors(results, page.code_lines, page.text)
        judged = judged._replace(results=announced)
        healed = Healing(page, judged, runner, sources, set(errata)).healed()
        alone = _with_programs(healed.results, page, runner)
        results = _with_reasons(alone, judged.outcomes, page, runner)
        inputs.update(healed.inputs)
    results = with_missing_outputs(results, judged.outcomes, page, runner)
    results = expectations.with_xfail(results)
    return Assessment(results, judged.outcomes, inputs, errata)


def _with_programs(results: Sequence[Result], page: Page, runner: Runner) -> list[Result]:
    """Return the results, those of blocks that hold only as programs of their own as such.

    Such a block has no prompts, and uses nothing of the blocks above but what they import, or in
    Lua requires that again. Or it has prompts, and shows first that a name has no value.
    """
    required = set[str]()
    imported: dict[tuple[str, str], str] = {}  # by languages and groups
    mended: list[Result] = []
    for _, of_block in groupby(results, lambda result: result.example.block):
        block = list(of_block)
        sources = [result.example.source for result in block]
        modules = [_REQUIRED.findall(source) for source in sources]
        language = block[0].example.language
        place = language, block[0].example.group
        prelude = imported.setdefault(place, runner.preludes.get(language, "") + "\n")
        if block[0].failed and _begins_anew(block[0].example):
            block = _alone(block, page, runner)
        elif any(map(_is_open, block)) and block[0].example.kind is Kind.BARE:
            source = "\n".join((prelude, *sources))
            known = python_syntax.BUILTINS if language == PYTHON else page.compiler.known_names
            needed = read_names(language, source) - bound_names(language, source) - known
            if language == LUA and required.intersection(modules[0]):
                block = _alone(block, page, runner)
            elif not needed:
                block = _alone(block, page, replace(runner, preludes={language: prelude}))
        required.update(*modules)
        ran = (result.example.source for result in block if not result.failed)
        imports = python_syntax.imports if language == PYTHON else lua_names.imports
        imported[place] += "".join(map(imports, ran))
        mended += block
    return mended


def _is_open(result: Result) -> bool:
    """Tell whether an example fails, and no repair makes it hold."""
    return result.verdict in (Verdict.DIFFERS, Verdict.ERROR)


def _begins_anew(example: Example) -> bool:
    """Tell whether an example of Lua shows that a name has no value."""
    is_name = example.language == LUA and example.source.strip().isidentifier()
    return is_name and example.kind is Kind.PROMPT and example.expected.strip() == "nil"


def _alone(block: list[Result], page: Page, runner: Runner) -> list[Result]:
    """Return a block's results as a program of its own, if it holds so."""
    examples = [result.example for result in block]
    try:
        runs = [run for (run,) in runner.evaluate(examples, (FIRST,))]
        pairs = [
            (result.got, run) for result, run in zip(block, runs, strict=True) if _is_open(result)
        ]
        if all(got in (run.output + (run.error or ""), run.shown) for got, run in pairs):
            return block  # it fails in the same way alone
        judged = judge_page(examples, runner, {}, {}).results
    except HiddenError:
        return block  # the imports need what the page has made above
    alone = with_announced_errors(judged, page.code_lines, page.text)
    if any(result.failed for result in alone):
        return block
    return [replace(result, note=result.note or ALONE) for result in alone]


#: So many inputs with the same error of the compiler are no slips.
_MOST_ALIKE = 3
#: The title of a page, if it is one word.
_TITLE = pattern(r"\s*(?:# ([\w.-]+)[ #]*$|([\w.-]+)[ \t]*\n==+[ \t]*$)", re.M)
#: The first heading of a page, and the name of a class in it.
_HEADING, _CLASS_NAME = pattern(r"^#{1,6} (.*)$", re.M), pattern(r"\b[A-Z][a-z]+[A-Z]\w*")
#: A function in the prose of a page, with its owner: `table.zip(f, t)`.
_TOLD_FIELD = pattern(r"\b([A-Za-z_]\w{0,99}\.[A-Za-z_]\w{0,99})\(")
#: What makes `class` a global function, as it is in Torch7's shell.
_HAS_CLASS = pattern(r"(?i)\b(?:pl|penlight|torch7?)\b")
_HAS_PENLIGHT = pattern(r"(?i)\b(?:pl|penlight)\b")
#: Modules of Penlight that Torch7's shell has as variables, by names that pages use for others.
_OF_PENLIGHT = frozenset("app config data date dir file func input seq test text types url".split())
_REQUIRED = pattern(r"\brequire[\s(]{0,9}[\"']([\w.-]+)")


def _with_reasons(
    results: Sequence[Result], outcomes: Sequence[Runs], page: Page, runner: Runner
) -> list[Result]:
    """Return the results, in which failures whose reason is not the program have other verdicts."""
    lua, python = (runner.preludes.get(language, "") for language in (LUA, PYTHON))
    names_before = {PYTHON: python_syntax.BUILTINS | python_syntax.bound_names(python)}
    if any(example.language == LUA for example in page.examples):
        names_before[LUA] = page.compiler.known_names | lua_names.bound_names(lua)
    imported = python_syntax.imported_names(python)
    title = _TITLE.match(page.text)
    package = (title[1] or title[2]).lower() if title else ""
    prose = (line for at, line in enumerate(page.text.split("\n"), 1) if at not in page.code_lines)
    told = frozenset(_TOLD_FIELD.findall("\n".join(prose)))
    told |= {f"{name}.*" for name in missing_packages(page.examples)}
    heading = _HEADING.search(page.text)
    told |= {f"*.{name}" for name in _CLASS_NAME.findall(heading[1] if heading else "")}
    others = frozenset[str]() if _HAS_CLASS.search(page.text) else frozenset({"class"})
    others |= frozenset[str]() if _HAS_PENLIGHT.search(page.text) else _OF_PENLIGHT
    with_devices = with_missing_devices(results, imported)
    results = with_fragments(with_devices, outcomes, names_before, package, told, others)
    return _without_dialect([_explained(result, page) for result in results])


def held(page: Page, assessment: Assessment) -> PageResult:
    """Return the results, held against the file beside the page. Raises PageError."""
    results = expectations.with_errata(assessment.results, assessment.outcomes, assessment.errata)
    before = expectations.verdicts_before(page.sidecar)
    return _whole(page, expectations.with_falls(results, before))


def _rewritten(page: Page, runner: Runner) -> list[Result]:
    """Judge a page, write its sidecar file anew, and return the results."""
    for _ in range(_ROUNDS):
        assessment = _assessed(page, runner)
        errata = expectations.updated(
            assessment.results, assessment.outcomes, assessment.errata, assessment.inputs
        )
        results = expectations.with_errata(assessment.results, assessment.outcomes, errata)
        if not page.sidecar.update(page.examples, errata, expectations.reached(results)):
            break
    return results


def _without_dialect(results: list[Result]) -> list[Result]:
    """Return the results; FRAGMENT is the verdict of prompts in a dialect of the language.

    Such a page has several prompts that do not compile: they have the same error, or no other one
    holds.
    """
    errors = Counter(result.got for result in results if result.note == NOT_WHOLE)
    others = [r for r in results if r.example.kind is Kind.PROMPT and r.note != NOT_WHOLE]
    is_foreign = errors.total() > 1 and not any(map(_holds, others))
    if max(errors.values(), default=0) < _MOST_ALIKE and not is_foreign:
        return results
    note = "the prompts of this page take more than the language"
    return [
        replace(result, verdict=Verdict.FRAGMENT, note=note) if result.note == NOT_WHOLE else result
        for result in results
    ]


def _holds(result: Result) -> bool:
    """Tell whether an example was compared, or only ran, without an error."""
    return result.checked or result.verdict is Verdict.RAN


def _explained(result: Result, page: Page) -> Result:
    """Return a failing result as damaged, or with the tolerance that would do."""
    if result.verdict not in (Verdict.DIFFERS, Verdict.ERROR):
        return result
    problem = damage(result.example, result.got, page.compiler)
    if problem:
        return replace(result, verdict=Verdict.DAMAGED, note=problem)
    has_reason = result.note or result.verdict is Verdict.ERROR
    rtol = 0 if has_reason else sufficient_tolerance(result.example, result.got)
    note = f"only last digits differ: rtol={rtol:g} takes them as equal"
    return replace(result, note=note) if rtol else result
