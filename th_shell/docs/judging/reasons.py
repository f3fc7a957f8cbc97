"""Explains why examples fail by faults of the page, or by code that the page omits.

Documented texts may contradict themselves, so that no run can print them. Conversion and print lose
numbers, rows and lines. The rest of a tensor then does not fit the sizes in the line under it, or
that line is missing. In Python, where a tensor is printed as lists in brackets, its rows have
different lengths, or brackets are open.

A page may be no whole program: it leaves out code that its examples need. Signatures that happen to
compile are among them: `y = module.new(size, step)` cannot be told from code, is run, and fails
because the page gives `module`, `size` and `step` no value. The names that a failed example would
have assigned count as unknown below it, so that one failure is reported once.
"""

import re
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Set
from dataclasses import replace
from functools import partial
from posixpath import dirname, splitext

from th_shell import python_syntax
from th_shell.docs.judging.comparison import says
from th_shell.docs.judging.documented_values import has_uneven_rows
from th_shell.docs.judging.machines import Machine
from th_shell.docs.judging.printout import (
    contradictions,
    only_rows,
    printed_tensors,
)
from th_shell.docs.judging.verdicts import ANNOUNCED, LEFT_OUT, Result, Verdict
from th_shell.docs.reading import lua_names, names
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.examples import LUA, PYTHON, Example, Kind
from th_shell.docs.reading.prose import open_brackets
from th_shell.docs.running.evaluation import Runs
from th_shell.nearest import slip_of
from th_shell.patterns import pattern
from th_shell.syntax import Syntax

#: The note of an input that does not compile.
NOT_WHOLE = "the input is not whole: it does not compile"
#: The line with class and sizes, also where it stands behind numbers or lost its bracket.
_SHAPE = pattern(r"[\[(](torch\.\w+) of (size|dimension) ([\dx ]+?)[\])]")
_ESCAPED = pattern(r"\\[{}]")


def damage(example: Example, got: str, compiler: Compiler) -> str:
    """Return how the documented text of a failing example contradicts itself; '' if it does not.

    got: the text that the example has printed.
    """
    if example.language != LUA:
        return _in_python(example, got)
    if example.kind is Kind.PROMPT and compiler.typed(example.source) is not Syntax.COMPLETE:
        return NOT_WHOLE
    text = example.expected
    problems = contradictions(text, got)
    if problems:
        sizes = "x".join(map(str, problems[0].sizes))
        return f"the text contradicts its last line, {sizes}: {problems[0].problem}"
    shape = _SHAPE.search(text)
    if shape and not any(printed_tensors(text)):
        return f"the line with the sizes is no line of its own: {shape[0]}"
    if _ESCAPED.search(text):
        return "backslashes stand before brackets"
    if not shape and only_rows(text):
        if len({len(row.split()) for row in text.split("\n") if row.strip()}) > 1:
            return "the rows have different lengths"
        if _SHAPE.search(got):
            return "the line with the class and the sizes is missing"
    return ""


#: The beginning of a tensor or an array as Python prints it.
_ARRAY = pattern(r"\b(?:tensor|array)\(\[")


def _in_python(example: Example, got: str) -> str:
    """Do the work of `damage` for an example in Python."""
    is_error = "SyntaxError" in example.expected or "IndentationError" in example.expected
    if python_syntax.syntax(example.source) is not Syntax.COMPLETE and not is_error:
        return NOT_WHOLE
    text = example.expected
    if not _ARRAY.search(text) or open_brackets(got):
        return ""
    if open_brackets(text):
        return "a bracket of the tensor is missing"
    return "the rows have different lengths" if has_uneven_rows(text) else ""


