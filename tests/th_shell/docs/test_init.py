"""The files that th-docs init writes."""

import re
from pathlib import Path

import pytest

from th_shell.docs.cli import main
from th_shell.docs.command.init import sphinx_setup
from th_shell.docs.settings.options import configuration, read_toml
from th_shell.docs.settings.settings import Configuration

NOTHING = Configuration()
SETTINGS, CONFTEST, WORKFLOW = "docs/th-docs.toml", "docs/conftest.py", ".github/workflows/docs.yml"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "project" / "docs").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    Path("docs/page.md").write_text("")
    Path("docs/page.txt").write_text("")


def test_all_files(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "docs"]) == 0
    assert capfd.readouterr().out == f"wrote {SETTINGS}\nwrote {CONFTEST}\nwrote {WORKFLOW}\n"
    assert 'pages("*.md", "*.txt")' in Path(CONFTEST).read_text()
    workflow = Path(WORKFLOW).read_text()
    assert "pytest docs\n" in workflow
    assert "\t" not in workflow


def test_each_setting_is_one_of_toml_when_its_mark_is_taken_away() -> None:
    tomllib = pytest.importorskip("tomllib", reason="from Python 3.11 on")
    assert main(["init", "docs"]) == 0
    text = Path(SETTINGS).read_text()
    assert tomllib.loads(text) == {}
    found = tomllib.loads(re.sub(r"(?m)^# (?=\w+ = |\[\[)", "", text))
    assert set(found) == {
        "timeout", "memory", "engine", "prelude", "lua_path", "language", "atol", "rtol"
    }  # fmt: skip


def test_each_setting_counts_when_its_mark_is_taken_away() -> None:
    assert main(["init", "docs"]) == 0
    Path("docs/prelude.lua").touch()
    Path("docs/slow").mkdir()
    Path("docs/slow/page.md").touch()
    file, page = Path(SETTINGS), Path("docs/slow/page.md")
    text = file.read_text()
    assert configuration(page, NOTHING) == NOTHING
    for line in re.findall(r"(?m)^# (?:\w+ = .*)$", text):
        file.write_text(text.replace(line, re.sub("(?m)^# ", "", line)))
        assert configuration(page, NOTHING) != NOTHING


ROCKSPEC = """\
package = 'x'
version = 'scm-1'
build = {
   modules = {
      ['x.a'] = 'lua/x/a.lua', x = 'lua/x/init.lua', ['x.b'] = 'b.lua', y = 'src/y.lua', c = {'c.c'}
   }
}
"""


def write(*files: str, text: str = "") -> None:
    for file in files:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_text(text)


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (["lume.lua"], ["../?.lua"]),
        (["lib/a/b.lua", "spec/test.lua", "tool/init.lua"], ["../?/init.lua", "../lib/?.lua"]),
        (["src/a/init.lua"], ["../src/?.lua", "../src/?/init.lua"]),
        (["lua/a.lua", "docs/b.lua"], ["../lua/?.lua"]),
        (["docs/b.lua"], None),
    ],
)
def test_lua_modules_in_their_usual_folders(files: list[str], found: list[str] | None) -> None:
    write(*files)
    assert main(["init", "docs"]) == 0
    assert read_toml(Path(SETTINGS)).get("lua_path") == found


@pytest.mark.thorough
def test_lua_modules_of_a_rockspec() -> None:
    write("lua/x/a.lua", "lua/x/init.lua", "b.lua", "src/y.lua", "lib/z.lua")
    write("x-scm-1.rockspec", text=ROCKSPEC)
    assert main(["init", "."]) == 0
    assert read_toml(Path("th-docs.toml")) == {
        "lua_path": ["lua/?.lua", "lua/?/init.lua", "src/?.lua"]
    }


@pytest.mark.thorough
@pytest.mark.parametrize("rockspec", ["error('no')", ROCKSPEC, "package = 'x'"])
def test_a_rockspec_that_tells_nothing(rockspec: str) -> None:
    write("x.lua")
    write("x-scm-1.rockspec", text=rockspec)  # whose files are not there
    assert main(["init", "docs"]) == 0
    assert read_toml(Path(SETTINGS)) == {"lua_path": ["../?.lua"]}


