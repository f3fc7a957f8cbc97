"""Stubs: for classes that are not known, classes of PyTorch whose forward is to be written."""

import re
from collections.abc import Mapping
from itertools import count
from typing import Any

from th_shell.runtime.export.data import UndecidedInput, tensor, tensors
from th_shell.runtime.export.graph import Call, Data, ExportError
from th_shell.runtime.export.modules import Module, row_of
from th_shell.runtime.export.operators import node
from th_shell.runtime.export.parameters import Parameter
from th_shell.runtime.export.python_text import BODY, STEP, broken, is_attribute, parameter_text
from th_shell.runtime.t7.values import named_values
from th_shell.runtime.t7.working_memory import portable_fields, portable_tensors
from th_shell.torch.tensors.tensor import Tensor


def stub(module: Module, data: Data, error: ExportError) -> Data:
    """Add a layer of a class of its own for a module of an unknown class.

    Its constructor takes the module's numbers and strings, and the sizes of its tensors. Objects
    with other fields, or other inputs, have another class. Raises the error for known classes.
    """
    if row_of(module.kind) is not None:
        raise error
    data = tensor(data, module.graph) if isinstance(data, UndecidedInput) else data
    inputs = list(tensors(data))
    fields, parameters = _arguments(module)
    name = _class(module, fields, parameters, len(inputs))
    module.graph.unchecked = f"{module.value.torch_typename} is a stub"
    call = Call(name, fields | {name: _sizes(each) for name, each in parameters.items()})
    return node(inputs, "", None, layer=call, parameters=parameters, graph=module.graph)


def _sizes(parameter: Parameter) -> Any:
    """Return sizes as torch.empty takes them: of a list the number, which is easier to read."""
    return parameter.shape[0] if len(parameter.shape) == 1 else parameter.shape


def _arguments(module: Module) -> tuple[dict[str, Any], dict[str, Parameter]]:
    """Return the plain fields, and the parameters and buffers, which have no gradient.

    Those of modules within it have the names that lead to them, with _ between keys.
    """
    fields: dict[str, Any] = {}
    for key, value in portable_fields(module.value).items():
        if key[:1] != "_" and key != "train" and _is_plain(value):
            fields[_attribute(key, fields)] = value
    gradients = {name for name, _ in named_values(module.value)}
    parameters: dict[str, Parameter] = {}
    for name, value in portable_tensors(module.value)[0]:
        if isinstance(value, Tensor):
            path, dot, last = name.rpartition(".")
            gradient = f"{path}{dot}grad{last[:1].upper()}{last[1:]}"
            is_trained = last in ("weight", "bias") or gradient in gradients
            attribute = _attribute(name, {**fields, **parameters})
            parameters[attribute] = Parameter.of(value, is_trained)
    return fields, parameters


def _attribute(name: str, taken: Mapping[str, Any]) -> str:
    """Return a name that attributes and arguments may have, and none has yet."""
    name = re.sub(r"\W|^(?=\d)", "_", name)
    while not is_attribute(name) or name in taken:
        name += "_"
    return name


def _is_plain(value: Any) -> bool:
    """Tell whether a value is a number, or a string of words alone: others could be code."""
    return isinstance(value, (bool, int, float)) or (
        isinstance(value, str) and re.fullmatch(r"[\w .:/-]*", value) is not None
    )


def _class(
    module: Module, fields: Mapping[str, Any], parameters: Mapping[str, Parameter], inputs: int
) -> str:
    """Return the name of a class for a module; modules that have the same source share one."""
    kind = module.value.torch_typename
    base = re.sub(r"\W", "_", kind.rpartition(".")[2]) or "Stub"
    base = base if is_attribute(base) else f"Stub{base}"
    for number in count(1):
        name = base if number == 1 else f"{base}{number}"
        text = _text(name, kind, fields, parameters, inputs)
        if name != "Model" and module.graph.stubs.setdefault(name, text) == text:
            break
    return name


def _text(
    name: str,
    kind: str,
    fields: Mapping[str, Any],
    parameters: Mapping[str, Parameter],
    inputs: int,
) -> str:
    types = {each: _type(value) for each, value in fields.items()}
    types |= {
        each: _type(_sizes(parameter)).replace("float", "int")
        for each, parameter in parameters.items()
    }
    arguments = ", ".join(["self", *[f"{each}: {kind}" for each, kind in types.items()]])
    body = [f"self.{each} = {each}" for each in fields]
    body += [parameter_text(each, parameter, each) for each, parameter in parameters.items()]
    kind = re.sub(r"[^\w.]", "_", kind)
    names = ["x"] if inputs == 1 else [f"x{n}" for n in range(1, inputs + 1)]
    taken = ", ".join(f"{each}: Tensor" for each in names)
    return "\n".join(
        [
            f"class {name}(nn.Module):",
            f'{STEP}"""{kind} of Torch7, which is not known here: its forward is to be written."""',
            "",
            broken(f"def __init__({arguments})", STEP, len(" -> None:")) + " -> None:",
            *[broken(line, BODY) for line in ("super().__init__()", *body)],
            "",
            f"{broken(f'def forward(self, {taken})', STEP, len(' -> Tensor:'))} -> Tensor:",
            f'{BODY}raise NotImplementedError("{kind} is not converted")',
        ]
    )


def _type(value: Any) -> str:
    """Return the type hint of an argument; all numbers are float."""
    if isinstance(value, tuple):
        return "tuple[int, ...]"
    return "float" if type(value) is int else type(value).__name__
