"""Hints on calls and operators: '.' in place of ':', arguments and operands of another type."""

import re
from collections.abc import Iterator, Sequence
from itertools import product

from th_shell.help.failure import PATH, Failure, on

_COMPARISONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_COMPARISON = (
    rf"(?:^|[=(,]|\b(?:if|and|or|not|return|while|until)\b)\s*({PATH})\s*(<=?|>=?)\s*([\w.]+)"
)
#: The errors about a value that is called as a function, as a loop calls what stands behind `in`.
_CALLED = r"attempt to call a (?:number|table) value|torch\.\w+Tensor has no call operator$"
_TENSOR = re.compile(r"(?:torch\.)?(\w+)Tensor$")


@on(r"bad argument #|calling '|invalid arguments:")
def colon(failure: Failure, _: re.Match[str]) -> str:
    """Return the hint for a method called with '.', and a function of a library called with ':'."""
    name = failure.function
    if not re.fullmatch(r"\w+", name):
        return ""
    if re.search(rf"\btorch\.\w+\([^()]*\)\s*\.\s*{name}\s*\(", failure.code):
        return f"a method is called with ':': :{name}(…)"
    calls = re.findall(rf"(?<![\w.:])({PATH})\s*([.:])\s*{name}\s*\(\s*({PATH})?", failure.code)
    if len(calls) != 1:
        return ""
    base, mark, first = calls[0]
    facts = failure.facts(base)
    if mark == "." and facts.get("kind") == "userdata" and first != base:
        return f"a method is called with ':': {base}:{name}(…)"
    if mark == ":" and facts.get("kind") == "table" and _is_library(base, name, failure):
        return f"a function is called with '.': {base}.{name}(…)"
    return ""


def _is_library(base: str, name: str, failure: Failure) -> bool:
    path = failure.facts(f"{base}.{name}").get("known_as", "")
    return path == f"{base}.{name}"


def operands(failure: Failure) -> str:
    """Return the hint for operators between values that do not have them."""
    text = failure.text
    if re.fullmatch("attempt to compare (?:userdata with number|number with userdata)", text):
        comparisons = re.findall(_COMPARISON, failure.code, re.ASCII)
        if len(comparisons) == 1 and comparisons[0][0] in failure.tensors():
            a, operator, b = comparisons[0]
            return f"tensors are compared element by element by {a}:{_COMPARISONS[operator]}({b})"
    if re.match(r"both .*torch\.\w+Tensor.* have no concat operator", text):
        return "a tensor becomes text by tostring(x)"
    if text == "attempt to perform arithmetic on a string value":
        strings = re.search(r"['\"]\s*\+|\+\s*['\"]", failure.code)
        return "texts are joined by '..': 'a' .. 1" if strings else ""
    if re.match(r"both torch\.\w+Tensor and \(null\) have no power operator$", text):
        return "powers of the elements: torch.pow(x, 2)"
    if failure.function in ("__add", "__sub") and text.endswith("(number expected, got userdata)"):
        return _two_classes(failure)
    if re.match(_CALLED, text):
        return _loop(failure)
    return ""


def _two_classes(failure: Failure) -> str:
    """Return the hint for a sum of tensors of two classes."""
    classes = [(name, str(facts["class"])[6:]) for name, facts in failure.tensors().items()]
    if len(classes) != 2 or classes[0][1] == classes[1][1]:
        return ""
    (a, first), (b, second) = classes
    text = f"{a} is {_article(first)} {first}, {b} {_article(second)} {second}"
    return f"{text}: one must be converted, as by :{first.removesuffix('Tensor').lower()}()"


def _article(word: str) -> str:
    return "an" if word[0] in "AEIOU" else "a"


def _loop(failure: Failure) -> str:
    loop = re.search(r"\bfor\s+(\w+(?:\s*,\s*\w+)*)\s+in\s+([^()]+?)\s+do\b", failure.code)
    if loop is None:
        return ""
    if "a number value" in failure.text:
        return f"a loop over numbers is written: for {loop[1]} = first, last do"
    if "Tensor" in failure.text:
        return f"a loop over a tensor is written: for i = 1, {loop[2]}:size(1) do"
    variables = loop[1] if "," in loop[1] else f"_, {loop[1]}"
    return f"a loop over a table is written: for {variables} in ipairs({loop[2]}) do"


def conversion(failure: Failure) -> str:
    """Return the hint for a tensor of another type than the one that is needed."""
    single = re.match(
        r"bad argument #\d+ to '.*' \(torch\.(\w+)Tensor expected, got torch\.(\w+)Tensor\)",
        failure.text,
    )
    if single:
        return _converted(*single.groups())
    calls = re.match(r"invalid arguments: (.*)\nexpected arguments: (.*)$", failure.text)
    if calls is None:
        return ""
    got = calls[1].split()
    wrong = {misfit for form in calls[2].split(" | ") for misfit in _misfits(got, form)}
    if len(wrong) != 1:
        return ""
    return _converted(*wrong.pop())


