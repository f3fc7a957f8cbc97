"""``th --convert`` at the command line."""

import re
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open

from tests.data_files import data
from tests.runtime.io.torch7_files import FILES
from tests.runtime.packages.test_full_disk import little_room
from th_shell import convert
from th_shell.cli import main
from th_shell.options import Options, parse
from th_shell.runtime import Table, TorchObject, save

pytestmark = pytest.mark.needs("onnxruntime")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("in.t7").write_bytes(FILES["table.binary.t7"])
    return tmp_path


def test_words() -> None:
    assert parse(["--convert", "a.t7", "b.npz"]) == Options(
        program="convert", words=("a.t7", "b.npz")
    )


@pytest.mark.parametrize(("words", "status", "message"), data(__file__, "test_outcomes"))
def test_outcomes(
    words: list[str], status: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--convert", *words]) == status
    error = capsys.readouterr().err
    assert error.startswith(message) if message else error == ""


@pytest.mark.parametrize("target", ["out.npz", "out.t7", "out.safetensors"])
def test_the_same_bytes_twice(target: str) -> None:
    written = []
    for _ in range(2):
        assert main(["--convert", "in.t7", target]) == 0
        written.append(Path(target).read_bytes())
    assert written[0] == written[1] != b""


def test_a_part_of_a_file() -> None:
    net = TorchObject("nn.Sequential", {"modules": Table(), "output": np.ones(3)})
    save("in.t7", Table({"model": net}))
    for words, size in ([], 0), (["--all", "--select", "model"], 3):
        assert main(["--convert", "in.t7", "out.safetensors", *words]) == 0
        with safe_open("out.safetensors", "numpy") as file:
            found = {name: file.get_tensor(name).size for name in file.keys()}
        assert found == ({"output": 3} if size else {})


@pytest.mark.parametrize("target", ["x.safetensors", "x.npz"])
def test_what_is_left_out_is_told(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    layer = TorchObject("nn.Linear", {"weight": np.ones(3), "gradWeight": np.ones(3)})
    for count, tensors in (1, "1 tensor"), (2, "2 tensors"):
        save("in.t7", layer)
        assert main(["--convert", "in.t7", target]) == 0
        told = f"without gradients and working memory: {tensors}; --all keeps them\n"
        assert capsys.readouterr().out == told, count
        assert main(["--convert", "in.t7", target, "--all"]) == 0
        assert capsys.readouterr().out == ""
        layer.fields["output"] = np.ones(3)


def test_that_doubles_become_floats_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    note = ", with float32 for the net's float64: --type double keeps it"
    for kind, words, told in [
        ("f8", [], note),
        ("f8", ["--type", "double"], ""),
        ("f8", ["--type", "float"], ""),
        ("f4", [], ""),
    ]:
        weight = np.ones((2, 3), kind)
        save("in.t7", TorchObject("nn.Linear", {"weight": weight, "bias": weight[:, 0]}))
        assert main(["--convert", "in.t7", "x.pt", "--no-check", *words]) == 0
        assert capsys.readouterr().out.splitlines()[0] == f"wrote x.pt and x.py{told}"


@pytest.mark.parametrize("ending", ["pt", "onnx", "safetensors", "npz", "t7"])
def test_a_full_disk_keeps_the_old_file(ending: str, capsys: pytest.CaptureFixture[str]) -> None:
    layer = TorchObject("nn.Linear", {"weight": np.ones((60, 60)), "bias": np.ones(60)})
    save("in.t7", layer if ending in ("pt", "onnx") else Table({"x": layer, "text": "x" * 5000}))
    target = f"x.{ending}"
    for name in (target, "x.py"):
        Path(name).write_text("old")
    words = ["--no-check"] if ending in ("pt", "onnx") else []
    main(["--convert", "in.t7", f"warm.{ending}", *words])  # which imports what there is to import
    capsys.readouterr()
    with little_room():
        assert main(["--convert", "in.t7", target, *words]) == 1
    assert capsys.readouterr() == ("", f"th: {target}: File too large\n")
    assert Path(target).read_text() == Path("x.py").read_text() == "old"


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    """All options and names of new files are told, in lines that fit."""
    assert main(["--convert", "--help"]) == 0
    told = capsys.readouterr().out
    endings = [ending for ending in convert._OPTIONS if ending not in ("", "/")]
    assert "\n  folder/ " in told
    words = {*convert._NEEDS, *convert._FLAGS, *endings}
    assert words <= set(re.findall(r"(?<![\w.])(?:--|\.)[\w-]+", told))
    assert max(map(len, told.splitlines())) <= 100


def test_what_is_in_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    save("in.t7", TorchObject("nn.Tanh", {"_type": "x", "a\n": TorchObject("nn.\x1b[31m")}))
    assert main(["--convert", "in.t7"]) == 0
    assert capsys.readouterr().out == (
        "in.t7: nn.Tanh -> nn.Tanh()\n  input: unknown sizes\n  a\\n  nn.\\027[31m\n"
    )
    assert main(["--convert", "in.t7", "--input", "0"]) == 2
    assert capsys.readouterr().err.startswith("th: '0' is no list of sizes such as 1x3x224x224\n")


def test_files() -> None:
    main(["--convert", "in.t7", "out.t7", "--format", "ascii"])
    assert Path("out.t7").read_bytes() == FILES["table.ascii.t7"]
    main(["--convert", "out.t7", "again.t7"])
    assert Path("again.t7").read_bytes() == FILES["table.binary.t7"]


def test_a_damaged_file_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.t7").write_bytes(b"\x63\0\0\0")
    assert main(["--convert", "bad.t7", "out.npz"]) == 1
    assert capsys.readouterr().err == "th: unknown object (bad.t7, at byte 4)\n"
    assert not Path("out.npz").exists()


def test_a_program_whose_classes_derive_from_those_of_nn(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which is loaded before it."""
    monkeypatch.setenv("LUA_PATH", "./?.lua;;")
    Path("nn.lua").write_text("nn = {} torch.class('nn.Module')")
    Path("own.lua").write_text("torch.class('Own', 'nn.Module') error('loaded ' .. type(nn), 0)")
    save("net.t7", TorchObject("nn.Tanh", {}))
    words = ["--convert", "net.t7", "net.onnx", "--input", "1x2", "--lua", "own.lua"]
    assert main(words) == 1
    assert capsys.readouterr().err == "th: loaded table\n"


def test_what_is_not_checked(capsys: pytest.CaptureFixture[str]) -> None:
    save("net.t7", TorchObject("nn.Tanh", {}))
    words = ["--convert", "net.t7", "net.onnx", "--input", "1x3", "--no-check"]
    assert main([*words, "--require-check"]) == 1
    assert capsys.readouterr() == ("", "th: not checked: as was asked for\n")
    assert not Path("net.onnx").exists()
    assert main(words) == 0
    assert capsys.readouterr().out == "wrote net.onnx\nNOT CHECKED: as was asked for\n"
