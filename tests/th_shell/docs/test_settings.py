"""Settings of folders and of pages, in files beside them, and which of them stand over others."""

import re
import sys
from pathlib import Path
from shlex import quote

import pytest

from tests.data_files import data
from th_shell.docs.cli import main
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.examples import Example
from th_shell.docs.reading.page import read
from th_shell.docs.settings.configuration import configuration, doctest_flags
from th_shell.docs.settings.options import search_path
from th_shell.docs.settings.settings import (
    Configuration,
    Filter,
    Layer,
    Mark,
    Settings,
    SettingsError,
    Tolerance,
)

NONE = Configuration()


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    return Compiler()


def write(folder: Path, **files: str) -> None:
    """Write files, whose names have '_' for '.' and '__' for '/'."""
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def of(page: Path, said: str, command_line: Configuration = NONE) -> Configuration:
    (page.parent / "th-docs.toml").write_text(said)
    return configuration(page, command_line)


# -- settings over one another


def test_settings_say_something_or_leave_it() -> None:
    one, two = Filter(re.compile("a"), ""), Filter(re.compile("b"), "")
    below = Settings(skip=Mark("r"), atol=1, rtol=1, strict=True, filters=(one,))
    above = Settings(atol=0, timeout=2, strict=False, filters=(two,))
    assert above.over(below) == Settings(
        skip=Mark("r"),
        atol=0,
        rtol=1,
        timeout=2,
        strict=False,
        filters=(one, two),
    )


def test_tolerance_of_numbers() -> None:
    assert Tolerance(0.5, 0.1).of(-20, 0.0) == 2.5
    assert Tolerance(0.5, 0.1).of(float("inf"), 0.0) == 0.5
    assert Settings(rtol=0.1).tolerance == Tolerance(0, 0.1)


# -- the file of a folder


def test_no_file_says_nothing(tmp_path: Path) -> None:
    assert configuration(tmp_path / "page.md", NONE) == NONE


def test_all_keys(tmp_path: Path) -> None:
    write(tmp_path, my_lua="x = 1\n", my_py="x = 2\n")
    (tmp_path / "ledgers").mkdir()
    found = of(
        tmp_path / "page.md",
        data(__file__, "test_all_keys"),
    )
    place = str(tmp_path / "th-docs.toml")
    settings = found.layer.settings
    assert settings.skip == Mark("why", place=place)
    assert settings.xfail == Mark("a bug", ("A", "B"), ("nn",), place)
    assert (settings.atol, settings.rtol, settings.timeout) == (1, 1e-3, 2.5)
    assert settings.strict is True
    assert settings.filters == (Filter(re.compile(r"\d", re.M), "N"),)
    hidden = [(one.kind, one.text, one.place) for one in found.layer.hidden]
    assert hidden == [
        ("setup", "a()", place),
        ("teardown", "b()", place),
        ("teardown", "c()", place),
        ("seed", "3", place),
    ]
    assert found.engine == {"lua": ["luajit", "-joff"], "python": ["x", "y"]}
    assert found.prelude == {"lua": "x = 1\n", "python": "x = 2\n"}
    assert (found.sandbox, found.sandbox_read) == (True, (f"{tmp_path}/lib",))
    assert found.lua_path == f"{tmp_path}/lib/?.lua;/abs/?.lua"
    assert found.lua_cpath == f"{tmp_path}/lib/?.so"
    assert (found.environment, found.memory) == ({"A": "b"}, 100 << 20)
    assert (found.errata, found.root) == (tmp_path / "ledgers", tmp_path)


def test_nearest_file_counts(tmp_path: Path) -> None:
    write(tmp_path, pyproject_toml="[tool.th-docs]\natol = 1\nrtol = 1\n")
    write(tmp_path, sub__deep__page_md="", sub__pyproject_toml="[tool.other]\n")
    page = tmp_path / "sub/deep/page.md"
    assert configuration(page, NONE).layer.settings.atol == 1
    write(tmp_path, sub__pyproject_toml="[tool.th-docs]\natol = 2\n")
    assert configuration(page, NONE).layer.settings == Settings(atol=2)
    (tmp_path / "sub" / "th-docs.toml").write_text("atol = 3\n")
    assert configuration(page, NONE).layer.settings == Settings(atol=3)


def test_flags_of_a_project(tmp_path: Path) -> None:
    write(tmp_path, sub__deep__page_md="", setup_cfg="doctest_optionflags = NUMBER\n ELLIPSIS\n")
    page = tmp_path / "sub/deep/page.md"
    assert doctest_flags(page) == {"NUMBER"}
    sphinx = (
        "doctest_default_flags = (\n    0\n    | doctest.IGNORE_EXCEPTION_DETAIL\n)\nNUMBER = 1"
    )
    write(tmp_path, sub__conf_py=sphinx)
    assert doctest_flags(page) == {"IGNORE_EXCEPTION_DETAIL"}
    (tmp_path / "sub/deep/.git").mkdir()
    assert doctest_flags(page) == set()