@on(r"invalid arguments: .*\nexpected arguments: .*\Z")
def destination(failure: Failure, _: re.Match[str]) -> str:
    """Return the hint for a method that writes into its object, which was meant as an operand."""
    got, forms = failure.text.removeprefix("invalid arguments: ").split("\nexpected arguments: ")
    name = failure.function
    calls = re.findall(rf"({PATH}):{re.escape(name)}\(([\w\s.,]*)\)", failure.code, re.ASCII)
    forms_behind = [form.partition(" ")[2] for form in forms.split(" | ") if form.startswith("*")]
    if len(calls) != 1 or not any(_is_form(got.split(), form.split()) for form in forms_behind):
        return ""
    base, arguments = calls[0]
    return f"{base}:{name} writes into {base}: torch.{name}({base}, {arguments}) gives a new tensor"


def _is_form(got: Sequence[str], form: Sequence[str]) -> bool:
    return len(got) == len(form) and all(map(_fits, got, form))


def _converted(needed: str, got: str) -> str:
    text = f"{_article(needed)} {needed}Tensor is needed in place of the {got}Tensor"
    return f"{text}: :{needed.lower()}() converts it"


def _misfits(got: Sequence[str], form: str) -> Iterator[tuple[str, str]]:
    """Yield needed and given type where a form fits but for one tensor's type."""
    words = re.findall(r"\[[^\]]*\]|\S+", form)
    if len(words) > 8 or "(" in form:
        return
    choices = [(word.strip("[]"), None) if word.startswith("[") else (word,) for word in words]
    for chosen in product(*choices):
        needed = [word.strip("*") for word in chosen if word is not None]
        if len(needed) == len(got):
            yield from _misfit(got, needed)


def _misfit(got: Sequence[str], needed: Sequence[str]) -> Iterator[tuple[str, str]]:
    wrong = [i for i, word in enumerate(needed) if not _fits(got[i], word)]
    if len(wrong) == 1:
        a, b = _TENSOR.match(got[wrong[0]]), _TENSOR.match(needed[wrong[0]].partition("~")[0])
        if a and b:
            yield b[1], a[1]


def _fits(got: str, needed: str) -> bool:
    needed = needed.partition("~")[0]
    numbers = ("index", "double", "float", "long", "int", "number")
    return got == needed or (got == "number" and needed in numbers)


# -- hints on variables of another type than what they are used for

_EXPECTED = (
    r"bad argument #\d+ to '.*' \((number|string|table) expected, "
    r"got (string|table|userdata|function|boolean)\)$"
)
_SIZES = ("resize", "reshape", "view", "expand", "repeatTensor", "zeros", "ones", "rand", "randn")


@on(_EXPECTED, raised=True)
def wrong_kind(failure: Failure, match: re.Match[str]) -> str:
    """Return the hint for an argument of the wrong type: the variable that has it."""
    needed, got = match.groups()
    facts_by_path = [(path, failure.facts(path)) for path in _arguments(failure)]
    named = [(path, facts) for path, facts in facts_by_path if facts.get("kind") == got]
    if len(named) != 1:
        return ""
    path, facts = named[0]
    if facts["category"] in ("tensor", "storage"):
        return _of_numbers(path, str(facts["category"]), needed)
    if got == "table" and failure.function in _SIZES:
        return f"{path} is a table: sizes are numbers, or torch.LongStorage({path})"
    return f"{path} is a {got}"


def _arguments(failure: Failure) -> list[str]:
    """Return the variables that stand as arguments of calls in the line."""
    pattern = rf"(?<=[(,])\s*({PATH})\s*(?=[,)])"
    return list(dict.fromkeys(re.findall(pattern, failure.code, re.ASCII)))


def _of_numbers(path: str, category: str, needed: str) -> str:
    text = f"{path} is a {category}"
    if needed == "table":
        return f"{text}: {path}:totable() is a table"
    return f"{text}: tostring({path}) is a text" if needed == "string" else text


@on(r"torch\.\w+(?:Tensor|Storage) has no call operator\Z")
def call_of_tensor(failure: Failure, _: re.Match[str]) -> str:
    """Return the hint for `x(2)`, which other languages have for an element."""
    calls = re.findall(rf"(?<![\w.:])({PATH})\s*\(\s*([\w.]+(?:\s*,\s*[\w.]+)*)\s*\)", failure.code)
    of_numbers = [
        (path, index)
        for path, index in calls
        if failure.facts(path).get("category") in ("tensor", "storage")
    ]
    if len(of_numbers) != 1:
        return ""
    path, index = of_numbers[0]
    return f"elements are written {path}[{f'{{{index}}}' if ',' in index else index}]"


@on(r"'for' limit must be a number\Z")
def loop_limit(failure: Failure, _: re.Match[str]) -> str:
    """Return the hint for a loop up to `#x` or `x:size()`, which are all sizes of a tensor."""
    matches = re.findall(rf"#\s*({PATH})|({PATH})\s*:\s*size\s*\(\s*\)", failure.code, re.ASCII)
    limits = {first or second for first, second in matches}
    if len(limits) != 1 or limits.isdisjoint(failure.tensors()):
        return ""
    path = limits.pop()
    return f"{path} has a size for each dimension: {path}:size(1) is a number"
