"""Gives examples their verdicts by comparing the output of two runs with the documented text."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import chain
from pathlib import Path

from th_shell import python_syntax
from th_shell.docs.judging.agreement import comparison, is_quoted
from th_shell.docs.judging.comparison import (
    agrees_by_layout,
    agrees_in_any_order,
    announces_error,
    is_error_message,
    is_nearly,
    is_same_text,
    rules_out,
    says,
    sorting,
    tells_among_words,
)
from th_shell.docs.judging.printout import (
    NUMBER,
    at_other_addresses,
    bare_message,
    numbers,
    readings,
    same,
    tokens,
    with_exact_hex,
    without_fields,
    without_quotes,
)
from th_shell.docs.judging.tables import like_tables, same_tables
from th_shell.docs.reading.comment_values import (
    ASSIGNMENT,
    Value,
    comment_of,
    is_instance,
    is_print,
    literal_in,
    names_values,
    quoted_in,
    remark_of,
    says_print,
    values_before_remark,
)
from th_shell.docs.reading.examples import LUA, PYTHON, Example, Kind
from th_shell.docs.reading.prose import is_prose, words_in
from th_shell.docs.running.evaluation import ENDED, Outcome, ending, unrunnable
from th_shell.docs.settings.settings import filtered
from th_shell.patterns import pattern


class Verdict(Enum):
    """The result of an example."""

    PASS = "pass"  #: it has printed what the page documents
    LAYOUT = "layout"  #: its output depends on chance, and has the layout that the page documents
    RAN = "ran"  #: the page documents no output
    DIFFERS = "differs"  #: it has printed something else
    ERROR = "error"  #: it has raised an error, or its process has ended
    FRAGMENT = "fragment"  #: it fails, and uses names that the page never gives a value
    DEVICE = "device"  #: it fails, and needs a device such as a GPU, which is not there
    DAMAGED = "damaged"  #: it fails, and the documented text contradicts itself
    HEALED = "healed"  #: it fails, and holds after one small repair of the page's text
    XFAIL = "xfail"  #: it fails, and the page's settings say that it does
    SKIPPED = "skipped"  #: it was not run
    TEXT = "text"  #: it is no example: text without an input above it
    ERRATUM = "erratum"  #: it fails, and the file beside the page says why the page is wrong


_COMMENT = pattern(r"--.*")
#: Marks around and between values in comments, which printed values do not have.
QUOTES = pattern(r"[\"',]")
#: A text that is printed before values, which a comment may tell alone.
_LABEL = pattern(r"print\s*\(\s*([\"'])(?P<text>(?:(?!\1)[^\\])+)\1\s*(?:,|\.\.)")
#: What stands on lines of its own, as a comment says, and what is between these values.
_LISTED = pattern(
    r"(.*\S)\s+(?:each )?on (?:(?:a )?(?:separate|different)|its own|their own) lines?\b"
)
_JOINS = pattern(r"[\"',\s]+(?:(?:and|then)\s+)*|\s")
#: A comment that announces an error, and says nothing else.
_ANNOUNCES = pattern(
    r"(?:=?>)? *\[?(?:this |it |assertion )?(?:fails|(?:(?:raises|throws) )?(?:an )?error)"
    r" *(?:[!.:\]]+.*|because .*)?",
    re.I,
)
#: The values that a function returns to report a failure without an error.
_REFUSES = pattern(r"\s*(?:nil|false)\b")
#: The note of an error that a comment only announces.
ANNOUNCED = "an error that the comment announces"
_ERROR_WORD = pattern(r"^\s*error:\s*", re.I)
#: The value of a file as it is printed; Lua itself does not show it.
_HANDLE = pattern(r"file \(0x[0-9a-f]+\)\s*")
#: A documented text that stands for any output; in Lua, maybe with a remark behind it.
LEFT_OUT = pattern(r"(?:[\s\0]|[\[(<]?(?:\.\.\.|…)[\])>]?(?:[ \t]+--.*(?!.))?)*")
#: Signs that code has, and prose hardly.
_SIGNS = pattern(r"[=(){}\[\]]")
#: A module that a page shows as `true`: in other versions it returns nothing.
_REQUIRES = pattern(r"require\b[ (]{0,3}[\"'][\w.-]+[\"'][ )]{0,3}$")
#: The time that a prompt shows at its right edge, where all other output is left out.
_TIME_ALONE = pattern(r"\s*\[\d+\.\d+s\]\s*")
#: A call that raises an error if a condition does not hold.
_ASSERTS = pattern(r"(?:[\w.]+[.:])?assert\w*\s*\(|assert\s+[^=\s]")
_EXITS = pattern(r"\b(?:os|sys)\.exit\b|^(?:exit|quit)\s*\(", re.M)
#: A method that ends a program with a message: `parser:error("no file")`.
_REFUSAL = pattern(r"^\w+:(?:error|exit|abort)\s*[({\"']", re.M)
_NUMBER_ALONE = pattern(rf"\s*(?:{NUMBER})\s*")
#: The words before the value that a comment tells.
_TELLS = pattern(r"^(?:[-=]+>|(?:returns|prints|gives)\b:?)\s*", re.I)
#: The mark of a comment that tells a value.
_ARROW = pattern(r"^=*>\s*")
#: The status that code which exits says.
_STATUS = pattern(r"\b(?:os|sys)\.exit\(([1-9]\d{0,2})\)")
#: A number that goes on behind its last digit.
_CUT_NUMBER = pattern(r"(?P<text>-?\d+\.\d+)(?:\.\.\.|…)")
#: A text behind a label in any language.
_LABELLED = pattern(r"[^\W\d_]+(?: [^\W\d_]+){0,2}\s?: (?P<text>.*)")
#: A list that goes on behind its last element.
_OPEN_LIST = pattern(r"\{.*\S\s*,\s*(?:\.\.\.|…)\s*\}\s*")
#: Characters that a number takes at most.
_FEW_DIGITS = 25
#: The part by which a number may differ from one that is told roughly.
_ROUGHLY = 0.1
#: Words that a label has at most.
_LABEL_WORDS = 6
#: So many letters may begin a comment by chance.
_FEW_LETTERS = 2
#: A table as Lua itself shows it, and as Torch7 prints it.
_ADDRESS = pattern(r"\btable: (?:0x)?[0-9A-Fa-f]{6}")
_TABLE = pattern(r"^\{\n(?:[ \t].*\n|\n)*\}", re.M)
#: In two runs, at other addresses.
_BY_ADDRESS = ("table: 0x00000000", "table: 0x11111111")
#: Signs before a value, and words for one that is not exact; what stands between values.
_SIGN_BEFORE = pattern(r"\A(?:>>|[=-]?>|==?|[:#»→⇒⟶➜])\s*")
_SIGN_BEHIND = pattern(r"(?:(?<=[\d\"'})\]])|(?<=\btrue)|(?<=\bfalse)|(?<=\bnil))\s*[!;`]+$")
_VAGUE = pattern(
    r"\A(?:[~≈]|(?:about|approx\w*\.?|around|roughly|circa|ca\.)\s)\s*(?=[-+.\d])", re.I
)
#: Words for any of several values.
_ANY_OF_SOME = pattern(r"(?:falsy|truthy|(?:true|false) ?(?:/|or|\|) ?(?:true|false))", re.I)
_BETWEEN = pattern(r"(?<!\s)\s{1,9}(?:and|und|et|y|e|和|与|と|и)\s{1,9}|\s{0,9}[|;]\s{0,9}")
#: Other languages' words for values of Lua.
_TRUTHS = {
    **dict.fromkeys("true verdadero verdadeiro vrai wahr vero истина 真 참".split(), "true"),
    **dict.fromkeys("false falso faux falsch ложь 假 거짓".split(), "false"),
    **dict.fromkeys(("none", "null"), "nil"),
}
#: A range of numbers.
_RANGE = pattern(rf"[\[(]\s*(?P<low>{NUMBER})\s*,\s*(?P<high>{NUMBER})\s*[\])]")
_NAME_BEFORE = pattern(r"\b[A-Za-z_]\w{0,60}\s{0,9}=")
#: Numbers, what is computed from them, and the result.
_SUM = pattern(rf"[-+*/^%() \d.]+=\s*(?P<result>{NUMBER})")
#: A small tensor as it is printed, and what stands around numbers in a comment.
_ONE_TENSOR = pattern(
    rf"\s*(?P<rows>(?:[ \t]*(?:{NUMBER})(?:[ \t]+(?:{NUMBER}))*[ \t]*\n)+)"
    r"\[torch\.\w+ of (?:size|dimension) (?:\d+x)*(?P<last>\d+)\]\s*"
)
_MADE_OF = pattern(r"^\s*torch\.\w+\s*(?=[{(])")
_CLASS = pattern(r"\[(torch\.\w+) of (?:size|dimension) ([\dx]+)\]")
_BRACKETS, _INNERMOST = pattern(r"[{}\[\](),;]"), pattern(r"[{\[(]([^{}\[\]()]*)[}\])]")
_NUMBERS = pattern(rf"\s*(?:{NUMBER})(?:\s+(?:{NUMBER}))*\s*")
#: Values whose contents Lua does not print.
_NO_CONTENTS = pattern(r"\b(?:table|function|userdata|thread|cdata<[^>\n]{0,99}>): 0x")

#: The verdicts that make a page fail.
FAILURES = frozenset((Verdict.DIFFERS, Verdict.ERROR, Verdict.DAMAGED, Verdict.HEALED))
#: The verdicts of examples that fail as expected, so that the page does not.
EXPECTED_TO_FAIL = frozenset((Verdict.XFAIL, Verdict.ERRATUM))
#: The verdicts that say nothing about the page.
NOT_CHECKED = frozenset((Verdict.SKIPPED, Verdict.TEXT, Verdict.FRAGMENT, Verdict.DEVICE))
#: The verdicts of examples that were not compared with the page.
_UNCHECKED = NOT_CHECKED | {Verdict.RAN}


@dataclass(frozen=True)
class Result:
    """An example's verdict, and what led to it."""

    example: Example
    verdict: Verdict
    #: The printed text, and the error.
    got: str = ""
    #: The reason for the verdict, or ''.
    note: str = ""
    #: For HEALED: the lines of the page that are wrong.
    original: str = ""
    #: For HEALED: the lines that make the example hold.
    repaired: str = ""
    #: The runs have printed different texts.
    by_chance: bool = False
    #: The time of the first two runs.
    seconds: float = field(default=0.0, compare=False)

    @property
    def failed(self) -> bool:
        """Tell whether this example makes the page fail."""
        return self.verdict in FAILURES

    @property
    def fails_unexpectedly(self) -> bool:
        """Tell whether it fails, for any reason that neither settings nor an erratum name."""
        return self.failed or self.verdict in (Verdict.FRAGMENT, Verdict.DEVICE)

    @property
    def checked(self) -> bool:
        """Tell whether the output was compared with a documented text."""
        return self.verdict not in _UNCHECKED


