"""Notebooks that are run without a browser."""

from pathlib import Path
from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
pytest.importorskip("ipykernel", reason="the extra 'jupyter' is missing")


@pytest.mark.thorough
def test_a_notebook_is_run(
    spec_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_PATH", str(spec_folder.parent))
    monkeypatch.setenv("HOME", str(tmp_path))
    sources = [
        "x = torch.range(1, 4):resize(2, 2)",
        "print('sum', x:sum())\nx",
        "x:nothing()",
        "{1}",
    ]
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    cells[2].metadata["tags"] = ["raises-exception"]
    notebook = nbformat.v4.new_notebook(cells=cells)
    done = nbclient.NotebookClient(notebook, kernel_name="th", timeout=60).execute()
    assert [shown(cell) for cell in done.cells] == [
        [],
        ["sum\t10\t\n", " 1  2\n 3  4\n[torch.DoubleTensor of dimension 2x2]"],
        ["[3]:1: attempt to call method 'nothing' (a nil value)"],
        ["{\n  1 : 1\n}"],
    ]
    assert [cell.execution_count for cell in done.cells] == [1, 2, 3, 4]
    assert done.metadata.language_info.file_extension == ".lua"


def shown(cell: Any) -> list[str]:
    """The text of each output of a cell."""
    texts = []
    for output in cell.outputs:
        data = output.get("data", {})
        texts.append(output.get("text") or output.get("evalue") or data["text/plain"])
    return texts
