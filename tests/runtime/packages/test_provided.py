"""Packages that come with th: which of two modules of a name `require` takes, and their Python."""

import sys
from pathlib import Path

import pytest

from tests.conftest import Lua
from tests.data_files import data
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.packages import optional
from th_shell.runtime.shell import Engine

CORE = "luaT_pushudata"  # a name in C modules that need Torch7's own core


@pytest.mark.parametrize(
    ("file", "text", "ours"),
    [
        ("image.lua", "return 'theirs'", False),
        ("image/init.lua", "require 'libimage' return 'theirs'", True),
        ("image/init.lua", "return 'theirs'", False),
        ("lfs.lua", "return 'theirs'", False),
        ("image.so", CORE, True),
        ("md5.so", CORE, True),
        ("image.so", "another library", False),
        ("other.lua", "return 'theirs'", True),
    ],
)
def test_which_module_is_taken(tmp_path: Path, file: str, text: str, ours: bool) -> None:
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    engine = Engine()
    engine.values.run(
        f"package.path = '{tmp_path}/?.lua;{tmp_path}/?/init.lua' package.cpath = '{tmp_path}/?.so'"
    )
    name = file.partition("/")[0].partition(".")[0]
    name = "image" if name == "other" else name
    assert (engine.find_module(name) == "") is ours
    if not file.endswith(".so") or ours:
        assert engine.values.eval(f"type(require '{name}')") == ("table" if ours else "string")


def test_preload_comes_first() -> None:
    engine = Engine().values
    engine.run("package.preload.image = function() return 'mine' end")
    assert engine.eval("require 'image'") == "mine"


def test_they_are_loaded_once_and_when_they_are_required(lua: Lua) -> None:
    engine = Engine().values
    assert engine.eval("image == nil and package.loaded.image == nil") is True
    engine.run("x = require 'image'")
    assert engine.eval("x == image and x == require 'image'") is True


def test_the_prompt_is_a_global_and_a_module(lua: Lua) -> None:
    code = "print(repl == require 'trepl', repl == package.loaded.trepl, type(repl))"
    assert lua(code) == "true\ttrue\tfunction\t\n"


def test_dok(lua: Lua) -> None:
    assert (
        lua(
            "local a, x, y = dok.unpack({}, 'f', 'what', "
            "{ arg = 'x', default = 3 }, { arg = 'y', defaulta = 'x' }) print(a.x, x, y)"
        )
        == "3\t3\t3\t\n"
    )
    assert "<f> wrong" in lua.error("dok.error('wrong', 'f')")
    assert lua("print(require 'dok' == dok, require 'dok.inline')") == "true\ttrue\t\n"


@pytest.mark.parametrize(
    ("call", "message"), data(__file__, "test_errors_name_the_function_that_complains")
)
def test_errors_name_the_function_that_complains(lua: Lua, call: str, message: str) -> None:
    assert lua.error(call) == message


def test_a_library_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(TorchError) as error:
        optional("PIL", "Pillow", "image")
    assert str(error.value) == (
        "Pillow is needed for this and cannot be loaded (import of PIL halted; None in "
        "sys.modules): pip install 'th-shell[image]'"
    )