@dataclass(frozen=True)
class PageResult:
    """The results of a page."""

    page: Path
    results: Sequence[Result]
    #: Why the page could not be read or judged, or is wrong as a whole; '' if nothing is.
    problem: str = ""
    #: The number of blocks in languages that no engine runs.
    unread: int = 0
    #: The settings say that none of its examples need be checked.
    may_be_unchecked: bool = False

    @property
    def failed(self) -> bool:
        """Tell whether the page could not be judged or has an example that makes it fail."""
        return bool(self.problem or self.failures)

    @property
    def failures(self) -> list[Result]:
        """Return the results of the examples that make the page fail."""
        return [result for result in self.results if result.failed]

    @property
    def checked(self) -> int:
        """Return the number of examples that were compared with a documented text."""
        return sum(result.checked for result in self.results)

    @property
    def share(self) -> float:
        """Return the fraction of comparable examples that were compared; 1 where there are none.

        Comparable examples that were not compared are fragments: they lack what they use.
        """
        unchecked = sum(result.verdict is Verdict.FRAGMENT for result in self.results)
        return self.checked / (self.checked + unchecked) if unchecked else 1.0


def judge(examples: Sequence[Example], outcomes: Sequence[tuple[Outcome, Outcome]]) -> list[Result]:
    """Return the verdicts of a page's examples, each judged by its own two runs."""
    judging = Judging(any(map(is_by_equals, examples)))
    results = [judging.result(e, *pair) for e, pair in zip(examples, outcomes, strict=True)]
    below = zip(results, examples[1:], outcomes[1:], strict=False)
    told = [_told_above(*each) for each in below]
    return [*told, *results[len(told) :]]