def with_fragments(
    results: Iterable[Result],
    outcomes: Iterable[Runs],
    predefined: Mapping[str, frozenset[str]],
    package: str = "",
    told: Set[str] = frozenset(),
    others: Set[str] = frozenset(),
) -> list[Result]:
    """Return the results; those that fail because the page omits what they need become FRAGMENT.

    They lack a name that has no value when the example has run, one that an example above should
    have given its value and failed, or a file, module or the like whose name stands nowhere else. A
    name that differs only in capital letters from one with a value is an error of the page instead.

    outcomes: those of the results in two runs, of which the first tells names without values.
    predefined: for each language, the names that have values before a page begins. package: what
    the page is about, if its title is one word. told: the functions that its prose is about, and
    `nn.*` for a package that it uses and does not load, `*.A` for a class that it is about. others:
    names that have values, and are not meant.
    """
    judges: dict[tuple[str, str], _Fragments] = {}
    with_verdicts, results = [], list(results)
    uses = Counter(
        name
        for result in results
        for name in names.read_names(result.example.language, result.example.source)
    )
    slips = set[str]()  # what repairs have taken out
    for result in results:
        slips |= {*re.findall(r"\w+", result.original)} - {*re.findall(r"\w+", result.repaired)}
    usual = frozenset(name for name, times in uses.items() if times > _MOST_SLIPS) - slips
    for result, (outcome, _) in zip(results, outcomes, strict=True):
        language, group = result.example.language, result.example.group
        if (language, group) not in judges:
            known = predefined[language]
            judges[language, group] = _Fragments(language, known, usual, package, told, others)
        with_verdicts.append(judges[language, group].judge(result, outcome.undefined))
    return with_verdicts


def _inner(example: Example) -> set[str]:
    """Return the lines of an example below its first one."""
    return {line.strip() for line in example.source.split("\n")[1:]}


def _is_later(source: str, got: str) -> bool:
    """Tell whether code fails at what later Luas than LuaJIT have."""
    has_signs = _LATER_LUA.search(source) or _LOADING.search(got)
    is_field = _LATER_FIELD.search(source) and re.search(r"\bnil\b", got)
    return bool(has_signs and _NO_TOKEN.search(got) or is_field)


def _is_of_python(module: str) -> bool:
    """Tell whether a name is meant for a module of Python itself, maybe of Python 2."""
    given = sys.stdlib_module_names
    is_slip = f"{module}s" in given or bool(slip_of(module, given))
    return is_slip or module.lower() in given or module in _OF_PYTHON_2


