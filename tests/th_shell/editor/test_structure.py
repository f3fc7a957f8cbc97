"""Options, members and the structure of programs, as an editor asks for them."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.data_files import data
from tests.th_shell.editor.client import Client

MAIN = data(__file__, "MAIN")
UTIL = data(__file__, "UTIL")
GATE = data(__file__, "GATE")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("project")
    (folder / "util.lua").write_text(UTIL)
    (folder / "gate.lua").write_text(GATE)
    tools = {  # stand for StyLua, which writes small letters, and for luacheck
        "stylua": "tr A-Z a-z",
        "luacheck": "grep -q checked 0.lua && echo './0.lua:1:8-14: (W111) not standard'",
    }
    for name, line in tools.items():
        (folder / name).write_text(f"#!/bin/sh\n{line}\n")
        (folder / name).chmod(0o755)
    client = Client(folder, PATH=f"{folder}:{os.environ['PATH']}")
    client.open("main.lua", MAIN)
    yield client
    assert client.close() == ""


@pytest.mark.parametrize(("typed", "expected"), data(__file__, "test_completion"))
def test_completion(client: Client, typed: str, expected: list[str]) -> None:
    client.change("main.lua", MAIN + typed)
    found = client.at("completion", "main.lua", MAIN.count("\n"), len(typed))["items"]
    listed = [f"{one['label']} | {one['detail']}" for one in found]
    assert listed[: len(expected)] == expected
    client.change("main.lua", MAIN)


@pytest.mark.parametrize(("word", "expected"), data(__file__, "test_hover"))
def test_hover(client: Client, word: str, expected: str) -> None:
    line = next(i for i, text in enumerate(MAIN.split("\n")) if word in text)
    character = MAIN.split("\n")[line].index(word) + len(word)
    found = client.at("hover", "main.lua", line, character)["contents"]["value"]
    assert found == f"```lua\n{expected}\n```"


def test_highlights(client: Client) -> None:
    client.open("marks.lua", "local x = 1\nx = x.x")
    found = client.at("documentHighlight", "marks.lua", 1, 0)
    assert [tuple(one["range"]["start"].values()) for one in found] == [(0, 6), (1, 0), (1, 4)]
    assert client.at("documentHighlight", "marks.lua", 0, 8) is None


def test_folds(client: Client) -> None:
    client.open("folds.lua", "function f()\n  if x then\n    y()\n  end\nend\nt = {\n}\n")
    found = client.of("foldingRange", "folds.lua")
    assert [(one["startLine"], one["endLine"]) for one in found] == [(0, 4), (1, 3), (5, 6)]


def test_symbols_of_the_workspace(client: Client) -> None:
    found = client.request("workspace/symbol", {"query": "gATE:"})
    assert [(one["name"], one["kind"]) for one in found] == [("Gate:__init", 6)]


def test_kinds_of_names(client: Client) -> None:
    client.open("kinds.lua", "local я = '😀' .. f(t.a)\nfunction M:m(p) p:n() end")
    found = client.of("semanticTokens/full", "kinds.lua")["data"]
    assert [found[i : i + 5] for i in range(0, len(found), 5)] == [
        [0, 6, 1, 1, 0], [0, 12, 1, 2, 0], [0, 2, 1, 1, 0], [0, 2, 1, 4, 0],
        [1, 9, 1, 1, 0], [0, 2, 1, 4, 0], [0, 2, 1, 0, 0], [0, 3, 1, 0, 0], [0, 2, 1, 3, 0],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "new"), [("torch.zeross(1)", "zeros"), ("if x = 1 then end", "==")]
)
def test_a_fix(client: Client, source: str, new: str) -> None:
    [found] = client.open("fix.lua", source)
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 9}}
    [action] = client.of(
        "codeAction", "fix.lua", range=everything, context={"diagnostics": [found]}
    )
    [[edit]] = action["edit"]["changes"].values()
    assert (action["title"], edit) == (
        f"Replace by {new}",
        {"range": found["range"], "newText": new},
    )


def test_sizes_of_tensors(client: Client) -> None:
    client.open("sizes.lua", "local x, n = torch.zeros(2, 3), 1\nlocal y = x:t()\n")
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}
    found = client.of("inlayHint", "sizes.lua", range=everything)
    assert [(one["position"]["character"], one["label"]) for one in found] == [
        (7, ": 2x3"),
        (7, ": 3x2"),
    ]


def test_formatting(client: Client) -> None:
    client.open("format.lua", "X = 1\nY = 2")
    options = {"tabSize": 2, "insertSpaces": True}
    [edit] = client.of("formatting", "format.lua", options=options)
    assert (edit["newText"], edit["range"]["end"]["line"]) == ("x = 1\ny = 2", 2)


@pytest.mark.thorough
def test_without_stylua_nothing_is_formatted(tmp_path: Path) -> None:
    client = Client(tmp_path, PATH=str(tmp_path))
    assert "documentFormattingProvider" not in client.capabilities
    client.close()


@pytest.mark.slow
def test_it_ends_at_once(tmp_path: Path) -> None:
    client = Client(tmp_path)
    start = time.monotonic()
    client.close()
    assert time.monotonic() - start < 0.5


def test_notes_are_hints(client: Client) -> None:
    found = client.open("notes.lua", "local x = 1\nlocal y = 1 print(y) local y = 2 print(y)")
    assert [(one["severity"], one.get("tags")) for one in found] == [(4, [1]), (4, None)]


def test_findings_of_luacheck_are_shown_of_what_is_typed(client: Client) -> None:
    client.open("typed.lua", "")
    [found] = client.change("typed.lua", "x = 1  checked = x")
    assert (found["message"], found["severity"]) == (
        "checked: not standard; see luacheck's W111",
        4,
    )
    assert found["range"]["start"] == {"line": 0, "character": 7}


@pytest.mark.thorough
def test_a_broken_document_has_answers(client: Client) -> None:
    source = "local t = {a = 1}\nfunction f( if t. then t:"
    client.open("broken.lua", source)
    for character in range(26):
        for what in ("hover", "completion", "documentHighlight", "definition", "signatureHelp"):
            client.at(what, "broken.lua", 1, character)
    for what in ("foldingRange", "semanticTokens/full", "documentSymbol"):
        assert client.of(what, "broken.lua") is not None
