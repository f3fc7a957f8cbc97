"""``th --install``: from local repositories of git, and folders, to a folder of modules."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.packages import command
from th_shell.packages.place import search_users_tree, users_tree
from th_shell.runtime.shell import Engine
from th_shell.visible import UsageError

if shutil.which("git") is None:
    pytest.skip("git is not here", allow_module_level=True)


def git(folder: Path, *words: str) -> str:
    """Run git with an author of its own."""
    author = ["-c", "user.name=A", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    done = subprocess.run(
        ["git", *author, *words], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def repository(folder: Path, **files: str) -> Path:
    """A repository with some files: 'a__b' is b in the folder a, '_lua' stands for '.lua'."""
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_lua", ".lua")
        path = path.with_name(path.name.replace("_rockspec", ".rockspec").replace("_txt", ".txt"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    if not (folder / ".git").exists():
        git(folder, "init", "--quiet")
    git(folder, "add", "-A")
    git(folder, "commit", "--quiet", "-m", "x")
    return folder


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the repositories of two packages, of which each test has a copy."""
    folder = tmp_path_factory.mktemp("originals")
    spec = "package = '{0}' version = 'scm-1' dependencies = {{{1}}} build = {{type = 'cmake'}}"
    repository(
        folder / "base",
        init_lua="return {name = 'base'}",
        sub__part_lua="return 'part'",
        lib__code_txt="",
        rocks__base_rockspec=spec.format("base", "'torch >= 7.0'"),
    )
    repository(
        folder / "upper",
        init_lua="return {base = require 'base', part = require 'base.sub.part'}",
        upper_rockspec=spec.format("upper", "'torch >= 7.0', 'base'"),
    )
    return folder


