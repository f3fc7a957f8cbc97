"""The manual shows what th-docs does: its commands are run, and it leaves nothing out.

A block below a line that is a name in backquotes and a colon is that file. A block whose first line
begins with `$ ` is commands with what they print; they run where the files of their section are.
"""

import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import NamedTuple
from unittest.mock import Mock

import pytest

from th_shell.docs import cli, fix
from th_shell.docs.judging.verdicts import FAILURES, Verdict
from th_shell.docs.pytest_entry import pytest_addoption
from th_shell.docs.running.processes import Starter
from th_shell.docs.settings.options import OPTIONS, Option
from th_shell.docs.settings.sidecar import ERRATUM_KEYS

ROOM = Path(cli.__file__).parent
MANUAL = (ROOM / "README.md").read_text("utf-8")
BUILDS = (ROOM / "commits_and_builds.md").read_text("utf-8")
TOUR = (ROOM.parents[1] / "docs/tour.md").read_text("utf-8")
#: The libraries of commands that are not in each installation.
_LIBRARIES = {"sphinx-build": "sphinx", "mkdocs": "mkdocs"}

_BLOCK = re.compile(
    r"(?:^`(?P<file>[\w./-]+)`:\n\n)?^(?P<fence>`{3,})(?P<language>\w*)\n(?P<text>.*?)^(?P=fence)\n",
    re.M | re.S,
)
_COMMAND = re.compile(r"^\$ (?P<command>.*)\n(?P<output>(?:(?!\$ ).*\n)*)", re.M)


class Section(NamedTuple):
    """A part of the manual with its blocks: files, by their names, and commands."""

    title: str
    blocks: list[tuple[str | None, str]]


def _sections(page: str) -> Iterator[Section]:
    for part in re.split(r"^## ", page, flags=re.M)[1:]:
        blocks = [(m["file"], m["text"]) for m in _BLOCK.finditer(part)]
        blocks = [(file, text) for file, text in blocks if file or text.startswith("$ ")]
        if any(not file for file, _ in blocks):
            yield Section(part.split("\n")[0], blocks)


SECTIONS = [section for page in (MANUAL, BUILDS, TOUR) for section in _sections(page)]


@pytest.fixture
def run(
    starter: Starter, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[[str], str]:
    """Runs a command; what it prints."""
    for module in (cli, fix):
        monkeypatch.setattr(module, "Starter", lambda: nullcontext(starter))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    status = 0

    def run(line: str) -> str:
        nonlocal status
        words = shlex.split(line)
        if words[0] == "th-docs":
            status = cli.main(words[1:])
        elif line == "echo $?":
            return f"{status}\n"
        else:
            if words[0] in _LIBRARIES:
                pytest.importorskip(_LIBRARIES[words[0]])
            status = subprocess.run(line, shell=True).returncode
            assert status == 0 or words[0] in _LIBRARIES
        return capfd.readouterr().out.replace(f"{Path.cwd()}/", "")

    return run


@pytest.mark.thorough
@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.title)
def test_commands_print_what_the_manual_shows(
    section: Section,
    run: Callable[[str], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for file, text in section.blocks:
        if file:
            Path(file).parent.mkdir(exist_ok=True)
            Path(file).write_text(text)
            continue
        shown = "".join(f"$ {m['command']}\n{run(m['command'])}" for m in _COMMAND.finditer(text))
        assert shown == text


def test_all_sections_with_commands_are_found() -> None:
    for page, least in ((MANUAL, 6), (BUILDS, 2), (TOUR, 1)):
        found = re.findall(r"(?ms)^## (?:(?!^## ).)*?^```\n\$ ", page)
        assert len(list(_sections(page))) == len(found) >= least


@pytest.mark.parametrize("words", [[], ["fix"], ["init"]], ids=" ".join)
def test_options_are_told(words: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main([*words, "--help"])
    options = set(re.findall(r"(?<!\S)--?[a-z][a-z-]*", capfd.readouterr().out))
    assert {"-h", "--help"} < options
    assert [one for one in sorted(options - {"-h"}) if not _is_told(one)] == []


def test_options_of_pytest_are_told() -> None:
    parser = Mock()
    pytest_addoption(parser)
    added = parser.getgroup.return_value.addoption.call_args_list + parser.addini.call_args_list
    names = [call.args[0] for call in added]
    assert len(names) == 2
    assert [name for name in names if not _is_told(name)] == []


def _is_told(word: str) -> bool:
    return any(re.search(rf"(?<![\w-]){word}(?![\w-])", code) for code in _code_in_text())


@cache
def _code_in_text() -> list[str]:
    """What stands between backquotes, blocks aside."""
    text = re.sub(r"^    .*$", "", _BLOCK.sub("", MANUAL), flags=re.M)
    return re.findall(r"`([^`\n]+)`", text)


@pytest.mark.parametrize("verdict", Verdict, ids=lambda verdict: verdict.value)
def test_verdicts_are_told(verdict: Verdict) -> None:
    row = re.search(rf"^\| `{verdict.value}` \| .* \| (?P<fails>yes|no) \| ", MANUAL, re.M)
    assert row
    assert (row["fails"] == "yes") == (verdict in FAILURES)


@pytest.mark.parametrize("option", [*OPTIONS, *ERRATUM_KEYS], ids=lambda option: option.name)
def test_settings_are_told(option: Option) -> None:
    assert _is_told(option.name)


def _anchors(page: str) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", page, re.M)
    return {re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in headings}


def test_links_lead_to_headings() -> None:
    links = re.findall(r"\]\(#([^)]*)\)", MANUAL)
    assert len(links) > 10
    assert set(links) - _anchors(MANUAL) == set()
    links = re.findall(r"\]\(README.md#([^)]*)\)", BUILDS)
    assert len(links) >= 5
    assert set(links) - _anchors(MANUAL) == set()
    assert set(re.findall(r"\]\(#([^)]*)\)", BUILDS)) - _anchors(BUILDS) == set()
