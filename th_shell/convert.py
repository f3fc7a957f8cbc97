"""``th --convert``: writes what a file of Torch7 holds as another file.

Nets are written for other programs by `th_shell.runtime.export`, and run once beside what was
written; all other kinds of files are written without any Lua that runs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from th_shell.visible import UsageError, columns, complain, encodable, read_words, visible

if TYPE_CHECKING:
    from th_shell.runtime.export import Report
    from th_shell.runtime.shell import Engine

Prepare = Callable[["Engine"], None]  # lets an engine find the packages that are installed

_FAILURE = 1
_CHOICES = {"--format": ("binary", "ascii", "b32"), "--type": ("float", "double")}
_NEEDS = {
    "--format": "binary, ascii or b32",
    "--lua": "a Lua program that defines classes of the net",
    "--python": "a Python that has PyTorch",
    "--select": "the path of a module, as model.1.2",
    "--input": "the sizes of the net's input, as 1x3x224x224",
    "--sample": "a .t7 file with an input",
    "--treat": "classes, as my.Residual=nn.Sequential",
    "--type": "float or double",
}
_FLAGS = ("--no-check", "--require-check", "--all", "--stub")
_OF_NETS = tuple(
    "--select --input --sample --treat --type --lua --no-check --require-check".split()
)
_NETS = (".pt", ".onnx", "/")
_WEIGHTS = (".safetensors", ".h5", ".npz")
_OF_WEIGHTS = ("--select", "--type", "--all")
_OPTIONS = {  # the options for new files, by the ends of their names
    ".pt": (*_OF_NETS, "--python", "--stub"),
    "/": (*_OF_NETS, "--python"),
    ".onnx": _OF_NETS,
    ".safetensors": _OF_WEIGHTS,
    ".h5": _OF_WEIGHTS,
    ".npz": _OF_WEIGHTS,
    ".t7": ("--format",),
    "": ("--select", "--input", "--treat"),  # no new file: what is in this one
}


def run(words: Sequence[str], prepare: Prepare) -> int:
    """Run it; returns the exit status. words: those behind --convert. Raises UsageError."""
    if "--help" in words or "-h" in words:
        print(Path(__file__).with_suffix(".txt").read_text("utf-8"), end="")
        return 0
    files, options = read_words("convert", words, _NEEDS, _FLAGS)
    if not 1 <= len(files) <= 2:
        raise UsageError("--convert needs a .t7 file, and the name of the new file")
    source, target = files[0], "".join(files[1:])  # "": there is to be no new file
    ending = _ending(target, options)
    for option, choices in _CHOICES.items():
        if options.get(option, choices[0]) not in choices:
            raise UsageError(f"{option} needs {_NEEDS[option]}")
    try:
        from th_shell.runtime import T7Error
    except ImportError as error:
        return _fail(str(error))
    write: Callable[..., None] = _write_file if ending else _describe
    if ending in _NETS:
        write = partial(_write_net, prepare)
    elif ending in _WEIGHTS:
        write = _write_weights
    try:
        write(source, target, options)
    except T7Error as error:
        return _fail(str(error))
    except OSError as error:
        name = error.filename if isinstance(error.filename, str) else target
        return _fail(f"{name}: {error.strerror or error}")
    except ValueError as error:  # of options, such as sizes
        raise UsageError(str(error)) from None
    except MemoryError:
        return _fail("not enough memory")
    return 0


def _ending(target: str, options: Mapping[str, str]) -> str:
    """Return the end of the new file's name. Raises UsageError for an option that it cannot use."""
    endings = [each for each in _OPTIONS if each]
    target += "/" if os.path.isdir(target) else ""
    ending = next((each for each in endings if target.endswith(each)), "")
    if target and not ending:
        raise UsageError(f"--convert: the name of the new file ends with {_listed(endings)}")
    for option in options:
        if option not in _OPTIONS[ending]:
            takers = _listed(each for each in endings if option in _OPTIONS[each])
            hint = f", not for {ending}" if ending else ": name the new file"
            raise UsageError(f"{option} is for {takers}{hint}")
    return ending


