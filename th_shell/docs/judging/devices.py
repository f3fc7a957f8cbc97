"""Explains why examples fail by devices that are missing, such as a GPU.

PyTorch and Torch7 then raise an error where the page shows another output. Examples that use the
values of such an example cannot hold either, so they need the device, too.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from th_shell.docs.judging.printout import without_places
from th_shell.docs.judging.verdicts import Result, Verdict
from th_shell.docs.reading import names
from th_shell.docs.reading.examples import LUA, PYTHON, Example, Kind
from th_shell.patterns import pattern

#: The messages of PyTorch and Torch7 when a device, its driver, or their part for it is missing.
_NO_DEVICE = pattern(
    r"(?:Error: |^|:\d+: )(?:Torch not compiled with \w+ enabled|Found no NVIDIA driver\b"
    r"|No (?:CUDA|HIP|XPU) GPUs are available"
    r"|CUDA error: (?:CUDA driver version is insufficient|no CUDA-capable device"
    r"|invalid device ordinal)"
    r"|Could not run '[\w:.]+' with arguments from the '(?:CUDA|MPS|XPU|HIP|HPU|MTIA)' backend"
    r"|Cannot execute \w+\(\) without MPS backend"
    r"|Attempting to deserialize object on a CUDA device but torch\.cuda\.is_available\(\) is False"
    r"|c(?:utorch|unn|udnn)\b[\w.]* is for GPUs|there is no GPU here"
    r"|module '(?:cu(?:torch|nn|dnn)|cl(?:torch|nn))\b[\w.]*' not found"
    r"|attempt to \w+ field '(?:Cuda|Cl[A-Z])\w*' \(a nil value"
    r"|attempt to call method 'cl' \(a nil value|<torch\.Cuda\w+> is not a string describing"
    r")",
    re.M,
)
#: A type of tensors on a device, by which code needs it.
_OF_DEVICE = pattern(r"\btorch\.C(?:uda|l(?=[A-Z]))\w*(?:Tensor|Storage)\b")
#: The names at the beginning of an assignment.
_ASSIGNED = pattern(r"\A\s*\w+(?:\s*,\s*\w+)*\s*=(?!=)")
#: Modules for devices, and those that are loaded with them.
_BROUGHT = {"cunn": ("cutorch", "nn"), "cudnn": ("cutorch", "nn"), "clnn": ("cltorch", "nn")}


def with_missing_devices(
    results: Iterable[Result], modules: Iterable[str] = ()
) -> Iterator[Result]:
    """Yield the results; those that fail because a device is missing get the verdict DEVICE.

    modules: names of modules that are imported before a page begins.
    """
    known = {PYTHON: set(modules), LUA: set[str]()}
    #: By languages, the names that would have other values with the device.
    without = {PYTHON: set[str](), LUA: set[str]()}
    for result in results:
        example, missing = result.example, without[result.example.language]
        if example.kind not in (Kind.SHELL, Kind.TEXT):
            source, known_modules = example.source, known[example.language]
            imported = names.imported_names(example.language, source)
            known_modules -= names.bound_names(example.language, source) - imported
            used = sorted(names.read_names(example.language, _reading_code(example)) & missing)
            lacks = result.verdict is Verdict.ERROR and _lacks_device(result)
            if lacks and example.language == LUA:
                brought = (name for module in imported for name in _BROUGHT.get(module, ()))
                missing |= {*imported, *brought} - known_modules
            else:
                known_modules |= imported
            if used or lacks:
                # `torch.cuda.synchronize()` changes no module.
                missing |= names.changed_names(example.language, source) - known_modules
            else:
                missing -= names.bound_names(example.language, source)
            if lacks:
                note = f"needs a device: {_message(result.got)}"
                result = replace(result, verdict=Verdict.DEVICE, note=note)
            elif used and result.verdict in (Verdict.DIFFERS, Verdict.ERROR):
                note = f"needs a device, as does what gives a value to: {', '.join(used)}"
                result = replace(result, verdict=Verdict.DEVICE, note=note)
        yield result


def _reading_code(example: Example) -> str:
    """Return the code of an example, in Lua without the names that it assigns first.

    There these would count as read.
    """
    return _ASSIGNED.sub("", example.source) if example.language == LUA else example.source


def _lacks_device(result: Result) -> bool:
    """Tell whether an error says that a device is missing, and the page shows no such error."""
    example = result.example
    is_for_it = example.language == LUA and _OF_DEVICE.search(example.source)
    is_said = is_for_it or _NO_DEVICE.search(without_places(result.got))
    return bool(is_said) and not _NO_DEVICE.search(result.example.expected)


def _message(got: str) -> str:
    """Return the line of an error's message that says which device is missing."""
    lines = without_places(got).split("\n")
    return next((line for line in lines if _NO_DEVICE.search(line)), lines[0])
