"""What `share/` has for shells and man: it is as the command lines are, and it works."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.share import SHARE, files, rows
from th_shell import options
from th_shell.docs.command_lines import parser_of

BASH = """\
source '{file}'
COMP_WORDS=({words}) COMP_CWORD={last}
_shtab_{name} >/dev/null 2>&1
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def need(program: str) -> None:
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")


def shell(*command: str | Path, cwd: Path | None = None) -> list[str]:
    """The lines that a command of the system prints."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=cwd)
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout.splitlines()


def test_the_help_of_th_names_its_options() -> None:
    known = {*options._PRINTING, *options._PROGRAMS, *options._FLAGS, *options._WITH_WORD, "-"}
    assert {name for row in rows() for name in row.names} == known


def test_the_files_are_as_the_options() -> None:
    pytest.importorskip("shtab", reason="shtab, of the extra test, is not installed")
    texts = files()
    assert {path: (SHARE / path).read_text() for path in texts} == texts, (
        "write them anew: .venv/bin/python -m tests.share"
    )
    assert {str(path.relative_to(SHARE)) for path in SHARE.rglob("*") if path.is_file()} == {*texts}


def all_options(program: str) -> set[str]:
    if program == "th":
        return {name for row in rows() for name in row.names} - {"-"}
    return {name for action in parser_of(program)._actions for name in action.option_strings}


@pytest.mark.parametrize("program", ["th", "th-docs"])
def test_bash_completes(program: str, tmp_path: Path) -> None:
    def completed(*words: str) -> set[str]:
        file = SHARE / "bash-completion/completions" / program
        typed = " ".join(f"'{word}'" for word in (program, *words))
        name = program.replace("-", "_")
        script = BASH.format(file=file, words=typed, last=len(words), name=name)
        return set(shell("bash", "-c", script, cwd=tmp_path))

    (tmp_path / "page.md").touch()
    assert completed("-") == all_options(program)
    assert completed("--ver") == {"--version"} | {o for o in ["--verbose"] if program != "th"}
    assert completed("p") == {"page.md"}
    if program == "th":
        assert completed("--jupyter", "") == {"install", "remove"}
        assert completed("--check", "p") == {"page.md"}


@pytest.mark.parametrize("program", ["th", "th-docs"])
def test_fish_completes(program: str) -> None:
    need("fish")
    file = SHARE / f"fish/vendor_completions.d/{program}.fish"
    lines = shell("fish", "-c", f"source '{file}'; complete -C '{program} --'")
    long = {option for option in all_options(program) if option.startswith("--")}
    assert {line.split("\t")[0] for line in lines} == long


@pytest.mark.parametrize("program", ["th", "th-docs"])
def test_zsh_completes(program: str) -> None:
    """Zsh loads the function by its first line, as `compinit` does, and has all options in it."""
    need("zsh")
    folder = SHARE / "zsh/site-functions"
    load = f"fpath=('{folder}' $fpath); autoload -Uz compinit; compinit -D"
    shown = shell("zsh", "-fc", f"{load}; print $_comps[{program}]; autoload +X _{program}")
    assert shown == [f"_{program}"]
    text = (folder / f"_{program}").read_text()
    assert [option for option in all_options(program) if option not in text] == []


@pytest.mark.parametrize("program", ["th", "th-docs"])
def test_man_shows_the_pages(program: str) -> None:
    need("man")
    command = ["man", "--warnings", "-E", "ascii", "-l", str(SHARE / f"man/man1/{program}.1")]
    text = "\n".join(shell(*command))
    told = all_options(program) - {"-h", "--help"}  # argparse-manpage leaves these out
    assert [option for option in told if option not in text] == []
    assert "behind 'python: '" in " ".join(text.split()) or program == "th"