@pytest.fixture
def sources(originals: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the repositories of two packages that are known by name."""
    folder = tmp_path / "sources"
    shutil.copytree(originals, folder)
    names = {name: str(folder / name) for name in ("base", "upper")}
    monkeypatch.setattr(command, "source_of", names.get)
    (tmp_path / "rockspecs").mkdir()
    monkeypatch.setattr(command, "ROCKS", str(tmp_path / "rockspecs"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    return folder


def run(*words: str) -> int:
    """Run it as th does."""
    return command.run(words[0], words[1:])


def files(tree: str | Path) -> list[str]:
    """The Lua files in a tree."""
    return sorted(str(path.relative_to(tree)) for path in Path(tree).rglob("*.lua"))


@pytest.mark.thorough
def test_a_package_comes_with_what_it_needs(
    sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("install", "upper", "xlua") == 0
    commit = git(sources / "upper", "rev-parse", "HEAD")
    assert capsys.readouterr().out == (
        "xlua is part of th\n"
        f"upper scm-1 ({commit[:12]}): 1 Lua file\n"
        f"base scm-1 ({git(sources / 'base', 'rev-parse', 'HEAD')[:12]}): 2 Lua files\n"
    )
    assert files(users_tree()) == ["base/init.lua", "base/sub/part.lua", "upper/init.lua"]
    with Engine() as engine:
        search_users_tree(engine)
        assert (
            engine.values.eval("require('upper').base.name .. require('upper').part") == "basepart"
        )
    assert run("list") == 0
    assert f"upper scm-1 ({commit[:12]}) from {sources / 'upper'}\n" in capsys.readouterr().out


@pytest.mark.thorough
def test_what_is_given_is_not_looked_for_elsewhere(
    sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "source_of", lambda name: None)
    assert run("install", str(sources / "upper"), str(sources / "base")) == 0
    assert files(users_tree()) == ["base/init.lua", "base/sub/part.lua", "upper/init.lua"]


@pytest.mark.thorough
def test_a_newer_version_takes_the_place_of_the_old(sources: Path) -> None:
    run("install", "base")
    (sources / "base/sub/part.lua").unlink()
    repository(sources / "base", init_lua="return {name = 'new'}", other_lua="")
    assert run("install", "base") == 0
    assert files(users_tree()) == ["base/init.lua", "base/other.lua"]
    assert "new" in (Path(users_tree()) / "base/init.lua").read_text()


@pytest.mark.thorough
def test_removing(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("install", "upper")
    assert (run("remove", "base"), run("remove", "nothing")) == (1, 1)
    assert capsys.readouterr().err == (
        f"th: base is needed by upper\nth: nothing is not installed in {users_tree()}\n"
    )
    assert run("remove", "upper", "base", "upper") == 0
    assert os.listdir(users_tree()) == [".th"] and os.listdir(f"{users_tree()}/.th") == []


@pytest.mark.thorough
def test_a_url_another_tree_and_modules_that_the_rockspec_lists(
    sources: Path, tmp_path: Path
) -> None:
    spec = "package = 'pen' version = '1-1' build = {modules = {['p'] = 'lua/p/init.lua', "
    spec += "['p.x'] = 'lua/p/x.lua', ['p.c'] = {sources = {'c.c'}}}}"
    repository(
        sources / "pen", lua__p__init_lua="", lua__p__x_lua="", lua__q_lua="", pen_rockspec=spec
    )
    tree = tmp_path / "tree"
    assert run("install", (sources / "pen").as_uri(), "--tree", str(tree)) == 0
    assert files(tree) == ["p/init.lua", "p/x.lua"]
    record = json.loads((tree / ".th/pen.json").read_text())
    assert record["source"].startswith("file://") and len(record["commit"]) == 40


@pytest.mark.thorough
def test_data_that_the_rockspec_installs(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = "package = 'd' version = '1-1' build = {modules = {['d.init'] = 'init.lua', x = 'x.c'}, "
    spec += "install = {lua = {['d.data.a-b'] = 'data/a-b', ['d.t'] = 'data/t.txt'}}}"
    folder = repository(sources / "d", init_lua="", data__a_b="", data__t_txt="", d_rockspec=spec)
    (folder / "data/a_b").rename(folder / "data/a-b")
    (folder / "x.c").touch()
    assert run("install", str(folder)) == 0
    installed = [path for path in Path(users_tree()).rglob("*") if path.is_file()]
    assert sorted(str(path.relative_to(users_tree())) for path in installed) == [
        ".th/d.json",
        "d/data/a-b",
        "d/init.lua",
        "d/t.txt",
    ]
    assert capsys.readouterr().out.startswith("d 1-1: 1 Lua file\n")


@pytest.mark.thorough
def test_a_repository_that_is_called_as_its_file(sources: Path) -> None:
    repository(sources / "json.lua", json_lua="return {}")
    assert run("install", str(sources / "json.lua")) == 0
    assert files(users_tree()) == ["json.lua"]


@pytest.mark.thorough
def test_a_url_as_rockspecs_write_it(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.{sources.as_uri()}/.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "https://github.com/somebody/")
    assert run("install", "git+https://github.com/somebody/base") == 0
    assert run("remove", "base") == 0
    assert run("install", "git://github.com/somebody/base") == 0
    assert files(users_tree()) == ["base/init.lua", "base/sub/part.lua"]


@pytest.mark.thorough
def test_a_folder_without_git_and_rockspec(sources: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "mine.lua").write_text("return 7")
    assert run("install", f"{folder}/") == 0
    assert files(users_tree()) == ["mine.lua"]


@pytest.mark.thorough
def test_the_newest_rockspec_counts(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for version in ("1.9", "1.10", "1.2"):
        spec = f"package = 'p' version = '{version}-1' dependencies = {{'Upper'}}"
        (sources / f"base/p-{version}-1.rockspec").write_text(spec)
    (sources / "base/rocks/base.rockspec").unlink()
    run("install", str(sources / "base"), "upper")
    assert json.loads((Path(users_tree()) / ".th/p.json").read_text())["version"] == "1.10-1"
    capsys.readouterr()
    assert run("remove", "upper") == 1
    assert capsys.readouterr().err == "th: upper is needed by p\n"


@pytest.mark.thorough
def test_files_lie_where_cmake_puts_them(sources: Path, tmp_path: Path) -> None:
    cmake = data(__file__, "test_files_lie_where_cmake_puts_them")
    inner = "INSTALL(DIRECTORY parts/ DESTINATION ${Torch_INSTALL_LUA_PATH_SUBDIR}/mine/parts)"
    folder = repository(
        tmp_path / "torch-mine",
        src__init_lua="return 1",
        src__model__net_lua="",
        test__all_lua="",
        other_lua="",
        inner__parts__a__b_lua="",
        inner__CMakeLists_txt=inner,
        CMakeLists_txt=cmake,
    )
    (tmp_path / "x.lua").touch()
    assert run("install", str(folder)) == 0
    assert files(users_tree()) == [
        "mine/all.lua",
        "mine/deep/init.lua",
        "mine/flat/b.lua",
        "mine/flat/other.lua",
        "mine/init.lua",
        "mine/model/net.lua",
        "mine/parts/a/b.lua",
    ]


@pytest.mark.thorough
def test_variables_of_cmake_that_grow(sources: Path, tmp_path: Path) -> None:
    lines = ["SET(x init.lua)", *["SET(x ${x} ${x})"] * 50, "ADD_TORCH_PACKAGE(p '' ${x})"]
    folder = repository(tmp_path / "p", init_lua="", CMakeLists_txt="\n".join(lines))
    assert run("install", str(folder)) == 0
    assert files(users_tree()) == ["p/init.lua"]


@pytest.mark.thorough
def test_a_package_that_cannot_be_loaded(
    sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository(sources / "broken", init_lua="print('x') io.stderr:write('y\\n') require 'nowhere'")
    repository(sources / "ending", init_lua="os.exit(3)")
    repository(sources / "good", init_lua="")
    repository(sources / "known", init_lua="require 'class'")
    names = ["broken", "ending", "good", "known"]
    assert run("install", *[str(sources / name) for name in [*names, "none"]]) == 1
    out, err = capsys.readouterr()
    assert [line.partition(" ")[0] for line in out.splitlines()] == names
    missing, broken, ending, known = err.splitlines()
    assert "none" in missing
    # LuaJIT cuts paths that are long.
    assert re.fullmatch(
        "th: broken is installed, but require 'broken' fails: "
        "[^ ]*broken/init.lua:1: module 'nowhere' not found",
        broken,
    )
    assert ending == "th: ending is installed, but require 'ending' fails: it ends the program"
    assert known.endswith(
        "known/init.lua:1: module 'class' not found: 'class' (classes) is a package of Lua files: "
        "th --install class brings it"
    )


@pytest.mark.thorough
def test_what_one_command_brings_meets_the_needs_of_the_others(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "source_of", lambda name: None)
    (sources / "base/rocks/base.rockspec").write_text("package = 'Base' version = '1-1'")
    (sources / "base").rename(sources / "base-folder")
    monkeypatch.chdir(sources)
    (tmp_path / "t").mkdir()
    repository(sources / "base-folder", init_lua="")
    repository(sources / "needy", init_lua="require 'Base'", needy_rockspec=NEEDY)
    assert run("install", "--tree", str(tmp_path / "t"), "needy", "base-folder") == 0
    assert files(tmp_path / "t") == ["Base/init.lua", "Base/sub/part.lua", "needy/init.lua"]


NEEDY = "package = 'needy' version = '1-1' dependencies = {'base >= 1'}"


@pytest.mark.thorough
@pytest.mark.parametrize("word", [".", "..", "../mine"])
def test_a_folder_has_its_own_name(
    word: str, sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine/inner").mkdir(parents=True)
    (tmp_path / "mine/init.lua").touch()
    monkeypatch.chdir(tmp_path / "mine" / ("inner" if word == ".." else "."))
    assert run("install", word) == 0
    assert files(users_tree()) == ["mine/init.lua"]


@pytest.mark.thorough
def test_edits_that_are_not_committed_are_installed(sources: Path) -> None:
    (sources / "base/init.lua").write_text("return 'edited'")
    assert run("install", str(sources / "base")) == 0
    assert (Path(users_tree()) / "base/init.lua").read_text() == "return 'edited'"
    assert json.loads((Path(users_tree()) / ".th/base.json").read_text())["commit"] == ""


@pytest.mark.thorough
def test_a_package_of_which_folders_are_gone_is_removed(sources: Path) -> None:
    run("install", "upper")
    shutil.rmtree(Path(users_tree()) / "base/sub")
    assert run("remove", "base", "upper") == 0
    assert os.listdir(users_tree()) == [".th"]


@pytest.mark.thorough
def test_nothing_is_removed_where_one_is_needed(
    sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, need in {"c": "'b'", "b": "'a'", "a": ""}.items():
        spec = f"package = '{name}' version = '1-1' dependencies = {{{need}}}"
        repository(sources / name, init_lua="", **{f"{name}_rockspec": spec})
    run("install", *[str(sources / name) for name in "abc"])
    capsys.readouterr()
    assert run("remove", "a", "b", "d") == 1
    assert capsys.readouterr().err == (
        f"th: b is needed by c; d is not installed in {users_tree()}\n"
    )
    assert files(users_tree()) == ["a/init.lua", "b/init.lua", "c/init.lua"]


@pytest.mark.thorough
def test_nothing_is_overwritten_that_belongs_to_others(
    sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = Path(users_tree()) / "base/init.lua"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    assert run("install", "base") == 1
    assert capsys.readouterr().err == f"th: base: {own} is there, of no package\n"
    assert own.read_text() == "mine" and files(users_tree()) == ["base/init.lua"]


@pytest.mark.thorough
@pytest.mark.parametrize(("spec", "message"), data(__file__, "test_bad_rockspecs"))
def test_bad_rockspecs(
    sources: Path, spec: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    repository(sources / "bad", init_lua="", bad_rockspec=spec)
    (sources / "x.lua").write_text("")
    assert run("install", str(sources / "bad")) == 1
    assert message in capsys.readouterr().err
    assert not os.path.exists(users_tree()) or files(users_tree()) == []


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("spec", "message"),
    data(__file__, "test_rockspecs_without_end"),
)
def test_rockspecs_without_end(
    sources: Path, spec: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    repository(sources / "endless", init_lua="", endless_rockspec=spec)
    assert run("install", str(sources / "endless")) == 1
    assert capsys.readouterr().err == f"th: endless.rockspec: {message}\n"


def test_folders_with_pipes_and_devices(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = sources / "piped"
    folder.mkdir()
    (folder / "init.lua").write_text("")
    os.mkfifo(folder / "pipe.lua")
    assert run("install", str(folder)) == 0
    assert files(users_tree()) == ["piped/init.lua"]
    (folder / "piped.rockspec").symlink_to("/dev/zero")
    assert run("install", str(folder)) == 1
    assert capsys.readouterr().err == (
        "th: piped.rockspec: it is a pipe, a device or the like, and no file\n"
    )


@pytest.mark.thorough
def test_what_cannot_be_installed(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository(
        sources / "odd", init_lua="", odd_rockspec="package = 'odd' dependencies = {'strange > 1'}"
    )
    assert run("install", "unknown") == 1
    assert run("install", str(sources / "odd")) == 1
    assert run("install", str(sources / "nowhere")) == 1
    unknown = "the sources of {} are not known: give the URL of its repository"
    first, second, third = capsys.readouterr().err.splitlines()
    assert first == "th: " + unknown.format("unknown")
    assert second == "th: odd needs strange: " + unknown.format("strange")
    assert "nowhere" in third
    assert files(users_tree()) == ["odd/init.lua"]


@pytest.mark.parametrize(
    ("words", "message"),
    data(__file__, "test_wrong_words"),
)
def test_wrong_words(words: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        run(*words)
    assert str(caught.value) == message


@pytest.mark.thorough
def test_a_name_that_torchs_rockspecs_have(
    sources: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    other = repository(tmp_path / "other", init_lua="return 'other'")
    spec = "package = 'other' version = '{0}' source = {{url = '{1}'}}"
    rocks = {"other-1.0-0_rockspec": spec.format("1.0-0", "git://nowhere"),
             "other-scm-1_rockspec": spec.format("scm-1", f"git+{other.as_uri()}"),
             "other-part-2.0-1_rockspec": spec.format("2.0-1", "git://nowhere")}  # fmt: skip
    monkeypatch.setattr(command, "ROCKS", str(repository(tmp_path / "rocks", **rocks)))
    assert run("install", "other") == 0
    assert run("install", "others") == 1
    out, err = capsys.readouterr()
    assert re.fullmatch(r"other \(\w+\): 1 Lua file\n", out)
    assert err == "th: the sources of others are not known: give the URL of its repository\n"


def test_where_the_rockspecs_cannot_be_had(
    sources: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "ROCKS", "file:///nowhere/rocks")
    assert run("install", "unknown") == 1
    told = capsys.readouterr().err  # what git says
    assert told.startswith("th: ") and "not known" not in told


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("name", "code", "told"),
    data(__file__, "test_c_code_that_is_not_built"),
)  # fmt: skip
def test_c_code_that_is_not_built(
    sources: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    code: str,
    told: str,
) -> None:
    run("install", str(repository(tmp_path / name, init_lua=code, x_c="", **{"y.c": ""})))
    pattern = re.escape(told).replace(r"\{\}", r"\S+")
    assert re.match(pattern, capsys.readouterr().out)


def test_pictures_come_to_a_package_that_stays(
    sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cmake = "ADD_TORCH_PACKAGE(image x.c init.lua '')\n"
    cmake += 'INSTALL(DIRECTORY "assets" DESTINATION "${Torch_INSTALL_LUA_PATH_SUBDIR}/image")'
    files = {
        "CMakeLists.txt": cmake,
        "x.c": "",
        "assets/fabio.png": "",
        "init.lua": "require 'libimage'",
    }
    path = repository(tmp_path / "image", **files)
    run("install", str(path))
    told = capsys.readouterr().out
    assert "which stays" in told and re.search(r"^image .*: 1 other file$", told, re.MULTILINE)
    assert [file.name for file in Path(users_tree(), "image").rglob("*.*")] == ["fabio.png"]
