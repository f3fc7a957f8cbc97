"""The tests of this folder check what is written by ONNX Runtime."""

import pytest


def pytest_itemcollected(item: pytest.Item) -> None:
    item.add_marker(pytest.mark.needs("onnx", "onnxruntime"))