class Judging:
    """Judges the examples of a page one after the other, each by its own runs."""

    def __init__(self, by_equals: bool = False) -> None:
        """Begin a page. by_equals: it shows values by `= x`."""
        self._script = ("", "")  # the output of a script's statements, in two runs
        self._rest = ("", "")  # that of those behind the last one whose own comment tells it
        self._block = -1
        self._by_equals = by_equals
        #: Inputs and messages of the errors that the page shows.
        self._shown_errors: set[tuple[str, str]] = set()

    def of_one_run(self, example: Example, outcome: Outcome) -> Result:
        """Return the verdict of the next example, which was run once.

        A second run is made up, which has printed the same with other addresses.
        """
        texts = (outcome.output, outcome.printed, outcome.shown)
        output, printed, shown = map(at_other_addresses, texts)
        error = outcome.error and at_other_addresses(outcome.error)
        second = replace(outcome, output=output, printed=printed, shown=shown, error=error)
        return self.result(example, outcome, second)

    def result(self, example: Example, first: Outcome, second: Outcome) -> Result:
        """Return the verdict of the next example, which was run twice."""
        first, second = (_as_ended(example, outcome) for outcome in (first, second))
        candidates = [(first.output, second.output)]
        self._by_equals |= is_by_equals(example)
        if example.kind is not Kind.BARE or example.block != self._block:
            self._script, self._rest, self._block = ("", ""), ("", ""), example.block
        if example.kind is Kind.BARE:
            # Under several statements, the page may show what all of them print as a script.
            self._script = self._script[0] + first.printed, self._script[1] + second.printed
            self._rest = self._rest[0] + first.printed, self._rest[1] + second.printed
            candidates += [(first.printed, second.printed), self._script]
        elif self._by_equals or _HANDLE.fullmatch(first.output.removeprefix(first.printed)):
            # Where the page writes `= x` for values, its prompt shows none of other inputs.
            candidates.append((first.printed, second.printed))
        result = _judge_one(example, first, second, candidates)
        if result.verdict is Verdict.DIFFERS and _ADDRESS.search(example.expected):
            result = _by_address(result, candidates)
        if result.verdict is Verdict.RAN:
            result = _judge_silent(result)
            if example.kind is Kind.PROMPT and same(first.output, second.output):
                result = _judge_comment(result)
        error = _COMMENT.sub("", example.source).strip(), bare_message(first.error or "")
        is_shown_above = error in self._shown_errors and not example.expected
        if result.verdict in (Verdict.PASS, Verdict.LAYOUT) and first.error:
            self._shown_errors.add(error)
        elif result.verdict is Verdict.ERROR and is_shown_above:
            result = replace(result, verdict=Verdict.LAYOUT, note="an error that is shown above")
        result = _by_inner_comments(self._by_lines(result), first, second)
        lines = example.value.text if example.value else ""
        if result.checked:
            self._rest = ("", "")
        if example.expected or "\n" in lines and result.checked:
            self._script = ("", "")
        return replace(result, seconds=first.seconds + second.seconds)

    def _by_lines(self, result: Result) -> Result:
        """Return a result whose comment of several lines tells what several statements print."""
        value = result.example.value
        is_open = result.verdict in (Verdict.DIFFERS, Verdict.RAN)
        if not value or value.is_remark or "\n" not in value.text or not is_open:
            return result
        whole = replace(result.example, expected=value.text)
        best = _best(_compare(whole, *texts) for texts in (self._script, self._rest))
        if best is not Verdict.DIFFERS:
            return replace(result, verdict=best, note="")
        if not is_nearly(value.text, self._script[0]):
            return result
        note = f"its comment says: {value.text}"
        return replace(result, verdict=Verdict.DIFFERS, got=self._script[0], note=note)


