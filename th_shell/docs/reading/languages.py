"""The languages of blocks, by their fences, directives and prompts.

A block names its language at its fence: in CommonMark in the first word, in MyST also behind a
directive or as one, in Pandoc among attributes. Where it names none, its first prompt tells.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from th_shell.docs.reading.examples import LUA, PYTHON, Block, Line, Role
from th_shell.patterns import pattern

_NAMES = {
    **dict.fromkeys(("lua", "luajit", "th", "torch"), LUA),
    **dict.fromkeys(("python", "py", "python3", "py3", "pycon", "pycon3"), PYTHON),
    **dict.fromkeys(("doctest", "ipython", "ipython3", "code-cell"), PYTHON),
    **dict.fromkeys(("testcode", "testsetup", "testcleanup"), PYTHON),
}
#: The languages of fences with what a program prints, or a terminal shows.
_OUTPUTS = ("console", "none", "out", "output", "plain", "plaintext", "text", "txt", "testoutput")
#: Those of fences with commands of the system's shell, among which a shell of Lua may be started.
_TERMINALS = ("bash", "sh", "shell", "shell-session", "terminal", "zsh")
_ROLES = {
    **dict.fromkeys(_OUTPUTS, Role.OUTPUT),
    **dict.fromkeys(("out", "output", "testoutput"), Role.ANNOUNCED),
    "testsetup": Role.SETUP,
    "testcleanup": Role.TEARDOWN,
}
#: Sphinx's directives of tests, which name the groups that they belong to.
DIRECTIVES = ("doctest", "testcleanup", "testcode", "testoutput", "testsetup")
#: Directives of MyST whose language stands behind them, and those that are one.
_NAMED = pattern(r"\{(?:code|code-block|sourcecode)\}\s*(?P<name>[\w.+-]*)")
_DIRECTIVE = pattern(r"\{(?P<name>[\w-]+)\}")
_PANDOC = pattern(r"\{(?=[^{}]*\})[^{}]*?\.(?P<name>[\w+-]+)[^{}]*\}")
#: The names that shells of Lua have before the `>` of their prompts: Torch7's early one was `t7>`.
SHELL = r"(?:th|t7|torch|lua(?:jit)?|xLua )"
NAMED_PROMPT = rf"{SHELL}> "
_LUA_PROMPT = pattern(rf"^\s*{SHELL}?>(?!>)")
#: A line that starts a shell of Lua: the prompts `> ` below it are that shell's.
STARTS = pattern(rf"^\s*(?:\$\s+)?{SHELL}(?:\s+-i)?\s*$")
#: The command that runs a script, behind the prompt of a system's shell.
COMMAND = (
    r"(?:[\w.-]{1,40}@[\w.-]{1,60}(?::\S{0,99})?[ \t]?|[~/][\w./-]{0,99}[ \t])?"
    r"[$%>#][ \t]{0,3}(?:\./)?(?:th|lua[\w.-]{0,9}|qlua)[ \t]{1,9}[\w./-]{1,99}\.lua\b.*"
)
RUNS_SCRIPT = pattern(rf"^\s*{COMMAND}$")
#: The prompts that no other text has.
_SESSION_PROMPT = pattern(rf"^\s*(?:>>>(?:\s|$)|In ?\[\d*\]:|{SHELL}>(?: |$))")
_TERMINAL_PROMPT = pattern(rf"{_SESSION_PROMPT.pattern}|^\s*\$ ")
#: The last line of a printed tensor, which no command prints.
TENSOR_END = pattern(r"^\s*\[torch\.\w+ of (?:size|dimension) ")
_OPTION = pattern(r"^\s*:(?P<name>[\w-]+):\s*(?P<value>.*?)\s*$")
_PYTHON_PROMPT = pattern(r"^\s*(?:>>>(?:\s|$)|In ?\[\d*\]:)")
#: An input that is Lua, and cannot be Python.
_LUA_CALL = pattern(r"^\s*>>> (?:local\s|(?:\w+\s*=\s*)?[A-Za-z_]\w*:[A-Za-z_]\w*\()")
#: A line of C, C++ or Java, and of Python where Lua is meant.
_FOREIGN = pattern(
    r"^\s*(?:#include\s*[<\"]|//\s|/\*|public class )|^[^\"'\[]*;\s*//\s"
    r"|^\s*(?:from\s+[\w.]+\s+import\s|import\s+[\w.]+\s*$|(?:def|class|elif)\s[^:]*:\s*$"
    r"|for\s+\w+(?:,\s*\w+)*\s+in\s[^:]*:\s*$|(?:else|try|finally):\s*$)"
)


def fence_language(info: str) -> str:
    """Return the language in the words behind a fence, in small letters; '' where there is none.

    So it stands in CommonMark; MyST has it behind `{code-block}`, or a directive in its place,
    and Pandoc has it behind a dot, among attributes in braces.
    """
    for form in (_NAMED, _PANDOC, _DIRECTIVE):
        if match := form.match(info.strip()):
            return match["name"].lower()
    return (info.split() or [""])[0].lower()


def role_of(name: str, lines: Sequence[str]) -> Role | None:
    """Return the use of a block by its language; None if it has examples, such as prompts."""
    role = _ROLES.get(name)
    if name in _TERMINALS and any(map(TENSOR_END.match, lines)):
        role = Role.OUTPUT
    has_prompts = role is Role.OUTPUT and (
        any(map(_TERMINAL_PROMPT.match, lines)) or _session_start(lines) is not None
    )
    return None if has_prompts else role


def session_lines(block: Block) -> tuple[Line, ...]:
    """Return the lines of a block: of a terminal's, those from the first prompt of a shell on."""
    start = _session_start([line.text for line in block.lines])
    return block.lines[start:] if block.language in _TERMINALS and start else block.lines


