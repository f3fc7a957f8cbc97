"""`th --report`: what a report of an error needs, to copy: versions, and what th does with a file.

It tells nothing of who asks: names of people and machines, folders and the values of variables of
the environment are replaced.
"""

from __future__ import annotations

import os
import platform
import pwd
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from th_shell import __version__
from th_shell.lines import usual_lines
from th_shell.visible import UsageError, complain, read_words, visible, visible_line

_SECONDS = 60  # that a case may take
_LINES = 60  # of what it prints: nobody reads more
_LONG = 8  # characters of a value in the environment: shorter ones are common words and numbers
_WORD = 3  # characters of a name, at most, that is replaced as a word alone
#: The options of th by the ends of files: what is run of them.
_OPTIONS = {".py": ["--python"], ".t7": ["--convert"], ".lua": []}


def versions(program: str) -> Iterator[str]:
    """Yield three lines: versions of the program, of Python and the system, and of libraries."""
    yield f"{program} {__version__}\n"
    yield f"Python {platform.python_version()}{sys.abiflags}, {platform.platform()}\n"
    try:
        yield _libraries()
    except ImportError as error:  # as on a system that lacks something: this is worth a report, too
        yield f"{_anonymous(visible_line(str(error)))}\n"


def _libraries() -> str:
    from th_shell.runtime.shell import blas_version, load_numpy, luajit_version

    load_numpy()
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy"))
    return f"{luajit_version()} (lupa {version('lupa')}), {libraries}, {blas_version()}\n"


def run(words: Sequence[str]) -> int:
    """Print the versions and, of a file, what it has and prints. Raises UsageError."""
    names, _ = read_words("--report", words, {})
    if len(names) > 1:
        raise UsageError("--report takes one file: the smallest that shows what is wrong")
    try:
        case = "".join(_anonymous(_case(Path(name))) for name in names)
    except OSError as error:
        complain(f"cannot read {names[0]}: {error.strerror}")
        return 1
    os.write(1, ("".join(versions("th")) + case).encode("utf-8", "surrogateescape"))
    return 0


def _case(path: Path) -> str:
    """Return what is in a program and what it prints; of a page or model, what th says of it."""
    source = path.read_bytes().decode("utf-8", "surrogateescape")
    is_page = path.suffix not in _OPTIONS and "\0" not in source
    option = [] if is_page else _OPTIONS.get(path.suffix, ["--convert"])
    shown = " ".join(["th-docs" if is_page else "th", *option, path.name])
    is_program = not is_page and option != ["--convert"]
    text = f"\n{path.name}:\n\n{_indented(usual_lines(source))}" if is_program else ""
    status, printed = _run("docs.__main__" if is_page else "cli", [*option, str(path)])
    printed = _indented(printed.replace(str(path), path.name).splitlines()[-_LINES:])
    return f"{text}\n`{shown}` {status}; the last {_LINES} lines of what it prints:\n\n{printed}"


def _run(module: str, words: Sequence[str]) -> tuple[str, str]:
    """Run a command of ours with words; return how it ended, and what it printed."""
    start = f"from th_shell.{module} import main; sys.exit(main())"
    command = [sys.executable, "-I", "-c", f"import sys; sys.path[:] = {sys.path!r}; {start}"]
    try:
        done = subprocess.run(
            [*command, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_SECONDS,
        )
        status, printed = f"ends with status {done.returncode}", done.stdout
    except subprocess.TimeoutExpired as error:
        status, printed = f"still runs after {_SECONDS} s", error.stdout or b""
    return status, visible(printed.decode("utf-8", "surrogateescape"))


def _indented(lines: Sequence[str]) -> str:
    return "".join(f"    {line}".rstrip() + "\n" for line in lines)


def _anonymous(text: str) -> str:
    """Return a text without what tells of its writer, their folders and their environment."""
    home, people = os.path.expanduser("~"), {os.environ.get("USER", ""), platform.node()}
    with suppress(KeyError):  # a container's user may have no name
        people.add(pwd.getpwuid(os.getuid()).pw_name)
    names = {
        part: f"${name}"
        for name, value in os.environ.items()
        for part in re.split("[:;?]", value)
        if len(part) >= _LONG
    }
    places = {os.getcwd(): ".", sys.prefix: "PYTHON", home: "~", os.path.realpath(home): "~"}
    names |= {place: shown for place, shown in places.items() if len(place) > 1}
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, names[name])
    text = re.sub(r"(?<!\S)\.\.\.\S*/", ".../", text)  # Lua cuts long paths
    people -= {"", "root", "localhost"}
    for name in people:
        text = text.replace(name, "NAME") if len(name) > _WORD else text
    return re.sub(r"\w+", lambda word: "NAME" if word[0] in people else word[0], text)
