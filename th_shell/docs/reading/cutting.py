"""Splits the code blocks of a page into examples: inputs, each with the text documented under it.

An input is a line with a prompt and its continuation lines, or a statement without a prompt.
LuaJIT decides where it ends (see `compiler`; `python` is for blocks of Python); a line without a
prompt that does not compile is output. Text with no input above it becomes an example that is not
run, so that the report has all of the page.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from th_shell.docs.reading import comment_values
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.examples import (
    OUTPUTS,
    PRINTED,
    PYTHON,
    Block,
    Example,
    Kind,
    Line,
    example_of,
    with_output,
)
from th_shell.docs.reading.languages import RUNS_SCRIPT, SHELL, TENSOR_END
from th_shell.docs.reading.lua_cells import cut_cells, has_cells, with_cell_language
from th_shell.docs.reading.lua_names import assigned_names, read_names, strings
from th_shell.docs.reading.python import as_text, cut_python
from th_shell.patterns import pattern
from th_shell.syntax import Syntax
from th_shell.tokens import Nesting, without_texts

#: The prompts 'th> ', 'lua> ' and '> ', and those of continuation lines: '>> ', '..> '.
_PROMPT_LINE = pattern(rf"^\s*{SHELL}?>(?!>)\s?(?P<input>.*)$")
#: The mark of a prompt, or of an output.
_MARKED = pattern(r"^\s*>(?!>)\s?(?P<text>(?!\s*[$?%]).*)$")
#: The prompt of Python, which some pages write before Lua.
_PYTHONS = pattern(r"^(\s*)>>>(?=\s)")
_CONTINUED = r"^\s*(?:>>(?!>)|\.(?: |\.\.?)>{})\s?(?P<input>.*)$"
_MORE_PROMPT = pattern(_CONTINUED.format(""))
_MORE = pattern(_CONTINUED.format(rf"|{SHELL}?>"))
_SHELL = pattern(rf"^\s*(?:{SHELL}?>\s*)?\$\s+(?P<input>\S.*)$")

#: The line of a debugger's listing, which has its number in front, behind the mark of where it is.
_LISTED = pattern(r"\d+\s+[A-Za-z_]")

_NAME = r"[A-Za-z_]\w*"
_LOCAL = pattern(r"^\s*local\s+")
_NEXT_LOCAL = pattern(r";[ \t]*local[ \t]+(?!function\b)")
_NESTED = pattern(r"\b(?:do|function|then|repeat)\b")
#: The line of an argument in a help text, 'x = number  -- the width', a heading: 'Example:', and
#: a row in brackets.
_NO_INPUT = pattern(
    rf"^\s*(?:\[+\s*[-\d].*|{_NAME}(?::|\s*=\s*(?:(?:number|boolean|userdata)|(?:string|table)(?=\s*--))))"
    r"\s*(?:--.*)?$"
)
#: Code that does not compile is no output.
_CODE_LIKE = pattern(
    rf"^\s*(?:local\s|function\b|{_NAME}(?:\.{_NAME})*\s*=(?!=))|\S.*\s-(?:-+>|-*\s*=+>)"
)
#: The heading of a page in Markdown.
_TITLE = pattern(r"^#{1,6} +[^\W\d_]")
#: The beginning of a statement of several lines, which no program prints.
_STATEMENT = pattern(
    rf"^\s*(?:if\s.*\bthen|while\s.*\bdo|for\s+{_NAME}\s*=\s*\S.*,.*|for\s+{_NAME}(?:\s*,\s*{_NAME})*"
    rf"\s+in\s.*\(.*\).*|(?:local\s+)?function\s+{_NAME}(?:[.:]{_NAME})*\s*\(.*)\s*(?:--.*)?$"
)
#: An assignment of what a call makes that goes on below, which no script prints.
_MADE = pattern(rf"^\s*(?:local\s+)?{_NAME}\s*=\s*{_NAME}(?:[.:]{_NAME})*\s*\([^()]*[({{]\s*$")
#: A call that no program prints, and no signature, such as `print([x,] y)`.
_CALL = pattern(r"\s*print\s*\(\s*(?![\[<])")
_PRINTS = pattern(r"print|write|dump")
#: A line of text with which more begins than the line: a table, a function.
_OPENING = pattern(r"[{(\[]\s*$|^\s*(?:local\s+)?function\b")
#: A line with a tag that goes on below: its attributes are like assignments.
_TAG = pattern(r"^\s*<[A-Za-z][\w.:-]*(?:\s[^<>]*)?$")

#: The key that completes names.
_TAB = pattern(r"(?i)(?<!\w)tab(?!\w)")

#: The time that the prompt of a terminal shows at its right edge.
_TIMING = pattern(r"^ +\[\d+\.\d+s\]$")
_TIMED = pattern(r"(?<=\s\s)\[\d+\.\d+s\]\s*$")
#: A line with which an input goes on, though it is complete without it; and one of output.
_CONTINUES = pattern(r"\s*(?::[A-Za-z_]|\.\.?[A-Za-z_\s\"'(]|[\[(+*/%^]|-(?!-)|[=~]=|(?:and|or)\b)")
#: A call of `require` whose argument stands below.
_REQUIRED, _STRING_LINE = pattern(r"=\s*require\s*$"), pattern(r"\s*([\"'])[\w.]+\1\s*$")
#: Between the lines of such an input, remarks may stand before a method.
_REMARK = pattern(r"\s*--(?!\[=*\[|-*>)")
_METHOD_BELOW = pattern(r"\s*:[A-Za-z_]")
_PRINTED = pattern(rf"\s*(?:{PRINTED})\s*$")
#: A line of output that shows the value of the input above, behind an arrow.
_ARROW = pattern(r"^\s*=+>\s*(?P<value>\S.*)$")
#: A line that only announces the output below, and one that has a word for it.
_ARROW_ALONE = pattern(r"^\s*(?:=+|--+)>\s*$")
#: What is left of the sign `>=` behind a prompt, where a list explains signs.
_SIGN = pattern(r"\s*=\s*(?:--.*)?")
_HEADING = pattern(r"^\s*[^\W\d]{2,15}(?: [^\W\d]{2,15})?\s*=+>\s*$")
#: A line that may be printed, though it compiles: `T = 3`.
_PRINTED_EQUATION = pattern(rf"^\s*(?P<name>{_NAME})\s*=\s*(?![\s=])[^{{(]*$")
#: The names in a text that is printed before values: `'T = %d'`.
_EQUATED = pattern(rf"\b({_NAME})\b\s*=")
#: The name whose value stands below, and the rows of a tensor.
_SHOWN = pattern(rf"^\s*(?P<name>{_NAME})\s*=\s*$")
_ROW = pattern(r"^[-+\d.einaf \t]+$")
#: A string, and a comment without a mark.
_STRING_ALONE = pattern(r"([\"'])(?:(?!\1)[^\\])*\1\s*--(?!>|\s*=)")
#: A call by a string, whose result may be called by the table below: `class 'A'`.
_CALLS_BY_STRING = pattern(
    rf"\s*(?:(?:local\s+)?{_NAME}\s*=\s*)?(?!print\b){_NAME}(?:[.:]{_NAME})*"
    r"\s*([\"'])(?:(?!\1)[^\\])*\1\s*(?:--.*)?$"
)
#: A call that prints nothing, and gives a value that scripts do not show.
_REQUIRES = pattern(r"(?:[\w ,]+=\s*)?require\b")

#: Once an input of a block has not ended in all of the block, others have so many lines.
_REACH = 100


def cut(blocks: Sequence[Block], compiler: Compiler, locals_stay: bool = False) -> list[Example]:
    """Return the examples of a page's blocks, in order.

    locals_stay: whether what runs them keeps the locals of one for the next.
    """
    examples: list[Example] = []
    known = set[str]()  # the names to which blocks without cells have given values so far
    for number, unnumbered in enumerate(with_cell_language(blocks, compiler)):
        block = replace(unnumbered, number=number)
        if block.role:
            examples += as_text(block, block.lines) if block.role in OUTPUTS else []
        elif block.language == PYTHON:
            examples += cut_python(block)
        elif has_cells(block):
            examples += cut_cells(block, compiler)
        else:
            readable = _with_prompts(block, compiler)
            cutter = _Cutter(readable, compiler, locals_stay, frozenset(known))
            examples += cutter.cut()
            known |= cutter.assigned
    return examples


def _with_prompts(block: Block, compiler: Compiler) -> Block:
    """Return a block of Lua in which `>` is the prompt, and neither `>>>` nor a mark of outputs."""
    block = _without_command(block)
    if any(_PROMPT_LINE.match(line.text) for line in block.lines):
        return _with_outputs(block, compiler)
    lines = [Line(line.number, _PYTHONS.sub(r"\1>", line.text)) for line in block.lines]
    return replace(block, lines=tuple(lines))


def _without_command(block: Block) -> Block:
    """Return a block without the command in its first line that runs the script of an output."""
    lines = [line for line in block.lines if line.text.strip()]
    first, rest = lines[:1], lines[1:]
    is_command = block.number and rest and RUNS_SCRIPT.match(first[0].text)
    if not is_command or any(_PROMPT_LINE.match(x.text) or _SHELL.match(x.text) for x in rest):
        return block
    return replace(block, lines=block.lines[block.lines.index(first[0]) + 1 :])


def _with_outputs(block: Block, compiler: Compiler) -> Block:
    """Return a block without `>` and blank lines, where `>` stands before outputs, not inputs.

    There each of them is a value, or does not compile, and the first one is below code, or all of
    the block is a tensor.
    """
    lines = [line for line in block.lines if line.text.strip()]
    marks = [_MARKED.match(line.text) for line in lines]
    texts = [mark["text"] for mark in marks if mark and mark["text"].strip()]
    first = next((at for at, mark in enumerate(marks) if mark), 0)
    is_below = first > 0 and compiler.typed(lines[first - 1].text) is Syntax.COMPLETE
    is_below |= block.number > 0 and all(marks) and any(map(TENSOR_END.match, texts))
    if (
        not is_below
        or not any(map(_PRINTED.match, texts))
        or not all(_PRINTED.match(text) or compiler.typed(text) is Syntax.WRONG for text in texts)
    ):
        return block
    unmarked = []
    for line, mark, below in zip(lines, marks, [*marks[1:], None], strict=True):
        text = mark["text"] if mark else line.text
        is_shown = below and not mark and compiler.statement(text) is not Syntax.COMPLETE
        if is_shown and compiler.expression(text) is Syntax.COMPLETE:
            text = f"> {text}"
        unmarked.append(Line(line.number, text))
    return replace(block, lines=tuple(unmarked))


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())


@dataclass
class _Cutter:
    """Splits one block into examples."""

    _block: Block
    _compiler: Compiler
    #: Whether what runs them keeps the locals of one for the next.
    _locals_stay: bool
    #: The names to which the blocks above have given values.
    _known: frozenset[str]

    def __post_init__(self) -> None:
        self._lines = self._block.lines
        self.assigned: set[str] = set()
        # Where a block is one line, it may be an expression of what the page has assigned.
        if sum(bool(line.text.strip()) for line in self._lines) != 1:
            self._known = frozenset()
        self._inputs: list[Example] = []
        self._outputs: list[list[Line]] = []
        self._values: list[list[str]] = []
        self._remarks: list[list[str]] = []  # of comments without a mark
        self._open = False
        self._end = 0  # where the last input, or a comment right below it, has ended
        self._is_next = False
        self._is_announced = False  # a comment has announced what those below it tell
        self._prose_end = 0  # where the last comment further below has ended
        self._is_prose = False
        self._reach = len(self._lines)
        self._edges = {len(line.text) + 1 for line in self._lines if _TIMING.match(line.text)}

    def cut(self) -> list[Example]:
        at = 0
        while at < len(self._lines):
            used = self._shell(at) or self._prompt(at) or self._shown(at)
            at += used or self._bare(at) or self._text(at)
        inputs = map(self._with_value, self._inputs, self._values, self._remarks)
        return list(map(with_output, inputs, self._outputs))

    # -- reading what begins at a line; each returns how many lines it has, or 0

    def _shell(self, at: int) -> int:
        match = _SHELL.match(self._lines[at].text)
        if match:
            self._input(at, 1, Kind.SHELL, match["input"].strip())
        return 1 if match else 0

    def _prompt(self, at: int) -> int:
        match = _PROMPT_LINE.match(self._lines[at].text)
        if not match or self._is_of_debugger(match["input"]) or _SIGN.fullmatch(match["input"]):
            return 0
        source, used = _TIMED.sub("", match["input"]), 1
        while self._is_wrapped(at + used):
            source, used = source + self._lines[at + used].text, used + 1
        if self._compiler.typed(source) is Syntax.INCOMPLETE:
            completed = self._completed(source, at)
            if not completed and self._shows_completion(source):
                shown = self._lines[at + 1 :]
                used += len(list(takewhile(lambda line: not _PROMPT_LINE.match(line.text), shown)))
                self._add(Kind.TEXT, "", self._lines[at : at + used])
                self._outputs[-1] += self._lines[at : at + used]
                return used
            source, used = completed or (source, 1)
        source, used = self._continued(source, at, used)
        self._input(at, used, Kind.PROMPT, source)
        return used

    def _is_of_debugger(self, text: str) -> bool:
        return bool(_LISTED.match(text)) and self._compiler.typed(text) is Syntax.WRONG

    def _shows_completion(self, source: str) -> bool:
        """Return whether an input that breaks off shows what the key TAB does there."""
        code = source.partition("--")[0].rstrip()
        return code[-1:] in ("(", ".", ":") and any(_TAB.search(line.text) for line in self._lines)

    def _is_wrapped(self, at: int) -> bool:
        """Return whether a terminal has broken the line above at its edge, where it shows times."""
        return at < len(self._lines) and len(self._lines[at - 1].text) in self._edges

    def _shown(self, at: int) -> int:
        """Read `t =` above the rows of a tensor: the page shows the value of t."""
        match = _SHOWN.match(self._lines[at].text)
        lines = self._lines[at + 1 :] if match else ()
        rows = list(takewhile(lambda line: _ROW.match(line.text), lines))
        below = lines[len(rows) : len(rows) + 1]
        if match and rows and below and TENSOR_END.match(below[0].text):
            self._input(at, 1, Kind.PROMPT, match["name"])
            return 1
        return 0

    def _bare(self, at: int) -> int:
        source = self._lines[at].text
        if not source.strip() or _NO_INPUT.match(source) or self._is_printed(source):
            return 0
        if self._is_query(source):
            self._input(at, 1, Kind.PROMPT, source)
            return 1
        used = 1
        state = self._compiler.statement(source)
        if state is Syntax.INCOMPLETE and self._compiler.expression(source) is not Syntax.COMPLETE:
            source, used = self._completed(source, at) or ("", 0)
        elif state is not Syntax.COMPLETE:
            used = 0
        elif _CALLS_BY_STRING.match(source) and self._begins_table(at + 1):
            source, used = self._completed(source, at) or (source, 1)
        if used:
            source, used = self._continued(source, at, used)
            self._input(at, used, Kind.BARE, source)
        return used

    def _begins_table(self, at: int) -> bool:
        return at < len(self._lines) and self._lines[at].text.lstrip().startswith("{")

    def _continued(self, source: str, at: int, used: int) -> tuple[str, int]:
        """Return an input with the method calls that continue it, and the number of lines."""
        margin = _margin(self._lines[at].text)
        while at + used < len(self._lines):
            below = self._lines[at + used].text
            if more_input := _MORE_PROMPT.match(below):
                text = f"{source}\n{more_input['input']}"
                if self._compiler.typed(text) is Syntax.WRONG:
                    break
                source, used = text, used + 1
                continue
            remarks = self._remarks_before_method(at + used)
            below = self._lines[at + used + remarks].text
            is_more = bool(_CONTINUES.match(below) and not _PRINTED.match(below))
            is_more |= bool(_REQUIRED.search(source) and _STRING_LINE.match(below))
            if not is_more or _margin(below) <= margin and below[margin : margin + 1] != ":":
                break
            lines = self._lines[at + used : at + used + remarks + 1]
            text, more = "\n".join([source, *(line.text for line in lines)]), 1
            if self._compiler.typed(text) is Syntax.INCOMPLETE:
                text, more = self._completed(text, at + used + remarks) or (text, 1)
            if self._compiler.typed(text) is not Syntax.COMPLETE:
                break
            source, used = text, used + remarks + more
        return source, used

    def _remarks_before_method(self, at: int) -> int:
        """Return how many comments stand before a method call that continues the input above."""
        texts = [line.text for line in self._lines[at:]]
        remarks = len(list(takewhile(_REMARK.match, texts)))
        is_method = remarks < len(texts) and _METHOD_BELOW.match(texts[remarks])
        return remarks if is_method else 0

    def _is_printed(self, text: str) -> bool:
        """Return whether a line that may be code is what the input above prints."""
        last = self._inputs[-1] if self._open and self._inputs else None
        if last is None:
            return False
        if self._locals_stay and last.kind is Kind.PROMPT and last.source[:1] in ("?", "%"):
            return True  # such as a function's source
        equation = _PRINTED_EQUATION.match(text)
        if equation and (last.kind is Kind.PROMPT or _PRINTS.search(last.source)):
            printed = [name for text in strings(last.source) for name in _EQUATED.findall(text)]
            return equation["name"] in printed
        row, comment, _ = text.partition("--")
        is_row = bool(comment and _PRINTED.match(row))
        return is_row and comment_values.comment_of(text.strip()) is None

    def _is_query(self, source: str) -> bool:
        # '= x', or 'x' alone if the block has assigned x: an input whose prompt the page omits.
        # Likewise an expression whose value a comment tells.
        text = source.strip()
        if text.startswith("="):
            return self._compiler.expression(text[1:]) is Syntax.COMPLETE
        if text in self.assigned:
            return True
        # A string with words beside it is its own value: it is no input.
        is_input = not text.startswith("--") and not _STRING_ALONE.match(text)
        names = read_names(text) if not text.isidentifier() else set()
        known = self.assigned if comment_values.remark_of(text) else self._known
        has_value = is_input and (self._tells(text) or bool(names) and names <= known)
        is_expression = has_value and self._compiler.expression(text) is Syntax.COMPLETE
        return is_expression and self._compiler.statement(text) is not Syntax.COMPLETE

    def _completed(self, source: str, at: int) -> tuple[str, int] | None:
        # The input completed by as few lines as possible, and how many; None if that is impossible.
        nesting, parts = Nesting(), [source]
        nesting.add(source)
        for number in range(at + 1, min(at + self._reach, len(self._lines))):
            text, used = self._lines[number].text, number - at + 1
            more = _MORE.match(text)
            parts.append(more["input"] if more else text)
            nesting.add(parts[-1])
            # What is wrong is found by and by: compiling all of a text with each line takes long.
            if nesting.is_open and used & (used - 1):
                continue
            source = "\n".join(parts)
            state = self._compiler.typed(source)
            if state is Syntax.COMPLETE:
                return source, used
            if state is Syntax.WRONG:
                return None
        self._reach = min(self._reach, _REACH)
        return None

    def _text(self, at: int) -> int:
        line = self._lines[at]
        last = self._inputs[-1] if self._inputs else None
        if self._open and _ARROW_ALONE.match(line.text):
            return 1
        if self._open and last and last.kind is Kind.BARE and _HEADING.match(line.text):
            told = list(takewhile(lambda line: line.text.strip(), self._lines[at + 1 :]))
            self._outputs[-1] += told
            return 1 + len(told)
        arrow = _ARROW.match(line.text)
        if arrow and self._open and self._is_alone_below(at):
            self._values[-1].append(arrow["value"])
            self._open = False
            return 1
        if arrow and self._open and last and "=>" not in last.source:
            self._output(Line(line.number, arrow["value"]))
            return 1
        may_be_output = last and (last.kind is Kind.PROMPT or _PRINTS.search(last.source))
        if not may_be_output and last and _REQUIRES.match(last.source):
            self._open = False
        is_made = last and last.kind is not Kind.PROMPT and _MADE.match(line.text)
        if last and last.kind is not Kind.PROMPT and _CALL.match(line.text):
            self._input(at, 1, Kind.BARE, line.text)  # which tells that it does not compile
            return 1
        if last and last.kind is Kind.BARE and _TITLE.match(line.text):
            self._open = False  # the fence above it is not closed
        is_begun = last and last.kind is not Kind.PROMPT and _STATEMENT.match(line.text)
        if is_made or is_begun or not may_be_output and _CODE_LIKE.match(line.text):
            self._open = False
        used = 1
        if is_begun or _OPENING.search(line.text):
            used = self._enclosed(at)
        elif _TAG.match(line.text):
            used = self._tagged(at)
        is_typed = last is not None and last.kind is Kind.PROMPT
        for part in self._lines[at : at + used]:
            shown = _TIMED.sub("", part.text) if is_typed else part.text
            self._output(Line(part.number, shown))
        return used

    def _is_alone_below(self, at: int) -> bool:
        """Return whether a line is all of the text between an input and the next one."""
        below = self._lines[at + 1].text if at + 1 < len(self._lines) else ""
        is_last = not below.strip() or bool(_PROMPT_LINE.match(below))
        is_last = is_last or self._compiler.statement(below) is Syntax.COMPLETE
        return is_last and not any(line.text.strip() for line in self._outputs[-1])

    def _tagged(self, at: int) -> int:
        # How many lines of text there are up to the end of a tag; 1 if it has no end.
        for number in range(at + 1, min(at + _REACH, len(self._lines))):
            text = self._lines[number].text
            if not text.strip() or _PROMPT_LINE.match(text) or "<" in text:
                return 1
            if ">" in text:
                return number - at + 1
        return 1

    def _enclosed(self, at: int) -> int:
        # How many lines of text there are up to the end of what a line opens; 1 if it has no end.
        nesting = Nesting()
        for number in range(at, min(at + self._reach, len(self._lines))):
            text = self._lines[number].text
            if number > at and (_PROMPT_LINE.match(text) or _SHELL.match(text)):
                return 1
            nesting.add(text)
            if not nesting.is_open:
                return number - at + 1
        self._reach = min(self._reach, _REACH)
        return 1

    # -- collecting inputs and outputs

    def _input(self, at: int, used: int, kind: Kind, source: str) -> None:
        source = source.strip()
        goes_on = self._open and self._is_under_prompt()
        self._open = bool(source) and (kind is Kind.SHELL or not self._is_comment(source))
        if not self._open:
            self._is_next = at == self._end
            self._is_prose = at == self._prose_end
            self._comment(source, at + used)
            if self._is_next:
                self._end = at + used
            else:
                self._prose_end = at + used
            self._open = self._open or bool(source) and goes_on and not self._values[-1]
            return
        self.assigned |= assigned_names(source)
        value = comment_values.comment_of(source)
        whole = source
        if kind is Kind.BARE and not self._locals_stay:
            source = self._without_local(source)
        self._is_announced = False
        self._add(kind, source, self._lines[at : at + used])
        self._inputs[-1] = replace(self._inputs[-1], is_local=source != whole)
        self._end = at + used
        if value:
            self._values[-1].append(value)
        elif remark := comment_values.remark_of(source):
            self._remarks[-1].append(remark)

    def _tells(self, text: str) -> bool:
        is_told = comment_values.comment_of(text) is not None
        remark = comment_values.remark_of(text)
        return is_told or comment_values.begins_with_value(remark, self._compiler)

    def _comment(self, source: str, below: int) -> None:
        # Under an input, a comment may tell its value, or go on with it; '-->' alone announces it.
        is_below = self._inputs and not any(line.text.strip() for line in self._outputs[-1])
        if is_below and (self._is_next or not (self._values[-1] or self._heads(source, below))):
            value = comment_values.comment_of(source)
            value = comment_values.listed_in(source) if value is None else value
            has_arrow = source[2:3] in (">", "-") or "=>" in source
            if value and self._is_prose and not (has_arrow or comment_values.Value(value).is_plain):
                value = None  # a sentence among others
            is_more = comment_values.is_open_table("\n".join(self._values[-1]))
            if value is None and (is_more or self._is_announced and self._is_next):
                value = comment_values.remark_of(source)
            self._is_announced = value == "" or self._is_announced and value is not None
            self._open = value == ""
            self._values[-1] += [value] if value else []
            self._is_next = self._is_next or value is not None
            if value is None and not self._values[-1]:
                self._remark(comment_values.texts_of(source))

    def _heads(self, source: str, below: int) -> bool:
        """Return whether a comment without an arrow heads the code below: `-- prints 3`."""
        text = self._lines[below].text.strip() if below < len(self._lines) else ""
        return text[:2] not in ("", "--") and source[2:3] not in ("[", ">") and "=>" not in source

    def _remark(self, texts: list[str]) -> None:
        """Add a comment below an input; printed values also behind a blank line, or a remark."""
        remarks = self._remarks[-1]
        has_values = bool(texts) and all(map(self._may_be_value, texts))
        is_second = has_values and not self._is_next and len(remarks) > 1
        if is_second and all(map(self._may_be_value, remarks)):  # what several statements print
            remarks += texts
            self._is_next = True
        elif has_values and not self._is_prose and not any(map(self._may_be_value, remarks)):
            remarks[:] = texts
            self._is_next = True
        elif self._is_next and (has_values or not self._has_value_beside()):
            remarks += texts

    def _has_value_beside(self) -> bool:
        """Return whether the comment at the end of the input is a value, with which it ends."""
        remark = comment_values.remark_of(self._inputs[-1].source)
        return comment_values.Value(remark).is_plain and self._remarks[-1] == [remark]

    def _may_be_value(self, text: str) -> bool:
        is_plain = comment_values.Value(text).is_plain
        return is_plain or _PRINTED.match(text) is not None

    def _is_under_prompt(self) -> bool:
        # There a comment goes on with that of the input, and what stands below is the output.
        last = self._inputs[-1] if self._inputs else None
        return last is not None and last.kind is Kind.PROMPT and not self._outputs[-1]

    def _is_comment(self, source: str) -> bool:
        return source.startswith("--") and self._compiler.is_comment(source)

    def _without_local(self, source: str) -> str:
        # Each statement runs as a chunk of its own, where a local of a former one does not exist.
        text = _LOCAL.sub("", source)
        code = without_texts(f"{source}\n")
        is_in_text = len(_NEXT_LOCAL.findall(code)) < len(_NEXT_LOCAL.findall(source))
        if text != source and not is_in_text and not _NESTED.search(code):
            text = _NEXT_LOCAL.sub("; ", text)
        return text if self._compiler.statement(text) is Syntax.COMPLETE else source

    def _output(self, line: Line) -> None:
        if self._open:
            self._outputs[-1].append(line)
        elif line.text.strip():
            self._add(Kind.TEXT, "", [line])
            self._outputs[-1].append(line)
            self._open = True

    def _add(self, kind: Kind, source: str, lines: Sequence[Line]) -> None:
        self._inputs.append(example_of(self._block, kind, lines, source))
        self._outputs.append([])
        self._values.append([])
        self._remarks.append([])

    def _with_value(
        self, example: Example, texts: Sequence[str], remarks: Sequence[str]
    ) -> Example:
        if example.kind not in (Kind.PROMPT, Kind.BARE):
            return example
        if texts:
            value = comment_values.value_of("\n".join(texts), example.source, self._compiler)
        else:
            value = comment_values.remark_value("\n".join(remarks), example.source, self._compiler)
        return replace(example, value=value)
