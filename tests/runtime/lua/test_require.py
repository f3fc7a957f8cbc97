"""require: beside the calling file, C libraries, and what it says of those that are missing."""

import os
from pathlib import Path

import pytest

from tests.conftest import Lua
from tests.data_files import data
from tests.processes import run_python

FILES = data(__file__, "FILES")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_names_that_start_with_a_dot_lie_beside_the_calling_file(lua: Lua, tree: Path) -> None:
    printed = lua(f"dofile({str(tree / 'main.lua')!r})")
    assert printed.split() == ["sub", "a", "b.lua", "package", "top"]


def test_such_a_file_runs_each_time(lua: Lua, tree: Path) -> None:
    (tree / "twice.lua").write_text("print(require './top2' == require './top2')")
    (tree / "top2.lua").write_text("return {}")
    assert lua(f"dofile({str(tree / 'twice.lua')!r})") == "false\t\n"


def test_file_without_extension(lua: Lua, tree: Path) -> None:
    (tree / "x.lua").write_text("print(require './sub/data')")
    assert lua(f"dofile({str(tree / 'x.lua')!r})") == "no extension\t\n"


def test_error_in_such_a_file(lua: Lua, tree: Path) -> None:
    (tree / "x.lua").write_text("require './sub/bad'")
    # Lua shortens long names of files at their start.
    assert lua.error(f"dofile({str(tree / 'x.lua')!r})").endswith("/sub/bad.lua:1: inside")


def test_missing_package_is_an_error_at_the_call(lua: Lua) -> None:
    message = lua.error("require 'nosuchpackage'")
    assert message.startswith("module 'nosuchpackage' not found:\n\tno field package.preload")
    assert "C library" not in message


def test_env_is_what_th_does_anyway(lua: Lua) -> None:
    assert lua("require 'env' == dok and type(dok.unpack)").strip() == "function"


@pytest.mark.parametrize("name", ["libnn", "lpeg"])
def test_missing_c_library(lua: Lua, name: str) -> None:
    assert lua.error(f"require '{name}'").endswith(
        f"'{name}' is a C library, and it is not present: it has to be built for LuaJIT 2.1 and "
        "found on package.cpath (LUA_CPATH)"
    )


@pytest.mark.parametrize(
    ("name", "what"), data(__file__, "test_missing_package_that_cannot_be_there")
)
def test_missing_package_that_cannot_be_there(lua: Lua, name: str, what: str) -> None:
    assert lua.error(f"require '{name}'").endswith(f"\n\t'{name}' {what}")


def test_packages_load_without_a_c_library_that_few_functions_need(tmp_path: Path) -> None:
    (tmp_path / "unsup").mkdir()
    (tmp_path / "unsup/init.lua").write_text("require 'libunsup' unsup.name = 'here'")
    program = "print(pcall(require, 'libunsup')) package.path = './?/init.lua;' .. package.path "
    done = run_python(
        "-m",
        "th_shell",
        "-e",
        program + "require 'unsup' print(unsup.name)",
        cwd=tmp_path,
        timeout=60,
        env=os.environ | {"LUA_PATH": ""},
    )
    first, *_, last = done.stdout.splitlines()
    assert first == "false\tmodule 'libunsup' not found:" and last == "here\t"
    assert done.stderr == (
        "th: the C library 'libunsup' is not present: what unsup computes in C does not work\n"
    )


def test_library_that_a_package_hands_to_ffi(lua: Lua) -> None:
    source = "require('ffi').load(package.searchpath('libTHNN', package.cpath))"
    assert lua.error(source) == (
        "the C library 'libTHNN' is not present: it was not found on package.cpath (LUA_CPATH)"
    )


def test_library_that_needs_the_references_core(lua: Lua, tmp_path: Path) -> None:
    library = tmp_path / "libold.so"
    library.write_bytes(b"\x7fELF...\0luaT_pushudata\0")
    source = f"""
        local old = package.cpath
        package.cpath = {str(tmp_path)!r} .. '/?.so'
        local _, message = pcall(require, 'libold')
        package.cpath = old
        print(message)"""
    assert lua.run(source) == (
        f"the C library 'libold' ({library}) is built against Torch7's own C core, which is not "
        "part of this program\t\n"
    )


def test_a_broken_library_says_which(lua: Lua, tmp_path: Path) -> None:
    (tmp_path / "broken.so").write_bytes(b"no library")
    source = f"""
        local old = package.cpath
        package.cpath = {str(tmp_path)!r} .. '/?.so'
        local _, message = pcall(require, 'broken')
        package.cpath = old
        print(message)"""
    assert f"error loading module 'broken' from file '{tmp_path}/broken.so'" in lua.run(source)


def test_own_packages_come_before_those_on_the_path(lua: Lua, tmp_path: Path) -> None:
    (tmp_path / "paths.lua").write_text("error('not this one')")
    source = f"""
        local old = package.path
        package.path = {str(tmp_path)!r} .. '/?.lua'
        print(require 'paths' == paths, require 'torch' == torch, require 'xlua' == xlua)
        package.path = old"""
    assert lua.run(source) == "true\ttrue\ttrue\t\n"


def test_goto_is_reserved_to_those_who_ask(lua: Lua) -> None:
    assert lua("return loadstring('local goto = 1')") == (
        "nil\t[string \"local goto = 1\"]:1: '<name>' expected near 'goto'\t\n"
    )
    assert lua("return loadstring('do goto on end ::on:: return 1')()") == "1\t\n"


def test_a_package_that_can_be_installed_is_told(lua: Lua) -> None:
    message = lua.error("require 'optim.sgd'")
    assert message.startswith("module 'optim.sgd' not found:\n\tno field package.preload")
    assert message.endswith(
        "\n\t'optim' (optimization: sgd, adam and others) is a package of Lua files: "
        "th --install optim brings it"
    )


@pytest.mark.parametrize("name", ["libTHNN.so", "own.so"])
def test_libraries_for_the_references_tensors_are_not_loaded(
    lua: Lua, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_bytes(b"\x7fELF THDoubleTensor_data\0")
    message = lua.error(f"require('ffi').load('{tmp_path}/{name}')")
    assert message == (
        f"the C library '{tmp_path}/{name}' works on tensors of Torch7's own C core, which is not "
        "part of this program"
    )
