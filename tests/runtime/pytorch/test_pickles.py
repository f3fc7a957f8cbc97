"""Functions and classes go to other processes by names that are there without `th`, too."""

from __future__ import annotations

import pickle
import sys
from types import ModuleType

import pytest

import th_shell.torch as torch

#: Methods of the one generator.
NO_NAMES = {"seed", "initial_seed"}


@pytest.mark.parametrize("module", [torch, torch.linalg, torch.special])
def test_all_that_a_module_has_is_found_again(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)  # as where no PyTorch is installed
    left = NO_NAMES if module is torch else set()
    names = [name for name in dir(module) if name not in left]
    found = {name: own for name in names if callable(own := getattr(module, name))}
    assert {name for name, own in found.items() if pickle.loads(pickle.dumps(own)) != own} == set()


def test_classes_of_results() -> None:
    results = torch.return_types.max
    assert pickle.loads(pickle.dumps(results)) is results