class _Fragments:
    """Finds the fragments among the examples of one language and group, from the top down."""

    def __init__(
        self,
        language: str,
        predefined: frozenset[str],
        usual: frozenset[str],
        package: str,
        told: Set[str],
        others: Set[str],
    ) -> None:
        self._language = language
        self._others = others
        self._told = told
        self._package = package
        self._usual = usual  # the names that many examples use: they are no slips
        self._bound_in = partial(names.bound_names, language)
        self._read_in = partial(names.read_names, language)
        self._predefined = predefined
        self._bound = set(predefined)
        self._given = set[str]()  # the names to which the page has given values so far
        #: Names without the values that the page means, and the line of the example that failed.
        self._unset: dict[str, int] = {}
        self._lost: dict[str, int] = {}  # those among them that another example gives a value
        #: Names that such an example has read, and its line: it may have set their fields.
        self._modified: dict[str, int] = {}
        self._strings: set[str] = set()  # the strings in the code so far that has run
        self._texts: dict[str, str] = {}  # the strings that are nothing but a variable's value
        self._absent_module = 0  # the line of the first module, or call of one, that is missing
        self._ran: list[Example] = []
        self._headings: dict[str, str] = {}  # above the examples that gave names their values
        #: Names that files were opened for which the page does not make, and the files.
        self._opened: dict[str, str] = {}
        self._commands = ""  # the lines of the system's shell that were not run
        self._omits = False  # the page lacks names before it imports all those of a module
        self._environment = -1  # the last block that sets `_ENV`, as of Lua 5.2
        self._options = set[str]()  # the names of what command lines have been read into
        self._machine = Machine(language)

    def judge(self, result: Result, undefined: Set[str] | None) -> Result:
        """Return the result of the next example, with the verdict FRAGMENT if it is one.

        undefined: the names without a value after the run, see `Outcome`.
        """
        is_lua = self._language == LUA
        is_code = result.example.kind not in (Kind.SHELL, Kind.TEXT)
        source = result.example.source if is_code else ""
        if not is_code:
            self._note_text(result)
        bound = self._bound_in(source)
        self._note_places(result.example, source, bound)
        used = self._used(source, bound)
        if not is_lua and python_syntax.expression(source):
            bound |= {"_"}
        missing = self._missing(result, bound, used, undefined)
        stand_ins = lua_names.placeholders(source) | used & self._others if is_lua else set()
        stand_ins = stand_ins - self._given - bound
        if not is_lua and result.verdict is Verdict.ERROR and _LEFT_OPEN.search(source):
            stand_ins = {"..."}
        lost = self._unset | self._lost_at(result.example.heading)
        origins = [lost[name] for name in lost.keys() & used]
        if missing and python_syntax.ALL_NAMES in self._unset:
            origins.append(self._unset[python_syntax.ALL_NAMES])
        if again := _TRIED_BEFORE.search(result.got):  # or what it is a part of
            tried = {again[1], again[1].partition(".")[0]}
            origins += [self._unset[name] for name in tried & self._unset.keys()]
        note = ""
        if result.note == ANNOUNCED or result.verdict in (Verdict.DIFFERS, Verdict.ERROR):
            note = f"{FOLLOWS} {min(origins)}" if origins else ""
            note = note or self._lacks(result, missing, stand_ins) or self._absent(result, source)
            note = note or self._without_field(result, source) or self._made_above(result)
            note = note or self._of_other_sections(result.example, result.got, used)
        if note:
            line = min(origins, default=result.example.line)
            self._note_module(source, result.got, missing, line)
            self._add_fragment(source, bound, used, line)
            return replace(result, verdict=Verdict.FRAGMENT, note=note)
        is_given = is_lua and self._are_given(source, used - self._bound)
        if (stand_ins or is_given) and not result.checked:
            origins.append(result.example.line)
        self._add(result, source, bound, origins)
        return result

    def _note_text(self, result: Result) -> None:
        """Note what commands of the system's shell, and what is no code, would have made."""
        example = result.example
        assigned = _BEGINS_ASSIGNMENT.findall(example.expected)
        if example.kind is Kind.SHELL and result.verdict is Verdict.SKIPPED:
            self._commands += f"{example.source}\n"
        elif example.kind is Kind.SHELL and not result.failed:
            self._strings |= set(example.source.split())
        elif assigned and self._language == LUA:
            self._spoil(assigned, example.line)

    def _note_module(self, source: str, got: str, missing: Set[str], line: int) -> None:
        """Note that a fragment lacks a module, or calls what is missing, which adds to others."""
        called = _CALL_ALONE.match(source)
        is_lack = _NO_MODULE.search(got) or called and called[1] in missing
        if self._language == LUA and is_lack:
            self._absent_module = self._absent_module or line

    def _note_places(self, example: Example, source: str, bound: Set[str]) -> None:
        """Note what hidden code binds, where `_ENV` is set, and what the machine decides."""
        for hidden in example.hidden:
            self._bound |= self._bound_in(hidden.text)
        self._options |= bound if _PARSES.search(source) else set()
        if "_ENV" in bound:
            self._environment = example.block
        self._machine.note(source, bound)

    def _lost_at(self, heading: str) -> dict[str, int]:
        """Return the names that have lost the page's value, and have one of another section."""
        own = self._headings
        return {name: at for name, at in self._lost.items() if own.get(name, heading) != heading}

    def _used(self, source: str, bound: Set[str]) -> Set[str]:
        """Return the names that code, also what it compiles, reads and does not set."""
        used = self._read_in(source) - bound
        if self._language == LUA:
            used |= lua_names.reused_names(source)
            if used & _COMPILE:
                used |= set(re.findall(r"\w+", " ".join(lua_names.strings(source))))
        return used

    def _missing(
        self, result: Result, bound: Set[str], used: Set[str], undefined: Set[str] | None
    ) -> Set[str]:
        """Return the names that a failing example lacks."""
        found = list(_VALUELESS.finditer(result.got))
        given = self._bound - self._unset.keys()
        without_value = {m["name"] or m["module"] for m in found if m["module"] not in given}
        if result.note == ANNOUNCED:
            # It is another error where its name is of nothing that the page defines.
            return without_value - self._bound - bound
        if "was stopped after" in result.note:  # nobody could be asked
            undefined = set(_CONDITION.findall(result.example.source)) - self._bound
        unknown = used - self._bound if undefined is None else used & undefined
        return without_value | unknown if without_value <= given else without_value

    def _add_fragment(self, source: str, bound: Set[str], used: Set[str], line: int) -> None:
        """Record what a fragment should have set. line: that of the example it follows from."""
        self._modified = {**dict.fromkeys(used - self._predefined, line), **self._modified}
        # What it would have set is missing below, not what a call may do to what it is given.
        changed = names.changed_names(self._language, source) | set(_FILLS.findall(source))
        changed -= self._predefined
        self._spoil(bound | changed | lua_names.required_modules(source), line)

    def _add(self, result: Result, source: str, bound: Set[str], origins: list[int]) -> None:
        """Record what an example that is no fragment has set."""
        self._ran.append(result.example)
        lasting = names.lasting_names(self._language, source)
        self._headings.update(dict.fromkeys(lasting, result.example.heading))
        self._note_files(source, bound)
        if named := _NAMED_TEXT.fullmatch(source):
            self._texts[named["name"]] = named["text"]
        elif result.verdict is not Verdict.DEVICE:  # else it has made no files
            self._strings |= set(lua_names.strings(source))
        self._given |= lasting
        self._bound |= self._given
        for name in bound:
            self._modified.pop(name, None)
        if result.note == ALONE or result.verdict in (Verdict.ERROR, Verdict.DEVICE):
            self._spoil(bound | lua_names.required_modules(source), result.example.line)
            return
        if not result.failed:
            # Missing values spoil no module.
            self._predefined |= names.imported_names(self._language, source)
        for name in bound & self._unset.keys():
            self._lost[name] = self._unset.pop(name)
        if origins and not result.checked:
            self._spoil(bound, min(origins))
        for name, argument in self._passed_on(source):
            self._spoil({name}, self._unset[argument])

    def _spoil(self, names: Iterable[str], line: int) -> None:
        """Record that names lack their values because of the example at a line."""
        for name in names:
            self._unset.setdefault(name, line)

    def _passed_on(self, source: str) -> list[tuple[str, str]]:
        """Return pairs of an object and a name without its value that the object is given.

        For `model:add(layer)`, where `layer` lacks its value, that is `model` and `layer`.
        """
        calls = _METHOD.findall(source) + _INSERTS.findall(source)
        calls = [call for call in calls if call[0] not in self._predefined]
        pairs = [(name, used) for name, arguments in calls for used in self._read_in(arguments)]
        return [(name, used) for name, used in pairs if used in self._unset]

    def _note_files(self, source: str, bound: Iterable[str]) -> None:
        """Note the names that code, which has run, gives what it has read of an unknown file."""
        files = set(lua_names.strings(source)) - self._strings if _OPENS.search(source) else set()
        path = next(filter(_PATH.search, sorted(files)), "")
        self._opened |= dict.fromkeys(bound, path)

    def _lacks(self, result: Result, missing: Collection[str], stand_ins: Set[str]) -> str:
        """Return a note that lists the names for whose lack of values a result fails; or ''.

        stand_ins: see `lua_names.placeholders`.
        """
        if paths := [self._opened[name] for name in sorted(missing) if self._opened.get(name)]:
            return f"{_ABSENT}{paths[0]}"
        defined = set(_EXTENDED.findall(result.example.source))
        named = set(missing) - defined
        is_slip = bool(named) and all(map(self._is_slip, named))
        is_imported = python_syntax.ALL_NAMES in self._bound and not self._omits
        if is_slip or is_imported or not (missing or stand_ins):
            return ""
        self._omits = True
        return f"{LACKS}{', '.join(sorted({*missing, *stand_ins}))}"

    def _are_given(self, source: str, missing: Set[str]) -> bool:
        """Tell whether a call makes a value of names that have none: `f = grad(loss)`."""
        is_made = any(
            name in self._read_in(text) for text in _MADE.findall(source) for name in missing
        )
        return is_made and not any(map(self._is_slip, missing))

    def _is_slip(self, name: str) -> bool:
        """Tell whether a name differs only in capital letters from one that has a value.

        `map` does not mean a class `Map`; nor, in Python, does a class `A` mean a variable `a`.
        """
        return any(
            bound.lower() == name.lower()
            and (bound == name or name not in self._usual)
            and not (bound[0] != name[0] and (self._language == PYTHON or bound[0].isupper()))
            for bound in self._bound - self._unset.keys() - python_syntax.CLASSES
        )

    def _not_given(self, result: Result, source: str) -> str:
        """Return a note on what the reader, or a program around the code, would give; or ''."""
        ending = _ENDED.search(f"{result.note}\n{result.got}")
        if ending and "()" in source and _USAGE.match(result.got):
            return "it needs the words of a command line"
        if _NO_PATH.search(result.got):
            return "it needs the name of a file"
        if _EMPTY_CALL.fullmatch(source) and _NO_ARGUMENT.search(result.got):
            return "it shows a call without its arguments"
        if "got nil" in result.got and (names := self._missing_options(source)):
            return f"it needs the option: {names[0]}"
        made = _MADE_BY_MODULE.search(result.got)
        if made and made[1] not in self._strings:
            return f"it shows what is there already: {made[1]}"
        return self._in_c(result.got, source) or self._quoted(result)

    def _absent(self, result: Result, source: str) -> str:
        """Return a note on a missing file or module that only this input names; or ''."""
        if lack := self._not_given(result, source):
            return lack
        if _NEWER.search(source) and "SyntaxError: " in result.got:
            return "it needs a later Python"
        if _NO_NETWORK.search(result.got) and not _NO_NETWORK.search(result.example.expected):
            return "it needs the network"
        if "process ended" in result.note and (modules := lua_names.required_modules(source)):
            return f"its process ends while it loads: {', '.join(sorted(modules))}"
        if why := self._elsewhere(result, source):
            return why
        if result.verdict is not Verdict.ERROR or not _NOT_THERE.search(result.got):
            return ""
        if match := _NO_MODULE.search(result.got) or _NOT_INSTALLED.search(result.got):
            module = next(filter(None, match.groups()))
            is_told = _NOT_THERE.search(result.example.expected)
            is_wrong = self._language == PYTHON and _is_of_python(module)
            return "" if is_told or is_wrong else f"{_ABSENT}{module}"
        is_shown = result.example.announced and not LEFT_OUT.fullmatch(result.example.expected)
        used = (self._texts.get(name, "") for name in self._read_in(source))
        addresses = _ADDRESS.findall(" ".join([*self._strings, *self._texts.values()]))
        fetched = (address.rpartition("/")[2] for address in addresses)
        texts = [*lua_names.strings(source), *used, *fetched]
        named = (text for text in texts if text and text not in self._strings)
        if is_shown:  # the page says that the file is there: it may mean another one of its own
            named = (text for text in named if not self._has_like(text))
        pairs = (
            (text, part)
            for text in named
            for part in (text, text.lstrip("~./"), dirname(text))
            if part
        )
        absent = next((text for text, part in pairs if says(result.got, part)), "")
        absent = absent or "".join(_OF_MODULE.findall(result.got))
        return absent and f"{_ABSENT}{absent}"

    def _missing_options(self, source: str) -> list[str]:
        """Return the options of a command line that code reads, and the page never adds."""
        read = (field for owner, field in _FIELD.findall(source) if owner in self._options)
        return [field for field in read if f"-{field}" not in self._strings]

    def _in_c(self, got: str, source: str) -> str:
        """Return a note on a function in C that is nowhere, or that the page nowhere declares."""
        if "cdef" in source:
            return ""
        undeclared, unknown = _UNDECLARED.search(got), _UNKNOWN_SYMBOL.search(got)
        if undeclared and not any(says(text, undeclared[1]) for text in self._strings):
            return f"{LACKS}{undeclared[1]}"
        return f"it needs a library in C that has: {unknown[1]}" if unknown else ""

    def _elsewhere(self, result: Result, source: str) -> str:
        """Return a note on what only the reader's machine has, though no error tells; or ''."""
        got, read = result.got, self._read_in(source)
        if _NOT_PROVIDED.search(got):
            return "it needs what is not provided here"
        if self._language == PYTHON:
            return _OF_READER if self._machine.decides(result, source) else ""
        if result.example.kind is Kind.SHELL and _NOT_THERE.search(got):
            words = result.example.source.split()[1:]
            named = [word for word in words if word[0] != "-" and not self._has_like(word)]
        elif result.example.kind is Kind.SHELL and result.example.source == "ls":
            named = result.example.expected.split()
        elif self._machine.decides(result, source):
            return _OF_READER
        elif self._machine.measures_holes(source):
            return "Luas differ in the length of a table with holes"
        elif result.example.block == self._environment or "_ENV" in read or _is_later(source, got):
            return "it needs a later Lua"
        elif got.strip() in ("", "nil", "false"):
            named = _ASKED.findall(source)
            named = [] if self._strings.intersection(named) else named
        else:
            opens = _OPENS.search(source) and not read & _COMPILE
            named = _AT_ONCE.findall(source) if "to index a nil value" in got else []
            named = [name for name in named if opens or _PATH.search(name)]
        absent = [name for name in named if name not in self._strings]
        return f"{_ABSENT}{absent[0]}" if absent else ""

    def _has_like(self, path: str) -> bool:
        """Tell whether the page has a file of the kind that a path names, and not that one."""
        suffix, others = splitext(path)[1], {*self._strings, *self._commands.split()}
        return path not in others and any(o.endswith(suffix) for o in others if suffix)

    def _without_field(self, result: Result, source: str) -> str:
        """Return a note on the earlier example that may have failed to set a field; or ''."""
        match = _NO_FIELD.search(result.got)
        is_error = result.verdict is Verdict.ERROR or result.note == ANNOUNCED
        if is_error and self._absent_module and "getmetatable" in source:  # of a basic type
            return f"{FOLLOWS} {self._absent_module}"
        if not is_error or not match:
            return ""
        fields = _FIELD.findall(source)
        adds = ("torch", match[1]) in fields and self._package not in {"", "torch", *self._strings}
        if adds and self._language == LUA:
            return f"the page does not load: {self._package}"
        is_of_text = match[1] in _OF_LITERAL.findall(source)
        is_of_text |= any(owner in self._texts and field == match[1] for owner, field in fields)
        if is_of_text and match[1] and not slip_of(match[1], _OF_STRINGS):
            return f"the page does not load what has: string.{match[1]}"
        for owner, field in fields:
            if field == match[1] and self._told & {f"{owner}.*", f"*.{field}"}:
                return f"the page does not load what has: {owner}.{field}"
        added = [f"{owner}.{field}" for owner, field in fields if owner in self._predefined]
        for name in sorted(self._told & {*added}):
            if name.endswith(f".{match[1]}") and not name.startswith(("torch.", "nn.")):
                return f"the page does not load what has: {name}"
        owners = {owner for owner, field in fields if field == (match[1] or match[2])}
        lines = [self._modified[name] for name in owners if name in self._modified]
        if self._absent_module and not lines and _ADDED.search(result.got):
            lines = [self._absent_module]
        return f"{FOLLOWS} {min(lines)}" if lines else ""

    def _quoted(self, result: Result) -> str:
        """Return a note on the earlier example of which this block quotes a line; or ''."""
        example = result.example
        if result.verdict is not Verdict.ERROR or example.kind is not Kind.BARE:
            return ""
        line = example.source.strip()
        others = (e.line for e in self._ran if e.block != example.block and line in _inner(e))
        return next((f"it quotes a line of the example at line {at}" for at in others), "")

    def _of_other_sections(self, example: Example, got: str, used: Set[str]) -> str:
        """Return a note on letters that do not fit, with values of other sections; or ''.

        In `nn.BatchNormalization(m)`, m is the reader's, and no layer that has been m elsewhere.
        """
        if example.kind is not Kind.BARE or example.expected or not _REFUSED.search(got):
            return ""
        here = example.heading
        letters = [n for n in sorted(used) if len(n) == 1 and self._headings.get(n, here) != here]
        return f"{LACKS}{', '.join(letters)}" if letters else ""

    def _made_above(self, result: Result) -> str:
        """Return a note on the earlier block that has made what this one makes anew; or ''.

        Each block of a page may be a program of its own; what is typed at prompts is one session.
        """
        example, match = result.example, _MADE_TWICE.search(result.got)
        if result.verdict is not Verdict.ERROR or not match:
            return ""
        name, others = match[1] or match[2], (e for e in self._ran if e.block != example.block)
        others = (e for e in others if Kind.BARE in (e.kind, example.kind))
        lines = [other.line for other in others if name in re.findall(r"[\w-]+", other.source)]
        return f"the example at line {lines[0]} has made it: {name}" if lines else ""