@pytest.mark.parametrize(("pattern", "pages"), data(__file__, "test_tables_of_pages"))
def test_tables_of_pages(tmp_path: Path, pattern: str, pages: str) -> None:
    write(tmp_path, a_md="", nn__a_md="", nn__x__y__b_md="")
    (tmp_path / "th-docs.toml").write_text(f'atol = 1\n[[pages]]\nmatch = "{pattern}"\natol = 2\n')
    found = [
        name
        for name in ("a.md", "nn/a.md", "nn/x/y/b.md")
        if configuration(tmp_path / name, NONE).layer.settings.atol == 2
    ]
    assert found == pages.split()


def test_later_tables_and_the_command_line_stand_above(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.touch()
    said = data(__file__, "test_later_tables_and_the_command_line_stand_above")
    given = Configuration(Layer(Settings(timeout=4)), engine={"lua": ["th7"]})
    found = of(page, said, given)
    assert found.layer.settings == Settings(atol=1, rtol=2, timeout=4)
    assert found.environment == {"A": "1", "B": "2"}
    assert [hidden.text for hidden in found.layer.hidden] == ["a()", "b()"]
    assert found.engine == {"lua": ["th7"]}


@pytest.mark.parametrize(
    ("said", "problem"),
    data(__file__, "test_wrong_files")
)  # fmt: skip
def test_wrong_files(tmp_path: Path, said: str, problem: str) -> None:
    page = tmp_path / "page.md"
    page.touch()
    with pytest.raises(SettingsError) as caught:
        of(page, said)
    wanted = f"{tmp_path}/th-docs.toml{problem.replace('{folder}', str(tmp_path))}"
    assert str(caught.value) == wanted


def test_wrong_pyproject(tmp_path: Path) -> None:
    write(tmp_path, pyproject_toml="[tool.th-docs]\natol = 'x'\n")
    with pytest.raises(SettingsError) as caught:
        configuration(tmp_path / "page.md", NONE)
    assert str(caught.value) == f"{tmp_path}/pyproject.toml: tool.th-docs: atol: not a number"


def test_search_path() -> None:
    assert search_path(Path("/top"), "a/?.lua;;/b/?.lua; c/?.lua") == (
        "/top/a/?.lua;/b/?.lua;/top/c/?.lua"
    )


# -- the file beside a page

PAGE = data(__file__, "PAGE")


def beside(
    folder: Path, said: str, compiler: Compiler, below: Layer | None = None
) -> list[Example]:
    page = folder / "page.md"
    page.write_text(PAGE)
    (folder / "page.md.th-docs").write_text(said)
    return read(page, compiler, Configuration(below or Layer())).examples


@pytest.mark.parametrize(("which", "found"), data(__file__, "test_examples_of_a_sidecar"))
def test_examples_of_a_sidecar(
    tmp_path: Path, compiler: Compiler, which: str, found: list[int]
) -> None:
    examples = beside(tmp_path, f'[[examples]]\n{which}\nskip = "why"\n', compiler)
    assert [at for at, one in enumerate(examples) if one.settings.skip] == found


def test_sidecar_stands_between_the_folder_and_the_directives(
    tmp_path: Path, compiler: Compiler
) -> None:
    below = Layer(Settings(atol=1, rtol=1, timeout=1))
    said = 'atol = 2\nrtol = 2\nsetup = "a()"\n[[examples]]\nheading = "Two"\natol = 3\nrtol = 3\n'
    examples = beside(tmp_path, said, compiler, below)
    assert [(e.settings.atol, e.settings.rtol, e.settings.timeout) for e in examples] == [
        *[(2, 2, 1)] * 3,
        (5, 3, 1),
    ]
    assert [[hidden.text for hidden in e.hidden] for e in examples] == [["a()"], [], [], []]


def test_a_file_in_the_folder_of_errata_stands_over_the_one_beside_the_page(
    tmp_path: Path, compiler: Compiler
) -> None:
    beside(tmp_path, "atol = 1\nrtol = 1\n[[errata]]\nreason = '1'\ninput = 'x'\n", compiler)
    (tmp_path / "errata").mkdir()
    (tmp_path / "errata/page.md.th-docs").write_text("rtol = 2\n")
    found = read(tmp_path / "page.md", compiler, Configuration(errata=tmp_path / "errata"))
    settings = found.examples[0].settings
    assert (settings.atol, settings.rtol, found.sidecar.errata()) == (1, 2, [])


@pytest.mark.parametrize(
    ("said", "problem"),
    data(__file__, "test_wrong_sidecars")
)  # fmt: skip
def test_wrong_sidecars(tmp_path: Path, compiler: Compiler, said: str, problem: str) -> None:
    with pytest.raises(SettingsError) as caught:
        beside(tmp_path, said, compiler)
    message = str(caught.value)
    if problem.endswith(": "):  # the rest is of Python's library
        message = message[: len(f"{tmp_path}/page.md.th-docs{problem}")]
    assert message == f"{tmp_path}/page.md.th-docs{problem}"


# -- the command


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("page.md").write_text(
        "```\n> require('mine').value\n1.5000\n> os.getenv('MINE')\nyes\n```\n"
    )
    write(tmp_path, lib__mine_lua="return {value = 1.6}\n")
    return tmp_path


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_a_page_has_modules_and_an_environment_of_its_own(
    capfd: pytest.CaptureFixture[str],
) -> None:
    said = 'environment = {MINE = "yes"}\natol = 0.2\nlua_path = "lib/?.lua"\n'
    Path("th-docs.toml").write_text(said)
    assert main(["page.md"]) == 0
    assert main(["--atol", "0", "page.md"]) == 1
    assert "1 pass, 1 differs" in capfd.readouterr().out


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_options_of_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", "yes")
    assert main(["--lua-path", "lib/?.lua", "--rtol", "0.1", "page.md"]) == 0
    assert main(["--lua-path", "lib/?.lua", "page.md"]) == 1
    Path("lib").rename("modules")  # where nothing looks for them
    assert main(["--lua-path", "modules/?.lua", "--rtol", "0.1", "page.md"]) == 0
    assert main(["--rtol", "0.1", "--min-checked", "1", "page.md"]) == 1


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("option", ["--atol", "--rtol"])
def test_wrong_options(option: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([option, "-1", "page.md"])
    assert f"argument {option}: not a number from 0 up" in capfd.readouterr().err


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_a_wrong_file_fails_its_pages_only(capfd: pytest.CaptureFixture[str]) -> None:
    write(Path(), bad__page_md="```\n> 1\n1\n```\n", good__page_md="```\n> 1\n1\n```\n")
    Path("bad/th-docs.toml").write_text("atol = 'x'\n")
    assert main(["bad/page.md", "good/page.md"]) == 1
    wrong = f"FAIL bad/page.md: {Path.cwd()}/bad/th-docs.toml: atol: not a number\n"
    assert capfd.readouterr().out == (
        f"{wrong}bad/page.md: not checked\n"
        "good/page.md: checked 1 of 1 example: 1 pass\n"
        "2 pages: checked 1 of 1 example: 1 pass; 1 page not checked\n"
    )


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_folders_say_what_runs_pages(capfd: pytest.CaptureFixture[str]) -> None:
    Path("page.md").write_text("```\n> while true do end\n> y\n3\n```\n")
    Path("prelude.lua").write_text("y = 3")
    Path("th-docs.toml").write_text("timeout = 0.3\nprelude = 'prelude.lua'\n")
    assert main(["-v", "page.md"]) == 1
    out = capfd.readouterr().out
    assert "page.md:2: error    > while true do end  [was stopped after 0.3 s]\n" in out
    assert "page.md:3: pass     > y\n" in out


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_folders_have_engines_memory_and_ledgers(capfd: pytest.CaptureFixture[str]) -> None:
    Path("page.md").write_text("```\n> 1\n2\n```\n")
    Path("ledgers").mkdir()
    Path("ledgers/page.md.th-docs").write_text(
        "[[errata]]\nreason = 'Wrong.'\ninput = '1'\nprints = '1'\n"
    )
    Path("th-docs.toml").write_text("errata = 'ledgers'\nmemory = 500\n")
    assert main(["page.md"]) == 0
    Path("th-docs.toml").write_text("engine = 'none-such'\n")
    assert main(["page.md"]) == 1
    assert "th-docs: none-such: No such file or directory" in capfd.readouterr().out


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_other_engines_have_modules_and_an_environment_too() -> None:
    engine = f'engine = "{quote(sys.executable)} -m th_shell"\n'
    said = 'environment = {MINE = "yes"}\natol = 0.2\nlua_path = "lib/?.lua"\n'
    Path("th-docs.toml").write_text(engine + said)
    assert main(["page.md"]) == 0


def test_the_folder_in_which_th_docs_runs_is_not_above_its_neighbours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "th-docs.toml").write_text("timeout = 1\n")
    monkeypatch.chdir(tmp_path / "here")
    assert configuration(Path("../page.md"), Configuration()) == Configuration()
