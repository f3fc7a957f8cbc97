"""The language server, as an editor speaks with it: one process for all tests."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.data_files import data
from tests.processes import run_python
from tests.th_shell.editor.client import Client

UTIL = data(__file__, "UTIL")
LAYER = data(__file__, "LAYER")
BASE = data(__file__, "BASE")
#: The line of Cyrillic letters and the emoji have other lengths in bytes, characters and UTF-16.
MAIN = data(__file__, "MAIN")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("a project #1%20")
    for name, text in (("util.lua", UTIL), ("layer.lua", LAYER), ("base.lua", BASE)):
        (folder / name).write_text(text)
    (folder / "ran.lua").write_text("io.open('made', 'w')")
    client = Client(folder)
    client.open("main.lua", MAIN)
    yield client
    assert client.close() == ""
    assert not (folder / "made").exists()


def places(found: list[dict[str, Any]], folder: Path) -> list[str]:
    """Locations as 'file:line:column-end', from 0."""
    return [
        f"{one['uri'].rpartition('/')[2]}:{one['range']['start']['line']}:"
        f"{one['range']['start']['character']}-{one['range']['end']['character']}"
        for one in found
    ]


def ranges(found: list[dict[str, Any]]) -> list[tuple[int, int, int, str]]:
    return [
        (
            one["range"]["start"]["line"],
            one["range"]["start"]["character"],
            one["range"]["end"]["character"],
            one["message"],
        )
        for one in found
    ]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (MAIN, []),
        ("local я = '😀'; prnt(я)", [(0, 16, 20, "prnt: a global that nothing defines; there is "
          "print")]),
        ("local я = '😀' = 1", [(0, 15, 16, "syntax error: unexpected symbol near '=': LuaJIT does "
          "not compile it; correct it")]),
        ("x = torch.ones(2):cmull(1)\ny = = 1\nz = = 1", [(0, 18, 23, ":cmull(): no tensor has "
          "it; there is cmul"), (1, 4, 5, "syntax error: unexpected "
          "symbol near '=': LuaJIT does not compile it; correct it"), (2, 4, 5, "syntax error: "
          "unexpected symbol near '=': LuaJIT does not compile it; correct it")]),
        ("", []),
    ],
)  # fmt: skip
def test_diagnostics_while_typing(
    client: Client, source: str, expected: list[tuple[int, int, int, str]]
) -> None:
    client.open("typed.lua", "x = 1")
    assert ranges(client.change("typed.lua", source)) == expected


@pytest.mark.thorough
def test_a_module_that_is_not_saved_yet(client: Client) -> None:
    assert client.open("needs.lua", "require 'unsaved'") != []
    client.open("unsaved.lua", "return {}")
    assert client.change("needs.lua", "require 'unsaved' ") == []


def test_what_an_open_file_defines_counts_for_others(client: Client) -> None:
    client.open("one.lua", "")
    assert client.open("two.lua", "from_one()") != []
    client.change("one.lua", "function from_one() end")
    assert client.change("two.lua", "from_one() ") == []
    client.change("one.lua", "function from_one() end x = = 1")
    assert client.change("two.lua", "from_one()") == []


@pytest.mark.parametrize(("line", "character", "words"), data(__file__, "test_hover"))
def test_hover(client: Client, line: int, character: int, words: list[str]) -> None:
    text = client.at("hover", "main.lua", line, character)["contents"]["value"]
    assert [word for word in words if word not in text] == []


def test_hover_on_a_package_that_is_not_loaded(client: Client) -> None:
    client.open("json.lua", "local cjson = require 'cjson'\nprint(cjson.encode({}))")
    assert "cjson.encode" in client.at("hover", "json.lua", 1, 14)["contents"]["value"]


def test_hover_where_nothing_is(client: Client) -> None:
    assert client.at("hover", "main.lua", 2, 15) is None
    assert client.at("hover", "main.lua", 90, 0) is None


@pytest.mark.parametrize(("typed", "some", "none"), data(__file__, "test_completion"))
def test_completion(client: Client, typed: str, some: list[str], none: list[str]) -> None:
    client.change("main.lua", MAIN + typed)
    column = len(typed.encode("utf-16-le")) // 2
    found = client.at("completion", "main.lua", MAIN.count("\n"), column)
    labels = [one["label"] for one in found["items"]]
    assert [one for one in some if one not in labels] == []
    assert [one for one in none if one in labels] == []
    start = found["items"][0]["textEdit"]["range"]["start"]["character"]
    head = typed.encode("utf-16-le")[: 2 * start].decode("utf-16-le")
    assert head == typed.rstrip("abcdefghijklmnopqrstuvwxyzLS")
    client.change("main.lua", MAIN)


@pytest.mark.parametrize(
    ("typed", "label", "active"),
    [
        ("torch.zeros(", "torch.zeros([*Tensor*], (LongStorage | dim1 [dim2...]))", 1),
        ("x:narrow(1, ", "x:narrow(index, long, long)", 1),
        ("util.add(1, ", "add(a, b)", 1),
        ("twice(", "twice(a, b)", 0),
        ("nn.Layer(3, f(1), ", "Layer(size, rate)", None),
        ("layer:backward(x, ", "backward(input, gradOutput)", 1),
    ],
)
def test_signature(client: Client, typed: str, label: str, active: int | None) -> None:
    client.change("main.lua", MAIN + typed)
    found = client.at("signatureHelp", "main.lua", MAIN.count("\n"), len(typed))
    first = found["signatures"][0]
    assert (first["label"], first.get("activeParameter")) == (label, active)
    if active is not None:
        start, end = first["parameters"][active]["label"]
        assert label[start:end] in label
    client.change("main.lua", MAIN)


@pytest.mark.parametrize(("line", "character", "expected"), data(__file__, "test_definition"))
def test_definition(client: Client, line: int, character: int, expected: list[str]) -> None:
    found = client.at("definition", "main.lua", line, character)
    assert places(found, client.folder) == expected


def test_definition_of_a_method(client: Client) -> None:
    client.open("uses.lua", "local l = nn.Layer(1)\nl:backward(1, 2)")
    found = client.at("definition", "uses.lua", 1, 4)
    assert places(found, client.folder) == ["base.lua:1:14-22"]


@pytest.mark.parametrize(
    ("line", "character", "expected"),
    data(__file__, "test_references"),
)
def test_references(client: Client, line: int, character: int, expected: list[str]) -> None:
    found = client.at(
        "references", "main.lua", line, character, context={"includeDeclaration": True}
    )
    assert places(found, client.folder) == expected


@pytest.mark.parametrize(
    ("line", "character", "new", "expected"),
    data(__file__, "test_rename"),
)
def test_rename(client: Client, line: int, character: int, new: str, expected: list[str]) -> None:
    found = client.at("rename", "main.lua", line, character, newName=new)
    [edits] = found["changes"].values()
    assert [where.partition(":")[2] for where in places(
        [{"uri": "x", **one} for one in edits], client.folder)] == expected  # fmt: skip
    assert {one["newText"] for one in edits} == {new}


@pytest.mark.parametrize(
    ("line", "character", "new", "reason"),
    data(__file__, "test_a_rename_that_cannot_be"),
)
def test_a_rename_that_cannot_be(
    client: Client, line: int, character: int, new: str, reason: str
) -> None:
    assert client.refusal("rename", "main.lua", line, character, newName=new) == reason


def test_what_can_be_renamed(client: Client) -> None:
    found = client.at("prepareRename", "main.lua", 6, 8)
    assert found == {"start": {"line": 6, "character": 6}, "end": {"line": 6, "character": 9}}
    assert "a global" in client.refusal("prepareRename", "main.lua", 4, 10)


def test_symbols(client: Client) -> None:
    client.open(
        "symbols.lua", "function M.a(x) end\nlocal b = function(...) end\nfunction C:d() end"
    )
    found = client.request(
        "textDocument/documentSymbol", {"textDocument": {"uri": client.uri("symbols.lua")}}
    )
    assert [(one["name"], one["detail"], one["kind"]) for one in found] == [
        ("M.a", "(x)", 12),
        ("b", "(...)", 12),
        ("C:d", "()", 6),
    ]


@pytest.mark.parametrize("uri", ["\ud800", "file:///a\ud800", "file:///a%00b", "", "a:b"])
def test_no_file_can_have_such_a_name(client: Client, uri: str) -> None:
    document = {"uri": uri, "languageId": "lua", "version": 1, "text": "x = 1 -- \f\u2028\nf("}
    client.notify("textDocument/didOpen", {"textDocument": document})
    assert [one["range"]["start"]["line"] for one in client.wait(uri)] == [1]
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})


@pytest.mark.parametrize("uri", ["\ud800", "file:///a\ud800", "file:///a%00b", "", "file://["])
def test_nothing_is_there(client: Client, uri: str) -> None:
    place = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}
    assert client.request("textDocument/hover", place) is None


def test_texts_are_sent_whole(client: Client) -> None:
    assert client.capabilities["textDocumentSync"]["change"] == 1


def test_files_that_are_not_open(client: Client) -> None:
    assert client.at("hover", "nowhere.lua", 0, 0) is None
    (client.folder / "latin.lua").write_bytes(b"-- caf\xe9\nfunction latin_one() end\n")
    found = client.request("textDocument/documentSymbol",
                           {"textDocument": {"uri": client.uri("latin.lua")}})  # fmt: skip
    assert [one["name"] for one in found] == ["latin_one"]


def test_what_was_found_goes_where_a_program_is_closed(client: Client) -> None:
    uri = client.uri("closed.lua")
    assert client.open("closed.lua", "foo(")
    del client.diagnostics[uri]
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert client.wait(uri) == []


def test_a_program_without_a_name(client: Client) -> None:
    document = {"uri": "untitled:New", "languageId": "lua", "version": 1, "text": "foo("}
    client.notify("textDocument/didOpen", {"textDocument": document})
    assert len(client.wait("untitled:New")) == 1
    client.notify("textDocument/didClose", {"textDocument": {"uri": "untitled:New"}})


@pytest.mark.thorough
def test_a_file_that_is_saved(client: Client) -> None:
    client.open("saved.lua", "from_disk()")
    (client.folder / "new.lua").write_text("function from_disk() end")
    client.diagnostics.clear()
    client.notify("textDocument/didSave", {"textDocument": {"uri": client.uri("saved.lua")}})
    assert client.wait(client.uri("saved.lua")) == []


@pytest.mark.slow
def test_it_is_quick(client: Client) -> None:
    text = "\n".join(f"local function f{i}(x)\n  return x:sum() + {i}\nend" for i in range(340))
    client.open("long.lua", text)
    times = []
    for i in range(5):
        start = time.monotonic()
        assert client.change("long.lua", f"{text}\nprnt({i})") != []
        times.append(time.monotonic() - start)
    assert min(times) < 0.3
    start = time.monotonic()
    client.at("hover", "long.lua", 1, 12)
    client.at("hover", "long.lua", 1, 12)
    assert (time.monotonic() - start) / 2 < 0.1


@pytest.mark.thorough
def test_without_the_extra(tmp_path: Path) -> None:
    (tmp_path / "pygls.py").write_text("raise ModuleNotFoundError('no', name='pygls')")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from th_shell.cli import main; "
        "sys.exit(main(['--lsp']))"
    )
    ended = run_python("-c", code)
    assert (ended.returncode, ended.stdout, ended.stderr) == (
        2,
        "",
        "th: --lsp needs pygls: pip install 'th-shell[editor]'\n",
    )