def _listed(words: Iterable[str]) -> str:
    *first, last = ("folder/" if word == "/" else word for word in words)
    return f"{', '.join(first)} or {last}" if first else last


def _describe(source: str, target: str, options: dict[str, str]) -> None:
    from th_shell.runtime import load
    from th_shell.runtime.export import describe

    text = describe(load(source), width=columns(), **_of_net(options))
    print(encodable(visible(f"{source}: {text}")))


def _of_net(options: dict[str, str]) -> dict[str, Any]:
    """Return the options that say which net is meant, and how it is used."""
    pairs = [pair.partition("=") for pair in options.get("--treat", "").split(",") if pair]
    return {
        "select": options.get("--select"),
        "input": options.get("--input"),
        "treat": {name: nn_name for name, _, nn_name in pairs},
    }


def _write_file(source: str, target: str, options: dict[str, str]) -> None:
    """Write a file of Torch7 in another format."""
    from th_shell.runtime import load, save

    format: Any = options.get("--format", "binary")
    save(target, load(source), format)


def _write_weights(source: str, target: str, options: dict[str, str]) -> None:
    from th_shell.runtime import load
    from th_shell.runtime.export import to_hdf5, to_npz, to_safetensors

    writers = {".safetensors": to_safetensors, ".h5": to_hdf5, ".npz": to_npz}
    left_out = writers[os.path.splitext(target)[1]](
        load(source),
        target,
        select=options.get("--select"),
        everything="--all" in options,
        type=options.get("--type"),
    )
    if left_out:
        tensors = f"{left_out} tensors" if left_out > 1 else "1 tensor"
        print(f"without gradients and working memory: {tensors}; --all keeps them")


def _write_net(prepare: Prepare, source: str, target: str, options: dict[str, str]) -> None:
    """Write a net, and say how it compares."""
    from th_shell.runtime import load
    from th_shell.runtime.export import to_onnx, to_pytorch

    write: Callable[..., Report] = to_onnx if target.endswith(".onnx") else to_pytorch
    report = write(
        load(source),
        target,
        **_of_net(options),
        source=os.path.basename(source),
        type=options.get("--type", "float"),
        stub="--stub" in options,
        check="--no-check" not in options,
        python=options.get("--python"),
        require_check="--require-check" in options,
        sample=load(options["--sample"]) if "--sample" in options else None,
        engine=_engine(prepare, options).values,
    )
    _tell(report, "--type" in options)


def _engine(prepare: Prepare, options: Mapping[str, str]) -> Engine:
    """Return an engine that runs the net for the check.

    Raises T7Error where the user's program fails.
    """
    from th_shell.runtime import T7Error
    from th_shell.runtime.shell import Engine, LuaError

    engine = Engine(prepare)
    if "--lua" in options:
        with open(options["--lua"], "rb") as file:
            source = file.read()
        try:
            # A program may derive classes from those of nn.
            engine.run(engine.compile(b"pcall(require, 'nn')"))
            engine.run(engine.compile(source, b"=" + os.fsencode(options["--lua"])))
        except LuaError as error:
            raise T7Error(error.message) from None
    return engine


def _tell(report: Report, type_said: bool) -> None:
    narrowed = report.narrowed and not type_said
    note = ", with float32 for the net's float64: --type double keeps it" if narrowed else ""
    print(f"wrote {' and '.join(report.files)}{note}")
    for remark in report.remarks:
        print(remark)
    outcome = report.outcome
    if outcome is None:
        print(f"NOT CHECKED: {report.unchecked}")
        return
    sizes = ", ".join("x".join(map(str, shape)) for shape in outcome.inputs.values())
    print(
        f"checked on {sizes}: the largest difference to the net is {outcome.difference:.2g}, "
        f"where the largest number is {outcome.scale:.2g}"
    )


def _fail(message: str) -> int:
    complain(message)
    return _FAILURE
