"""Finds examples that fail for want of a device, such as a GPU, which this machine does not have.

An error of PyTorch says so where the page shows another output. What follows from such an example
cannot hold either: so what fails and uses a name that the example would have given another value
needs the device, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from th_shell.docs.judging.tokens import located
from th_shell.docs.judging.verdicts import Result, Verdict
from th_shell.docs.reading.examples import Kind
from th_shell.docs.reading.languages import PYTHON
from th_shell.docs.reading.python_syntax import (
    bound_names,
    changed_names,
    imported_names,
    read_names,
)

#: What PyTorch says where a device, its driver, or the part of PyTorch for it is not there.
_NO_DEVICE = re.compile(
    r"(?:Error: |^)(?:Torch not compiled with \w+ enabled|Found no NVIDIA driver\b"
    r"|No (?:CUDA|HIP|XPU) GPUs are available"
    r"|CUDA error: (?:CUDA driver version is insufficient|no CUDA-capable device"
    r"|invalid device ordinal)"
    r"|Could not run '[\w:.]+' with arguments from the '(?:CUDA|MPS|XPU|HIP|HPU|MTIA)' backend"
    r"|Cannot execute \w+\(\) without MPS backend"
    r"|Attempting to deserialize object on a CUDA device but torch\.cuda\.is_available\(\) is False"
    r")",
    re.M,
)


def with_devices(results: Iterable[Result], modules: Iterable[str] = ()) -> list[Result]:
    """The results, in which what fails for want of a device has a verdict of its own.

    modules: names of modules that are imported before a page begins.
    """
    devices = _Devices(modules)
    return [devices.judged(result) for result in results]


class _Devices:
    """Judges the examples of a page, one after the other."""

    def __init__(self, modules: Iterable[str]) -> None:
        self._modules = set(modules)
        self._missing: set[str] = set()  # names that would have other values with the device

    def judged(self, result: Result) -> Result:
        """The result of the next example."""
        example = result.example
        if example.language != PYTHON or example.kind in (Kind.SHELL, Kind.TEXT):
            return result
        self._modules |= imported_names(example.source)
        used = sorted(read_names(example.source) & self._missing)
        lacks = result.verdict is Verdict.ERROR and _lacks_device(result)
        if not used and not lacks:
            self._missing -= bound_names(example.source)
            return result
        # `torch.cuda.synchronize()` changes no module.
        self._missing |= changed_names(example.source) - self._modules
        if lacks:
            note = f"needs a device: {_message(result.got)}"
        elif result.verdict in (Verdict.DIFFERS, Verdict.ERROR):
            note = f"needs a device, as does what gives a value to: {', '.join(used)}"
        else:
            return result
        return replace(result, verdict=Verdict.DEVICE, note=note)


def _lacks_device(result: Result) -> bool:
    """Whether an error says that there is no device, and the page does not show such an error."""
    is_said = _NO_DEVICE.search(located(result.got))
    return bool(is_said) and not _NO_DEVICE.search(result.example.expected)


def _message(got: str) -> str:
    """The first line of an error's message, without what was printed before the error."""
    lines = located(got).split("\n")
    return next((line for line in lines if _NO_DEVICE.search(line)), "")
