"""Comments that tell the value of an input.

A marked comment says that it does: `f(1) --> 3`, `x = f(1) -- => 3`, `f(1) -- returns 3`,
`` f(t) -- `t` becomes {3} ``. A remark, `f(1) -- 3`, may: where it is a literal, or agrees, or
nearly agrees with what is shown.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.lua_names import lasting_names, read_names, strings
from th_shell.patterns import pattern
from th_shell.runtime.shell import tokens
from th_shell.syntax import Syntax
from th_shell.tokens import Nesting

_SAID = (
    r"(?:(?:returns?|prints?|outputs?|evaluates to|results? in)\b(?!\()[:：]?"
    r"|(?:(?:this|it|which|will|would|should)\s+)+(?:return|print|output)s?(?:\s+out)?[:：]"
    r"|(?:ausgabe|ergebnis|salida|sa[ií]da|resultado|r[ée]sultat|sortie|risultato|вывод|результат)\s?:"
    r"|(?:执行|运行)?(?:输出|輸出|打印|返回|结果|結果|出力|출력|결과)"
    r"(?:[为是]?[:：]|[为是])|(?:输出|輸出|出力|출력)\s+(?=[\"'{]|[-+]?\.?\d|(?:nil|true|false)\b))"
)
#: In more words, what a comment says before a value.
_PROMISED = (
    r"(?:(?:this|it|which|that|and|now|also|will|would|should|must)\s+)*"
    r"(?:returns?|prints?(?:\s+out)?|outputs?|gives?|yields?|shows?|displays?|equals?|be|(?:\w+\s+)?is\s+now"
    r"|(?:the\s+)?(?:expected\s+)?(?:result|output|value)(?:\s+is)?|expected):?\s+(?=[\"'{]|[-+]?\.?\d|(?:nil|true|false|nan|inf)\b)"
)
_TOLD = pattern(
    rf"--(?:(?:-?>|\s*=+>)(?!>)\s*(?:{_PROMISED}|{_SAID})?"
    rf"|\s*(?:{_PROMISED}|{_SAID}|(?=`?\w+`? becomes )))"
    r"\s*(?P<text>(?:.*(?:[^\s.]|(?<![\w\"'})])\.))?)\.?\s*$",
    re.I,
)
#: A comment about what is printed, and not about the variables that are assigned.
_SAYS_PRINT = pattern(r"--(?:>|\s*=+>)?\s*(?:(?:it|this|which|will|would)\s+)*prints?\b", re.I)
_REMARK = pattern(r"--(?!\[=*\[|-|th-docs)\s*(?P<text>.*?)\s*$")
#: The first line of a long comment that has below it what is printed.
_LABEL = pattern(rf"\s*{_SAID}\s*", re.I)
_LONG = pattern(r"--\[(?P<level>=*)\[(?P<text>.*?)(?:--)?\](?P=level)\]\s*", re.S)
_PLACE = r"[A-Za-z_][\w.]*(?:\[[^\]=]*\][\w.]*)*"
ASSIGNMENT = pattern(rf"\s*(?P<places>{_PLACE}(?:\s*,\s*{_PLACE})*)\s*=(?!=)")
_STRING = pattern(r"([\"'])(?P<text>(?:(?!\1)[^\\])*)\1")
_CALLED = pattern(r"\w\s*\(\s*\Z")
_NEAR = 9  # characters before a string, where the name of what it is passed to ends
#: A call that changes a table, and gives none.
_CHANGES = pattern(rf"\s*table\.(?:insert|sort)\s*\(\s*(?P<place>{_PLACE})\s*[,)]")
#: The assignment of an element that is no table.
_FILLED = pattern(r"\s*(?P<place>[A-Za-z_]\w*)\[[^\]]*\]\s*=\s*(?:nil\b|true\b|false\b|[-\d.\"'])")
_BECOMES = pattern(r"`?(?P<place>\w+)`? becomes (?P<text>.*)", re.S)
_EQUATION = pattern(rf"\s*(?P<place>{_PLACE})\s*=\s*(?P<text>.*)", re.S)
#: Between the equations of a text: `x = 1, y = 2`.
_NEXT_PLACE = pattern(rf",\s(?={_PLACE}\s*=(?!=))")
#: What names have as their values, such as those of parameters: `a=3, b=nil`.
_NAMED_VALUES = pattern(
    rf"\w+\s*=\s*(?:{_STRING.pattern}|[-\w.]+)(?:(?:\s*,\s*|\s+)\w+\s*=(?!=)|\s*$)"
)
#: A literal with words of prose behind it: `false, since it is too old`.
_LEADING = pattern(
    r"(?!\d{1,2}\. )"
    r"(?P<text>nil|true|false|[-+]?\.?\d[\d.]*(?:e[-+]?\d+)?|([\"'])(?:(?!\2)[^\\])*\2)"
    r"(?:\s*[,;:.]\s|\s+-\s|\s*[(（]|\s*=\s*\d).*\S.*",
    re.S,
)
#: A line that opens a long comment; how one begins that may tell a value, and one that surely does.
_OPENED = pattern(r"\s*--\[=*\[-*\s*")
_BEGUN = pattern(r"(?:\w{2,9}|true|false|nil):|[-+]?\.?\d")
_MARKED = pattern(r"-?>|=+>")
#: A number with zeros before it, which Lua does not print so.
_SPELT = pattern(r"\s*[-+]?0\d")
#: Values of Latin letters, and a remark behind them in Chinese, Japanese or Korean.
_IN_OTHER_LETTERS = pattern(r"(?P<values>[!-~ ]*[!-~]) +(?P<remark>[\u2e80-\u9fff\uac00-\ud7af].*)")
#: A number without a literal in Lua, with words of prose behind it: `NaN. All operations give it`.
_NO_NUMBER = pattern(r"(?i)-?(?:nan|inf)[,;:.]\s.*\S.*", re.S)
#: Words of a text that tells of another case than that of the input: `nil, err on errors`.
_SOMETIMES = pattern(r"(?i)\b(?:on|if|when|unless|in case|or)\b")
_PRINTS = pattern(r"\s*(?:print|io\.write)\s*[(\"'{]")
#: The words before an example of a value, in several languages.
_INSTANCE = pattern(
    r"(?i)\s*(?:e\.\s?g\b|z\.\s?b\.|p\.\s?ex\b|p\.\s?ej\b|for (?:example|instance)\b|such as\b"
    r"|something like\b|par exemple|por (?:ejemplo|exemplo)|zum beispiel|ad esempio|ej\.|ex\.:?\s"
    r"|например|例如|比如|例えば|예를 들어)"
)
#: The parts of values beside signs: strings, numbers, the keys of tables.
_VALUE = pattern(
    rf"{_STRING.pattern}|\b[A-Za-z_]\w*(?=\s*=[^=])|\b(?:nil|true|false|nan|inf)\b"
    r"|(?<![\w.])(?:0x[0-9a-f]+(?:\.[0-9a-f]*)?(?:p[-+]\d+)?|\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?![\w.])"
)


_NUMBER = r"[-+]?\d+(?:\.\d+)?"
_LITERAL = rf"{_NUMBER}|'[^'\\]*'|\"[^\"\\]*\""
_BESIDE = pattern(
    rf"(?P<first>{_LITERAL})(?:\s|(?![A-Za-z]))[^\W\d]+(?: [^\W\d]+)?\.?"
    rf"|[^\W\d]+:?\s?(?P<last>{_LITERAL})\.?"
)
#: Words beside a number that counts something.
_COUNTED = pattern(
    r"(?i)\b(?:line|step|case|example|version|chapter|section|part|test|figure|level|page|epoch"
    r"|row|column|elements?|dim\w*|times|items|option|or|lua|torch)\b"
)


#: Words of a remark by which a value need not be the one shown.
_VAGUE = pattern(r"(?i)\b(?:or|similar|approx\w*|about|roughly|e\.g|random\w*|may|might|varies)\b")


class Value(NamedTuple):
    """The values of an input as a comment behind it tells them."""

    #: The comment's text.
    text: str
    #: Readings of the text as Lua expressions; none where it has names, as prose has.
    codes: tuple[str, ...] = ()
    #: The places that the input assigns the values to; '' for the input itself.
    shown: str = ""
    #: True if the comment has no mark, and the input shows no value.
    is_remark: bool = False

    @property
    def is_plain(self) -> bool:
        """True if the text has values and signs alone: it tells a value, even if it is no code."""
        has_words = re.search(r"\w", _VALUE.sub("", self.text))
        return not self.is_remark and not has_words and _VALUE.search(self.text) is not None


def comment_of(source: str) -> str | None:
    """Return the text of the marked comment at the end of an input, or alone; or None."""
    return _last_comment(source, _TOLD)


def remark_of(source: str) -> str:
    """Return the text of the comment at the end of an input, or alone, whatever it says; or ''."""
    return _last_comment(source, _REMARK) or ""


def texts_of(source: str) -> list[str]:
    """Return the lines of a comment that stands alone; of a long one, without what ends in ':'."""
    long = _LONG.fullmatch(source)
    if not long:
        return [remark_of(source)]
    lines = [line for line in long["text"].split("\n") if line.strip()]
    return lines[1:] if lines[1:] and lines[0].rstrip().endswith((":", "：")) else lines


def listed_in(source: str) -> str | None:
    """Return the lines of a long comment whose first one says that they are printed; or None."""
    long = _LONG.fullmatch(source)
    first, _, lines = long["text"].partition("\n") if long else ("", "", "")
    return lines.strip("\n") if lines.strip() and _LABEL.fullmatch(first) else None


def is_open_table(text: str) -> bool:
    """Return whether a text begins a table that it does not end."""
    nesting = Nesting()
    nesting.add(text)
    return text.startswith("{") and nesting.is_open


def says_print(source: str) -> bool:
    """Return whether the comment of an input tells what is printed, and not a value."""
    return _SAYS_PRINT.search(source) is not None


def tell_values(lines: Sequence[str]) -> bool:
    """Return whether comments in some lines of code tell values."""
    return any(map(_tells, ["", *lines], lines, [*lines[1:], ""]))


def _tells(above: str, line: str, below: str) -> bool:
    """Tell whether a comment in a line is a value, or that of a print above; or one opens there."""
    is_alone = line.lstrip().startswith("--")
    comment = below if is_alone and _OPENED.fullmatch(line) else remark_of(line)
    is_value = Value(comment).is_plain or _BEGUN.match(comment) or comment_of(line)
    is_of_print = "print" in (above if is_alone else line) and bool(is_value)
    return is_of_print or not is_alone and _MARKED.match(comment) is not None


def is_print(source: str) -> bool:
    """Return whether an input is a call that prints its arguments."""
    return _PRINTS.match(source) is not None


def is_words(value: Value, source: str) -> bool:
    """Return whether the value of an input is but a remark of words at its end."""
    is_remark = comment_of(source) is None and remark_of(source) == value.text
    return is_remark and not value.codes and not value.is_plain


def _last_comment(source: str, form: re.Pattern[str]) -> str | None:
    if not form.search(source):
        return None
    comments = (token for token in tokens(f"{source}\n") if token.kind == "comment")
    start = next((token.start for token in comments if not token.mark), len(source))
    match = form.match(source, start)
    text = match["text"] if match else None
    return text.removesuffix("`") if text and text.count("`") == 1 else text


def quoted_in(text: str) -> list[str]:
    """Return the one string in quotes that a text of other words has, without these; or none."""
    matches = _STRING.finditer(text)
    texts = [
        m["text"]
        for m in matches
        if not _CALLED.search(text[max(0, m.start() - _NEAR) : m.start()])
    ]
    return (
        texts
        if len(texts) == 1 and texts[0].strip() and re.search(r"[^\W\d]", _STRING.sub("", text))
        else []
    )


def literal_in(text: str) -> str:
    """Return the number or string with which a text of one or two other words begins or ends.

    `打印 7`, `7을 출력`, `imprime 'x'`; but `line 7` counts something. '' for other texts.
    """
    match = _BESIDE.fullmatch(text.strip())
    return "" if not match or _COUNTED.search(text) else match["first"] or match["last"]


def is_instance(text: str) -> bool:
    """Return whether a text gives an example of a value, and not the value: `e.g. 3`."""
    return _INSTANCE.match(text) is not None


def names_values(text: str) -> bool:
    """Return whether a text tells of values with names, such as those of parameters: `a=3, b=4`."""
    return _NAMED_VALUES.match(text) is not None


def values_before_remark(text: str, is_beside: bool) -> str:
    """Return the values of a text behind which a remark stands in brackets, `1 2 (two)`; or ''.

    is_beside: it stands beside an input, where the remark may be in other letters: `3 三`.
    """
    text = text.rstrip().replace("（", " (").replace("）", ")")
    if is_beside and (other := _IN_OTHER_LETTERS.fullmatch(text)):
        text = f"{other['values']} ({other['remark']})"
    values, _, remark = text.partition(" (")
    is_remark = remark.endswith(")") and any(map(str.isalpha, remark)) and not _VAGUE.search(remark)
    return values if is_remark and Value(values).is_plain else ""


def begins_with_value(text: str, compiler: Compiler) -> bool:
    """Return whether a text is a value, or a literal with words of prose behind it."""
    is_literal = Value(text).is_plain or _is_literal(text, compiler)
    return bool(is_literal or _LEADING.fullmatch(text) or _NO_NUMBER.fullmatch(text))


def remark_value(text: str, source: str, compiler: Compiler) -> Value | None:
    """Return the value that a remark may tell of an input; None for an empty remark."""
    if not text:
        return None
    if not is_print(source) and compiler.expression(source) is not Syntax.COMPLETE:
        return Value(text, is_remark=True)
    if names_values(text):
        return Value(text, is_remark=True)
    leading = _LEADING.fullmatch(text)
    codes = _literals(text, compiler)
    return Value(text, (leading["text"], *codes) if leading else codes)


def value_of(text: str, source: str, compiler: Compiler) -> Value | None:
    """Return the value that a text tells of an input; None if the input sets a local."""
    if source.lstrip().startswith("local "):
        return None
    if became := _BECOMES.fullmatch(text):
        codes = _literals(became["text"], compiler)
        return Value(became["text"], codes, became["place"])
    if equations := _equations(text, source, compiler):
        places, texts = map(", ".join, zip(*equations, strict=True))
        return Value(text, (texts,), places)
    codes = _literals(text, compiler)
    if changed := text.startswith("{") and codes and _CHANGES.match(source):
        return Value(text, codes, changed["place"])
    if (filled := _FILLED.match(source)) and text.startswith("{") and codes:
        return Value(text, codes, filled["place"])
    assignment = ASSIGNMENT.match(source.split(";")[-1] if ";" in source else source)
    leading = None if _SOMETIMES.search(text) else _LEADING.fullmatch(text)
    codes = codes or ((leading["text"],) if leading else ())
    is_of_places = assignment and not says_print(source)
    return Value(text, codes, assignment["places"] if assignment and is_of_places else "")


def _equations(text: str, source: str, compiler: Compiler) -> list[tuple[str, str]]:
    """Return the places and literals of a text such as `x = 1` or `"x = 1", "y = {2}"`; or none.

    In quotes, they are those of names in the input: others have a string as their value.
    """
    quoted = [match["text"] for match in _STRING.finditer(text)]
    is_list = quoted and not _STRING.sub("", text).strip(", ")
    parts = [part for each in quoted for part in _NEXT_PLACE.split(each)] if is_list else [text]
    matches = [_EQUATION.fullmatch(part) for part in parts]
    pairs = [(match["place"], match["text"]) for match in matches if match]
    named = {re.split(r"\W", place)[0] for place, _ in pairs}
    if is_list and not named <= read_names(source) | lasting_names(source):
        return []
    if any(re.search(rf"\b{name}\s*=", text) for name in named for text in strings(source)):
        return []  # they are printed so
    is_whole = len(pairs) == len(matches) and all(_is_literal(code, compiler) for _, code in pairs)
    return pairs if is_whole else []


def _literals(text: str, compiler: Compiler) -> tuple[str, ...]:
    """Return the text and the text between its quotes, as far as they are literals."""
    quoted = _STRING.fullmatch(text)
    readings = (text, quoted["text"]) if quoted else (text,)
    return tuple(reading for reading in readings if _is_literal(reading, compiler))


def _is_literal(text: str, compiler: Compiler) -> bool:
    is_expression = compiler.expression(text) is Syntax.COMPLETE
    return is_expression and "..." not in text and not _SPELT.match(text) and not read_names(text)