def _by_inner_comments(result: Result, first: Outcome, second: Outcome) -> Result:
    """Return a result whose statement prints what the comments behind its inner prints tell.

    There must be one for each, and each must print a line.
    """
    example = result.example
    is_open = result.verdict is Verdict.RAN and example.kind is Kind.BARE and not first.error
    if not is_open or "\n" not in example.source:
        return result
    lines = [line for line in example.source.split("\n") if "print" in line]
    told = [Value(comment_of(line) or remark_of(line)) for line in lines if is_print(line)]
    printed = [outcome.printed.split("\n")[:-1] for outcome in (first, second)]
    is_each = 0 < len(lines) == len(told) == len(printed[0]) == len(printed[1])
    if not is_each or not all(value.text for value in told):
        return result
    verdict = Verdict.PASS
    for value, *shown in zip(told, *printed, strict=True):
        expected = replace(example, expected=QUOTES.sub(" ", value.text))
        of_line = _compare(expected, *(QUOTES.sub(" ", text) for text in shown))
        if of_line is Verdict.DIFFERS and not (value.is_plain or is_nearly(value.text, shown[0])):
            return result
        if of_line is Verdict.DIFFERS:
            note = f"a comment in it says: {value.text}"
            return replace(result, verdict=Verdict.DIFFERS, note=note)
        verdict = verdict if of_line is Verdict.PASS else Verdict.LAYOUT
    return replace(result, verdict=verdict)


def _told_above(result: Result, below: Example, outcomes: tuple[Outcome, Outcome]) -> Result:
    """Return a result whose comment, on a line of its own, tells what the next input prints."""
    value, example = result.example.value, result.example
    is_apart = bool(value) and below.block == example.block and not remark_of(example.source)
    if not value or not is_apart or result.verdict is not Verdict.DIFFERS:
        return result
    next_one = replace(below, expected=value.text)
    if _compare(next_one, *(outcome.printed for outcome in outcomes)) is not Verdict.PASS:
        return result
    return replace(result, verdict=Verdict.RAN, note="its comment tells what the next input prints")


def _by_address(result: Result, candidates: Sequence[tuple[str, str]]) -> Result:
    """Return a result that holds where tables are shown as Lua itself shows them."""
    texts = (tuple(map(_TABLE.sub, _BY_ADDRESS, pair)) for pair in candidates)
    if all(_compare(result.example, *pair) is not Verdict.PASS for pair in texts):
        return result
    return replace(result, verdict=Verdict.LAYOUT, note="Lua itself shows a table by its address")


def is_by_equals(example: Example) -> bool:
    """Tell whether an input at a prompt asks for a value by `= x`."""
    return example.kind is Kind.PROMPT and example.source.lstrip().startswith("=")


def _as_ended(example: Example, outcome: Outcome) -> Outcome:
    """Return an outcome without the loss of its process, if the example's code calls exit."""
    meant = {ENDED} if _EXITS.search(example.source) else set()
    if _REFUSAL.search(example.source) and outcome.lost.startswith("the process ended"):
        meant = {outcome.lost}
    if status := _STATUS.search(example.source):
        meant.add(ending(f"ended with status {status[1]}"))
    return replace(outcome, lost="") if outcome.lost in meant else outcome