def _session_start(lines: Sequence[str]) -> int | None:
    """Return the index of the first prompt in a block of a terminal; None where it has none.

    A prompt `> ` is one below the line that starts a shell of Lua.
    """
    is_started = False
    for at, line in enumerate(lines):
        if _SESSION_PROMPT.match(line) or is_started and _LUA_PROMPT.match(line):
            return at
        is_started = is_started or bool(STARTS.match(line))
    return None


def without_options(lines: Sequence[Line]) -> tuple[tuple[Line, ...], dict[str, str]]:
    """Split a directive into its content and the options above, such as `:options: +SKIP`."""
    options: dict[str, str] = {}
    at = 0
    while at < len(lines) and (match := _OPTION.match(lines[at].text)):
        options[match["name"]] = match["value"]
        at += 1
    return tuple(lines[at:]), options


def directed(block: Block, groups: str, options: Mapping[str, str]) -> Block:
    """Return a block with the group and the options of a directive of Sphinx's tests."""
    marks = block.marks.union(re.findall(r"\+(\w+)", options.get("options", "")))
    if block.language in DIRECTIVES:
        marks |= {"IGNORE_EXCEPTION_DETAIL"}
    group = " ".join(groups.replace(",", " ").split())
    return replace(block, skip=block.skip or "SKIP" in marks, marks=marks, group=group)


def language_of(name: str, lines: Sequence[str], usual: str = LUA) -> str:
    """Return a block's language by the name at its fence, else by its first prompt, else the usual.

    Returns '' for a language that has no engine.
    """
    if name in _OUTPUTS or name in _TERMINALS:
        start = _session_start(lines)
        usual, lines = "", () if start is None else lines[start:]
    elif name:
        return _NAMES.get(name, "")
    for line in lines:
        if _LUA_PROMPT.match(line):
            return LUA
        if _PYTHON_PROMPT.match(line):
            return LUA if usual == LUA and any(map(_LUA_CALL.match, lines)) else PYTHON
    return "" if any(map(_FOREIGN.match, lines)) else usual