def test_the_modules_are_found() -> None:
    write("lib/own.lua", text="return {answer = 42}")
    write("docs/page.md", text="```lua\n> require('own').answer\n42\n```\n")
    assert main(["init", "docs"]) == 0
    assert main(["docs"]) == 0


def test_a_python_project() -> None:
    write("src/ours/__init__.py", "tests/__init__.py", "pyproject.toml")
    write("docs/page.md", text="    >>> y = x\n\n```\nprint(1)\n```\n")
    write("docs/conf.py", text="import theme\ndoctest_global_setup = 'x = 1\\n'\n")
    assert main(["init", "docs"]) == 0
    assert read_toml(Path(SETTINGS)) == {"prelude": "prelude.py", "language": "python"}
    assert Path("docs/prelude.py").read_text() == "x = 1\n"
    assert "annotate-failures .\n" in Path(WORKFLOW).read_text()


@pytest.mark.parametrize(
    ("file", "text", "found"),
    [
        ("doc/source/conf.py", 'doctest_global_setup = r"""\nimport x\n"""', "\nimport x\n"),
        ("conf.py", "x = 1\ndoctest_global_setup = 'a' 'b'", "ab"),
        ("conf.py", "doctest_global_setup = None", ""),
        ("conf.py", "doctest_global_setup = f'{x}'", ""),
        ("conf.py", "no Python: doctest_global_setup = 'x'", ""),
        ("src/conf.py", "doctest_global_setup = 'x'", ""),
    ],
)
def test_the_setup_of_sphinx(file: str, text: str, found: str) -> None:
    write(file, text=text)
    assert sphinx_setup(Path()) == found


@pytest.mark.parametrize(
    "text", ["```\nx = 1\n```\n", "```lua\nx = 1\n```\n\n    >>> 1\n", "no code\n"]
)
def test_pages_that_are_not_in_python_alone(text: str) -> None:
    write("ours/__init__.py", "docs/page.md", text=text)
    write("docs/conf.py", text="doctest_global_setup = some()\n")
    assert main(["init", "docs"]) == 0
    assert read_toml(Path(SETTINGS)) == {}
    assert "pip install th-shell pytest pytest-github-actions-annotate-failures\n" in (
        Path(WORKFLOW).read_text()
    )


def test_files_that_are_there_are_kept(capfd: pytest.CaptureFixture[str]) -> None:
    Path(CONFTEST).write_text("mine")
    assert main(["init", "docs"]) == 0
    assert Path(CONFTEST).read_text() == "mine"
    assert capfd.readouterr().out == (
        f"wrote {SETTINGS}\nkept {CONFTEST}, which was there (--force replaces it)\n"
        f"wrote {WORKFLOW}\n"
    )


def test_force() -> None:
    Path(CONFTEST).write_text("mine")
    assert main(["init", "--force", "docs"]) == 0
    assert Path(CONFTEST).read_text() != "mine"


def test_a_folder_elsewhere_has_its_own_workflow(capfd: pytest.CaptureFixture[str]) -> None:
    Path("../other").mkdir()
    assert main(["init", "../other"]) == 0
    assert "pytest .\n" in Path("../other", WORKFLOW).read_text()
    assert 'pages("*.md")' in Path("../other/conftest.py").read_text()


def test_no_such_folder(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["init", "missing"])
    assert caught.value.code == 2
    assert capfd.readouterr().err.endswith("th-docs init: error: no such folder: missing\n")


def test_what_cannot_be_written(capfd: pytest.CaptureFixture[str]) -> None:
    Path(".github").write_text("a file")
    assert main(["init", "docs"]) == 2
    expected = f"th-docs init: {WORKFLOW} cannot be written: Not a directory\n"
    assert capfd.readouterr().err == expected


def test_a_page_named_init(capfd: pytest.CaptureFixture[str]) -> None:
    Path("init").write_text("```lua\n> 1 + 1\n2\n```\n")
    assert main(["./init"]) == 0
    assert capfd.readouterr().out == "init: checked 1 of 1 example: 1 pass\n"