def _judge_silent(result: Result) -> Result:
    """Return the result of an example without a documented output, judged by its code alone.

    A comment at its end that announces an error demands one; an assertion that ran makes it pass.
    """
    source = result.example.source
    is_lua = result.example.language == LUA
    if is_lua and _ANNOUNCES.fullmatch(remark_of(source)) and not _REFUSES.match(result.got):
        note = "its comment announces an error"
        return replace(result, verdict=Verdict.DIFFERS, note=note)
    lines = [source.lstrip()] if is_lua else source.split("\n")
    return replace(result, verdict=Verdict.PASS) if any(map(_ASSERTS.match, lines)) else result


def _judge_comment(result: Result) -> Result:
    """Return the result of an input of Python, held against a comment that is a literal."""
    source, got = result.example.source, result.got
    comment = python_syntax.comment(source) if result.example.language == PYTHON else ""
    text = _TELLS.sub("", comment)
    if not got.strip() or result.example.expected or not python_syntax.is_literal(text):
        return result
    if is_same_text(text, got):
        return replace(result, verdict=Verdict.PASS)
    is_wrong = python_syntax.is_literal(got)
    note = f"its comment says: {text}"
    return replace(result, verdict=Verdict.DIFFERS, note=note) if is_wrong else result


def _judge_one(
    example: Example, first: Outcome, second: Outcome, candidates: list[tuple[str, str]]
) -> Result:
    """Judge one example without regard to the examples above it.

    candidates: pairs of texts from the two runs; the documented text may show any of these pairs.
    """
    why_not = unrunnable(example)
    if why_not:
        verdict = Verdict.TEXT if example.kind is Kind.TEXT else Verdict.SKIPPED
        return Result(example, verdict, note=why_not)
    got = first.output + (first.error or "")
    if first.lost or second.lost:
        return Result(example, Verdict.ERROR, got, first.lost or second.lost)
    if first.error is not None or second.error is not None:
        return _judge_error(example, first, second, got)
    if example.value and not example.expected:
        return _judge_value(example, example.value, first, second)
    if _is_left_out(example, got):
        return Result(example, Verdict.RAN, got)
    if "VARIES" in example.flags:
        return Result(example, Verdict.RAN, got, "the page says that its output varies")
    best = _best(_compare(example, *pair) for pair in candidates)
    names = without_fields(example.expected) if best is Verdict.DIFFERS else example.expected
    has_fields = names != example.expected
    if has_fields and _compare(replace(example, expected=names), *candidates[0]) is Verdict.PASS:
        return Result(example, Verdict.LAYOUT, got, "the fields below the name are not compared")
    is_same_class = _CLASS.findall(example.expected) == _CLASS.findall(got) != []
    if best is Verdict.DIFFERS and not (example.announced or is_same_class):
        return Result(example, Verdict.RAN, got, "the text in the block below is another one")
    by_chance = not same(*candidates[0])
    is_by_layout = by_chance and best is Verdict.DIFFERS
    note = "the output depends on chance; compared by layout" if is_by_layout else ""
    return Result(example, best, got, note, by_chance=by_chance)