#: In so many examples at most, a name in other letters is taken for a slip.
_MOST_SLIPS = 2
#: The beginning of the note of a result that follows from a failed example; its line follows.
FOLLOWS = "follows from line"
#: The note of a result that holds where its block runs alone: below, its names have no values.
ALONE = "it holds as a program of its own"
#: The beginning of the note of a result that needs names without values; they follow.
LACKS = "the page gives no value to: "
#: The beginning of the note of a result that needs a file or a module; its name follows.
_ABSENT = "the page does not make: "
_NAMED_TEXT = pattern(
    r"\s*(?:local\s+)?(?P<name>\w+)\s*=\s*(?:(?:pathlib\.)?Path\()?"
    r"([\"'])(?P<text>[^\"'\\]*)\2\)?\s*(?:;\s*)?"
)
#: A call that reads a file, and a text that may be the name of one.
_OPENS = pattern(r"\b(?:open|load|read|import)\w*\s*[({\"']")
_PATH = pattern(r"[/\\]|\.\w{1,7}\Z")
#: An error for want of a module: in Python, of one that is no part of another one. Or of a library
#: in C, which the module loads.
_NO_MODULE = pattern(
    r"^ModuleNotFoundError: No module named '(\w+)'$|\bmodule '([\w.-]+)' not found"
    r"|\b(lib[\w-]+\.so)\b[\d.]*: cannot open shared object file",
    re.M,
)
#: An error for want of what another package, or the system, would bring.
_NOT_INSTALLED = pattern(
    r"\bthe picture (\S+) comes with the original|\b(\w+) library could not be loaded"
    r"|\b(\w+) is needed for this and cannot be loaded"
    r"|^ImportError: (.*(?:\brequired\b|[Ii]nstall).*)"
    r"|^[\w.]+: (.{0,99}(?:\bbackend\b.{0,40} not (?:available|installed)|not compiled with"
    r"|not supported on this platform|\bpip install ).*)",
    re.M,
)
#: Where torch.CmdLine reads the words of a command line.
_PARSES = pattern(r":parse\s*\(")
#: A call of a list of functions, and the error for want of its arguments.
_EMPTY_CALL = pattern(r"\s*\w+(?:[.:]\w+)+\(\)\s*")
_NO_ARGUMENT = pattern(r"\bexpected, got no value\)|\bcalling '\w+' on bad self\b")
#: An error for want of the name of a file, which a command line would give.
_NO_PATH = pattern(r"\bcannot open <> in mode ")
#: An error for a class that a module has made: the page shows the module's source.
_MADE_BY_MODULE = pattern(
    r"^stdin:\d+: (?:class )?(\w+\.\w+) has been already assigned a (?:parent class|factory)"
)
#: Errors for names in C: one that is not declared, one that no library has.
_UNDECLARED = pattern(
    r"(?:missing declaration for symbol|declaration specifier expected near) '(\w+)'"
)
_UNKNOWN_SYMBOL = pattern(r"\bundefined symbol: (\w+)")
#: How a program ends that gets too few words, and what it prints then.
_ENDED = pattern(r"^(?:the process ended with status |SystemExit: [1-9])", re.M)
_USAGE = pattern(r"\s*usage:? ", re.I)
#: Parameters of types, and names of types.
_NEWER = pattern(r"^[ \t]*(?:type \w+ *=(?!=)|type \w+\[|(?:class|def) \w+\[)", re.M)
#: An error of Python where no other machine can be reached.
_NO_NETWORK = pattern(r"^[\w.]+: .*(?:urlopen|resol[uv]|not known|unreachable|refused)", re.M)
#: A call with the name of a file whose result is asked for something, and the error of a nil one.
_AT_ONCE = pattern(r"\b[\w.]+\s*\(\s*[\"']([^\"'\n]*)[\"'][^()\n]*\)\s*[:.\[]")
#: The note of a result that the reader's machine decides.
_OF_READER = "it depends on the machine, or on what the reader types"
#: Errors of modules that th stands for, and of what opens a prompt.
_NOT_PROVIDED = pattern(
    r"not provided here|\bthere is no debugger here|\bthe prompt is opened by `th`"
)
#: An address on the network, behind its scheme.
_ADDRESS = pattern(r"://[^\s\"'?#]+")
#: A method of a string in quotes.
_OF_LITERAL = pattern(r"(?<!\w)\([\"'][^\"'\n]{0,99}[\"']\):(\w+)")
#: The methods that Lua's strings have.
_OF_STRINGS = frozenset(
    "byte char dump find format gmatch gsub len lower match rep reverse sub upper".split()
)
#: What later Luas than LuaJIT have, and the errors of its parser there.
_LATER_LUA = pattern(r"//|<<|>>|(?<!&)&(?!&)|(?<!\|)\|(?!\|)|~(?!=)|<(?:const|close)>")
_LATER_FIELD = pattern(
    r"\b(?:math\.(?:type|tointeger|ult|m(?:ax|in)integer)|table\.(?:move|pack|unpack)"
    r"|string\.(?:pack|unpack|packsize)|coroutine\.(?:isyieldable|close))\b"
)
_LOADING = pattern(r"\berror loading module '")
_NO_TOKEN = pattern(r"near '(?:[/&|~<>]'|\d)")
#: A question about a file.
_ASKED = pattern(
    r"\b\w*(?:exists?|is_?file|is_?dir|filep|dirp|get(?:size|[acm]time))\s*(?:\(\s*)?[\"']([^\"'\n]*)[\"']"
)
#: An error that a module raises for want of a file of its own.
_OF_MODULE = pattern(r"\A(?!stdin:)[^\s:]+\.lua:\d+: [^\n/]*?(/[^\s<>'\"]+)")
#: The functions of Lua that compile strings.
_COMPILE = {"loadstring", "load"}
#: Modules that Python 3 has under other names.
_OF_PYTHON_2 = frozenset(
    "cPickle cStringIO StringIO Cookie HTMLParser httplib urllib2 urlparse xmlrpclib".split()
)
#: `function Module:run()`: who extends a class does not mean a variable of nearly the same name.
_EXTENDED = pattern(r"\bfunction\s+([A-Za-z_]\w*)[.:]")
#: An error in the page's own code, also in a string, on a variable without a value.
_VALUELESS = pattern(
    r"(?:(?:stdin|\"\]|\A(?!stdin:)[^\s:]+\.lua):\d+: attempt to [\w ]+ global"
    r"|\A(?:[ \t].*\n|Traceback.*\n)*NameError: name)"
    r" '(?P<name>\w+)' \(?(?:a nil value|is not defined)"
    r"|stdin:\d+: (?:while creating metatable [\w.]+: bad argument #1 \("
    r"|bad argument #2 \(invalid parent class name )(?P<module>\w+)(?: is an invalid|[.)])"
)
_TRIED_BEFORE = pattern(r"loop or previous error loading module '([\w.-]+)'")
#: An owner and a field of it.
_FIELD = pattern(r"\b(\w+)[.:](?=(\w+))")
#: An error for want of a type's own methods and operators.
_OF_TYPE = (
    r"attempt to (?:call|index|get length of|perform arithmetic on) (?:\w+ '\w+' \()?"
    r"(?:a (?:string|number|boolean|function) value|'number' and 'complex')"
)
#: An error for want of a field.
_NO_FIELD = pattern(
    r"attempt to \w+ (?:field|method) '(\w+)' \(a nil|has no attribute '(\w+)'|nate a table"
    rf"|{_OF_TYPE}"
)
#: An error in the page's own code for want of what a module may add to others.
_ADDED = pattern(
    rf"\Astdin:\d+: (?:attempt to (?:\w+ (?:field|method) '|concatenate a table)|{_OF_TYPE})"
)
#: A loop that goes on for ever where its condition has no value.
_CONDITION = pattern(r"\b(?:until|while)\s+(?:not\s+)?([A-Za-z_]\w*)(?=\s+do\b|\s*$)")
#: The line of a text that is an assignment of a string of Luau.
_BEGINS_ASSIGNMENT = pattern(r"^[ \t]*(?:local\s+)?([A-Za-z_]\w*)\s*=\s*`", re.M)
#: A table that gets an element, also in a function that is passed on.
_FILLS = pattern(r"\b([A-Za-z_]\w{0,99})\[[^\]\n]{0,99}\] {0,9}=(?!=)")
#: A call that is made for what it does to Lua itself.
_CALL_ALONE = pattern(r"\s*([A-Za-z_]\w*)(?:[.:]\w+)*[ \t]*\((?:\s*_G)?\s*\)")
#: An error for an argument, or for a variable of one letter that has no fields.
_REFUSED = pattern(r"argument|attempt to index \w+ '\w'")
#: An error for what has been made before.
_MADE_TWICE = pattern(r"[<']([\w-]+)[>'] (?:is )?already \w+|attempt to redefine '(\w+)'")
#: In Python, what stands for the reader's own values and code.
_LEFT_OPEN = pattern(r"[{(]\.{3}[)}]|\.{3}[\])}]+[\"']|^\.{3}[ \t]*(?:#.*)?$", re.M)
#: The arguments of a call whose value is assigned.
_MADE = pattern(r"^[\w, \t]+=[^\S\n]*[A-Za-z_][\w.]*[({]([^\n]*)", re.M)
#: A method call as a statement.
_METHOD = pattern(r"^[^\S\n]*([A-Za-z_]\w*):\w+\s*[({](.*)[)}]", re.M)
_INSERTS = pattern(r"\btable\.insert[ (]+([A-Za-z_]\w*)[ \t]*,(.*)")
_NOT_THERE = pattern(
    r"(?i)(?:not|n't) (?:find|load|(?:be )?(?:open|loaded))"
    r"|comes with the original|not found|no such|(?:cannot|to) open|does not exist|no module"
    r"|importerror: .{0,99}(?:\brequired\b|install)"
    r"|\bbackend\b.{0,40} not (?:available|installed)|not compiled with|on this platform"
    r"|pip install "
)
