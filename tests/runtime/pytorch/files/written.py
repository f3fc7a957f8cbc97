"""The files in tests/data/pytorch/files, and what is in them.

PyTorch 2.13 has written them: with it installed, `python -m tests.runtime.pytorch.files.written`
writes them again.
"""

import collections
from pathlib import Path
from typing import Any

FILES = Path(__file__).parents[3] / "data" / "pytorch" / "files"
KINDS = "bool uint8 int8 int16 int32 int64 float16 float32 float64".split()


def value(torch: Any) -> Any:
    """What the files have. torch: PyTorch, or the module of this project."""
    x = torch.arange(12.0).reshape(3, 4)
    named = torch.ones(1)
    named.note = "kept"
    return collections.OrderedDict(
        x=x,
        same=x,
        transposed=x.t(),
        row=x[1],
        part=x[:, 1:3],
        expanded=torch.ones(1).expand(4),
        empty=torch.ones(0, 3),
        scalar=torch.tensor(3),
        named=named,
        bytes=torch.ones(1).untyped_storage(),
        kinds={kind: torch.tensor([0, 1]).to(getattr(torch, kind)) for kind in KINDS},
        numbers=[1, -1, 300, 70000, 2**70, 2.5, True, None, 1j],
        plain=[("a", b"\xff"), {3}, [], {}, bytearray(b"x"), collections.Counter("aab")],
        torchs=[torch.Size([1, 2]), torch.float32, torch.device("cuda:1"), torch.strided],
    )


def told(value: Any, storages: list[Any] | None = None) -> Any:
    """A value without its tensors: of each the type, the view, and which storage it has."""
    seen: list[Any] = [] if storages is None else storages
    if isinstance(value, dict):
        return type(value), [(key, told(item, seen)) for key, item in value.items()]
    if type(value) in (list, tuple):
        return type(value), [told(item, seen) for item in value]
    if hasattr(value, "stride"):
        storage = value.untyped_storage().data_ptr() if value.numel() else 0
        seen.append(storage)
        view = tuple(value.shape), value.stride(), value.storage_offset(), value.tolist()
        return str(value.dtype), view, seen.index(storage), vars(value)
    if hasattr(value, "nbytes"):
        return value.tolist()
    return (type(value).__name__, str(value)) if hasattr(value, "__module__") else value


def main() -> None:
    """Write the files."""
    import torch

    torch.save(value(torch), FILES / "zip.pt")
    torch.save(value(torch), FILES / "legacy.pt", _use_new_zipfile_serialization=False)
    net = torch.nn.Linear(1, 1)
    torch.save([net.weight, net.state_dict()], FILES / "parameter.pt")
    torch.save(net, FILES / "module.pt")
    torch.save(torch.eye(2).to_sparse(), FILES / "sparse.pt")
    torch.jit.save(torch.jit.script(net), FILES / "script.pt")


if __name__ == "__main__":
    main()