def _best(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the best of PASS, LAYOUT and DIFFERS among verdicts, of which none follows a PASS."""
    best = Verdict.DIFFERS
    for verdict in verdicts:
        if verdict is Verdict.PASS:
            return verdict
        if verdict is Verdict.LAYOUT:
            best = verdict
    return best


def _is_left_out(example: Example, got: str) -> bool:
    """Tell whether the page shows nothing of what an example prints; what it shows may be prose."""
    if LEFT_OUT.fullmatch(example.expected):
        return True
    if got.strip():
        is_loaded = _REQUIRES.match(example.source) and example.expected.strip() == "true"
        return bool(is_loaded or _TIME_ALONE.fullmatch(example.expected))
    if example.apart or example.kind is not Kind.PROMPT or not ASSIGNMENT.match(example.source):
        return example.apart
    words = words_in(example.source)
    lines = [line for line in example.expected.split("\n") if line.strip()]
    return all(is_prose(line, words) and not _SIGNS.search(line) for line in lines)


def _judge_value(example: Example, value: Value, first: Outcome, second: Outcome) -> Result:
    """Return the verdict of an example whose value is documented by a comment.

    A comment in words that hardly resemble the printed value is a remark, which is not compared.
    """
    is_comment = value.text.startswith("--")  # a text that is all comment agrees with any other
    if is_comment or LEFT_OUT.fullmatch(value.text) or is_instance(value.text):
        return Result(example, Verdict.RAN, first.shown)
    values = values_before_remark(value.text, is_beside=bool(remark_of(example.source)))
    literal = _literal(value, first.shown)
    plain = values or value.text
    quoted = [*quoted_in(value.text), *filter(None, (literal, values))]
    readings = value.text, *_printable(example, value.text), *quoted, *first.readings
    told = [replace(example, expected=text) for text in readings if text]
    listed = _LISTED.match(value.text)
    words = " ".join(_JOINS.split(listed[1])) if listed else ""
    texts = [*_strings(value), words]
    if _is_all_printed(first) or _may_tell_print(example, value):
        texts += [*readings, *(QUOTES.sub(" ", text) for text in _simpler(plain))]
    printed = [replace(example, expected=text) for text in texts if text]
    verdicts = (_compare(reading, first.printed, second.printed) for reading in printed)
    best = _best(chain(verdicts, _by_readings(plain, told, first, second)))
    if best is not Verdict.DIFFERS:
        return Result(example, best, first.shown)
    if note := _told_in_part(value, first, told) or _told_by_chance(value, first, second):
        return Result(example, Verdict.LAYOUT, first.shown, note)
    is_plain = bool(words) and Value(words).is_plain or _is_plain(example, value, values)
    is_value = bool(literal or (first.readings or is_plain) and first.shown.strip())
    if _is_no_value(example, value, first, second):
        return Result(example, Verdict.RAN, first.shown)
    return _judge_unlike(example, [value.text, *quoted], first, is_value)


def _is_all_printed(outcome: Outcome) -> bool:
    """Tell whether what is shown is what is printed, and not a value behind it."""
    behind = outcome.shown[len(outcome.printed) :].strip()
    return bool(outcome.printed.strip()) and (behind == "nil" or bool(_HANDLE.fullmatch(behind)))


def _is_plain(example: Example, value: Value, values: str) -> bool:
    """Tell whether a comment is a value, or values before a remark, whatever stands below it."""
    has_values = bool(values or _CUT_NUMBER.fullmatch(value.text)) and not value.is_remark
    is_truth = value.text.strip().lower() in _TRUTHS
    own = remark_of(example.source)
    is_own = own != value.text and Value(own).is_plain and not names_values(own)
    return value.is_plain or has_values or is_truth or is_own


def _is_no_value(example: Example, value: Value, outcome: Outcome, other: Outcome) -> bool:
    """Tell whether a comment tells of parameters, counts calls, or tells no exact value."""
    is_of_parameters = names_values(value.text) and set(outcome.shown.split()) == {"nil"}
    if is_of_parameters or _ANY_OF_SOME.fullmatch(value.text):
        return True
    if _VAGUE.match(value.text):
        told, shown = numbers(_VAGUE.sub("", value.text)), numbers(outcome.shown)
        return not (len(told) == len(shown) == 1 and _are_far(told[0], shown[0]))
    by_chance = not same(outcome.shown, other.shown) and "{" not in outcome.shown
    if by_chance and _NUMBERS.fullmatch(_SIGN_BEFORE.sub("", value.text)):
        return True  # it tells what chance, as in training, should come near to
    is_number = value.text.isdigit() and comment_of(example.source) is None
    is_call = example.kind is Kind.BARE and not is_print(example.source)
    return is_number and is_call and re.search(r"[^\W\d]", outcome.printed) is not None


def _are_far(told: float, shown: float) -> bool:
    return abs(told - shown) > _ROUGHLY * max(abs(told), abs(shown))


def _judge_unlike(
    example: Example, texts: Sequence[str], outcome: Outcome, is_value: bool
) -> Result:
    """Return the result of an example that shows something else than its comment.

    texts: the comment, and what it quotes. is_value: the comment is no mere remark.
    """
    verdict, behind = Verdict.DIFFERS, outcome.shown[len(outcome.printed) :].strip()
    if not is_value or _NO_CONTENTS.search(outcome.shown):
        text = outcome.printed if _is_all_printed(outcome) else outcome.shown
        verdict = _judge_words(example, texts, text)
        if verdict is Verdict.RAN and behind == "true" and comment_of(example.source):
            verdict = _judge_words(example, texts, outcome.printed)
    note = f"its comment says: {texts[0]}" if verdict is Verdict.DIFFERS else ""
    return Result(example, verdict, outcome.shown, note)


def _by_readings(
    text: str, told: Sequence[Example], first: Outcome, second: Outcome
) -> Iterator[Verdict]:
    """Yield the verdicts of what is shown, by each reading of a comment with this text."""
    shown = first.shown, second.shown
    for reading in told:
        yield _compare(reading, *shown)
        for alone in _alone(reading.source, first, second):  # the value may be told so
            yield _compare(reading, *alone)
    for simple in (text, *_simpler(text)):
        bare = replace(told[0], expected=QUOTES.sub(" ", simple))
        yield _compare(bare, *(QUOTES.sub(" ", printed) for printed in shown))
    if numbers := _elements_told(text, *shown):
        yield _compare(replace(told[0], expected=numbers[0]), *numbers[1:])


def _elements_told(text: str, *shown: str) -> tuple[str, ...]:
    """Return the elements of a tensor as a comment of numbers and brackets tells them.

    Behind them come those that the runs have printed; () for other texts, and where the sizes of
    the innermost brackets are not those of the tensor's rows.
    """
    tensors = [_ONE_TENSOR.fullmatch(printed) for printed in shown]
    text = _MADE_OF.sub("", _SIGN_BEFORE.sub("", text))
    rows = [row for row in _INNERMOST.findall(text) if row.strip()]
    numbers = [_BRACKETS.sub(" ", part) for part in (text, *rows)]
    if not all(map(_NUMBERS.fullmatch, numbers)) or not all(tensors):
        return ()
    counts = {len(row.split()) for row in numbers[1:]}
    width = int(tensors[0]["last"]) if tensors[0] else 0
    if len(rows) > 1 and counts != {width}:
        return ()
    return (numbers[0], *(tensor["rows"] for tensor in tensors if tensor))


def _simpler(text: str) -> Iterator[str]:
    """Yield a comment's values without the signs around and between them, and what it ends in."""
    plain = _SIGN_BEHIND.sub("", _SIGN_BEFORE.sub("", _VAGUE.sub("", text.strip()))).strip()
    if plain[:1] + plain[-1:] in ("()", "[]"):
        plain = plain[1:-1]
    yield _BETWEEN.sub(" ", plain)
    if plain.lower() in _TRUTHS:
        yield _TRUTHS[plain.lower()]
    if sum_of := _SUM.fullmatch(plain):
        yield sum_of["result"]
    if names_values(plain):
        yield _NAME_BEFORE.sub(" ", plain)


def _printable(example: Example, text: str) -> Iterator[str]:
    """Yield what a comment of this text may say that an example prints."""
    # `Output: 3` may be what is printed, where the comment does not go on below.
    whole = text if "\n" in text else _ARROW.sub("", remark_of(example.source))
    yield whole.replace(r"\n", "\n")
    yield QUOTES.sub(" ", text)
    if whole.endswith("."):
        yield f"{text}."
    if labelled := _LABELLED.fullmatch(text):
        yield labelled["text"]


def _judge_words(example: Example, texts: Sequence[str], shown: str) -> Verdict:
    """Return the verdict of a comment whose words are not what is shown; RAN for a mere remark.

    texts: the comment, and what it quotes.
    """
    comment, shown_text = texts[0], shown.strip()
    own = remark_of(example.source)  # without the lines below it
    if own and own != comment and "\n" in comment:
        first = _judge_words(example, [own], shown)
        if first is not Verdict.RAN:
            return first
    if names_values(comment) and comment_of(example.source) is None:
        return Verdict.RAN
    is_marked = comment_of(example.source) is not None
    is_begun = is_marked and len(shown_text) > _FEW_LETTERS and comment.startswith(shown_text)
    if not is_begun and not any(is_nearly(text, shown) for text in texts):
        return Verdict.RAN
    is_listed = "\n" in comment and "\n" not in shown_text and not own
    items = [item.strip() for item in comment.split(",")]
    if len(items) > 2 and is_marked and all(item.count(" ") < 2 for item in items):
        is_listed |= shown_text in items  # what is shown is one of several values
    is_told = not is_listed and tells_among_words(comment, shown_text, is_marked)
    return Verdict.PASS if is_told else Verdict.DIFFERS


def _told_in_part(value: Value, outcome: Outcome, told: Sequence[Example]) -> str:
    """Return how a comment tells only a part of what is shown; '' if it does not.

    told: the example with each reading of the comment as what it documents.
    """
    digits = _CUT_NUMBER.fullmatch(value.text)
    if digits and outcome.shown.startswith(digits["text"]):
        return "the comment tells the first digits"
    shown = outcome.shown[len(outcome.printed) :]  # the values of no print
    if _OPEN_LIST.fullmatch(value.text):
        listed, found = (tokens(QUOTES.sub(" ", text)) for text in (value.text, shown))
        left = iter(found)
        return "the comment tells some elements" if all(x in left for x in listed[1:-2]) else ""
    if (last := _CLASS.fullmatch(value.text.strip())) and _CLASS.search(outcome.shown):
        classes = _CLASS.findall(outcome.shown)
        return "the comment tells the class and the sizes" if classes[-1] == last.groups() else ""
    if _ends_in(outcome.shown, value):
        return "the comment tells the end"
    lines = outcome.printed.rstrip().split("\n")
    if len(lines) > 1 and any(
        _compare(text, lines[-1], lines[-1]) is Verdict.PASS for text in told
    ):
        return "the comment tells the last line"
    first, *others = shown.rstrip().split("\t")
    is_first = (
        bool(others)
        and "\n" not in shown.rstrip()
        and any(_compare(text, first, first) is Verdict.PASS for text in told)
    )
    return "the comment tells the first value" if is_first else ""


def _ends_in(shown: str, value: Value) -> bool:
    """Tell whether a few printed words end in the values of a comment, behind a label."""
    words, told = (tokens(QUOTES.sub(" ", text)) for text in (shown, value.text))
    told = [word for word in told if word != ","]
    is_short = len(told) < len(words) <= len(told) + _LABEL_WORDS
    return bool(told) and value.is_plain and is_short and words[-len(told) :] == told


def _told_by_chance(value: Value, *runs: Outcome) -> str:
    """Return that a comment tells the range of numbers that depend on chance; '' if it does not."""
    bounds = _RANGE.fullmatch(value.text)
    if not bounds or same(runs[0].shown, runs[1].shown):
        return ""
    low, high = map(float, bounds.group("low", "high"))
    printed = [number for run in runs for number in numbers(run.shown[-_FEW_DIGITS:])[-1:]]
    is_inside = len(printed) == len(runs) and all(low <= number <= high for number in printed)
    return "the comment tells the range" if is_inside else ""


def _literal(value: Value, shown: str) -> str:
    """Return the literal beside words in a comment, unless it tells of something else; or ''."""
    literal = literal_in(value.text)
    is_count = literal[:1].isdigit() and not _NUMBER_ALONE.fullmatch(shown)
    return "" if is_count or value.is_remark and not shown.strip() else literal


def _may_tell_print(example: Example, value: Value) -> bool:
    """Tell whether a comment may tell what an input prints, and not its value besides that."""
    remark = remark_of(example.source).lower()
    is_call = example.kind is Kind.BARE and not value.shown and "return" not in remark
    return is_call or says_print(example.source)


def _strings(value: Value) -> list[str]:
    """Return the string in the words of a comment beside an assignment: it may be printed."""
    is_in_words = value.shown and "return" not in value.text.lower()
    return quoted_in(value.text) if is_in_words else []


def _alone(source: str, first: Outcome, second: Outcome) -> Iterator[tuple[str, str]]:
    """Yield what two runs show without what they print before, and without a label."""
    if first.printed and first.shown.startswith(first.printed):
        yield first.shown[len(first.printed) :], second.shown[len(second.printed) :]
    label = _LABEL.match(source)
    text = label["text"] if label else ""
    if text and all(x.shown == x.printed and x.shown.startswith(text) for x in (first, second)):
        yield first.shown[len(text) :], second.shown[len(text) :]


def _judge_error(example: Example, first: Outcome, second: Outcome, got: str) -> Result:
    """Return the verdict of an example that has raised an error in one of the runs, or in both."""
    if first.error is None or second.error is None:
        why = first.error or second.error
        return Result(example, Verdict.ERROR, got, f"an error in one of two runs: {why}")
    if "RAISES" in example.flags and not example.expected:
        return Result(example, Verdict.LAYOUT, got, "an error that the page announces")
    texts = filtered(example.settings.filters, example.expected, got, second.error)
    expected, message, _ = with_exact_hex(*texts)
    if not LEFT_OUT.fullmatch(expected) and is_error_message(expected, message):
        return Result(example, Verdict.PASS, got)
    words = bare_message(first.error)
    # The message is a whole line, or stands behind a position.
    lines = [f": {line.strip()}" for line in expected.split("\n")]
    if example.apart and words and any(line.endswith(f": {words}") for line in lines):
        return Result(example, Verdict.LAYOUT, got, "the block below shows its error, with more")
    if not expected and example.value and not LEFT_OUT.fullmatch(example.value.text):
        documented = _ERROR_WORD.sub("", example.value.text)
        is_within = " " in words and says(documented, words)
        is_within |= " " in documented and says(words.lower(), documented.lower())
        if is_within or is_error_message(QUOTES.sub(" ", documented), QUOTES.sub(" ", first.error)):
            return Result(example, Verdict.PASS, got)
    remark = remark_of(example.source)
    if not expected and announces_error(remark) and not rules_out(remark, words):
        return Result(example, Verdict.LAYOUT, got, ANNOUNCED)
    return Result(example, Verdict.ERROR, got)


def _compare(example: Example, first: str, second: str) -> Verdict:
    """Compare the texts of two runs with the documented text; PASS, LAYOUT or DIFFERS."""
    shown = filtered(example.settings.filters, example.expected, first, second)
    expected, first, second = with_exact_hex(*shown)
    equal = comparison(example)
    if all(equal(expected, got) for got in {first, second}):
        return Verdict.PASS
    if example.language == LUA:
        verdict = _compare_printout(example, expected, first, second)
        if verdict:
            return verdict
    differ = not same(first, second)
    sort = sorting(first, second) if differ else None
    if sort and equal(sort(expected), sort(first)):
        return Verdict.LAYOUT
    by_chance = differ and (
        agrees_by_layout(expected, first, second, is_part=example.apart)
        or like_tables(expected, first, second)
    )
    return Verdict.LAYOUT if by_chance else Verdict.DIFFERS


def _compare_printout(example: Example, expected: str, first: str, second: str) -> Verdict | None:
    """Compare outputs of Lua by rules for tables, literals and unordered fields.

    Returns None where none of these rules decides, since chance may explain the difference.
    """
    equal, tolerance = comparison(example), example.settings.tolerance
    if agrees_in_any_order(expected, first, tolerance):
        return Verdict.LAYOUT
    if '"' not in expected and first == second and equal(expected, without_quotes(first)):
        return Verdict.PASS
    is_table = all(
        any(same_tables(text, got, equal) for text in readings(expected)) for got in (first, second)
    )
    if is_table or all(is_quoted(expected, got) for got in (first, second)):
        return Verdict.PASS
    # Runs may differ in the order of fields alone.
    return Verdict.DIFFERS if agrees_in_any_order(first, second) else None
