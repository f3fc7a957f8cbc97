"""The kernel against the tests that Jupyter has for kernels of any language."""

from pathlib import Path
from typing import Any

import pytest

tests = pytest.importorskip("jupyter_kernel_test", reason="jupyter_kernel_test is not installed")
pytest.importorskip("ipykernel", reason="the extra 'jupyter' is missing")


@pytest.fixture(scope="class", autouse=True)
def installed(spec_folder: Path) -> Any:
    """The kernelspec, where Jupyter looks for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(spec_folder.parent))
        yield


class TestKernel(tests.KernelTests):  # type: ignore[name-defined,misc]
    kernel_name = "th"
    language_name = "lua"
    file_extension = ".lua"
    code_hello_world = "print('hello, world')"
    code_stderr = "io.stderr:write('oops')"
    completion_samples = [
        {"text": "torch.eq", "matches": ["eq", "equal"]},
        {"text": "x = torch.Doub", "matches": ["DoubleStorage", "DoubleTensor"]},
        {"text": "repe", "matches": ["repeat"]},
    ]
    complete_code_samples = ["x = 1", "x", "for i = 1, 2 do print(i) end", "? torch.sum", ""]
    incomplete_code_samples = ["x =", "for i = 1, 2 do", "x = [[", "f = function()\n  return 1"]
    invalid_code_samples = ["x = = 1", "end", "for i = 1 do end"]
    code_page_something = "? torch.sum"
    code_generate_error = "error('bad')"
    code_execute_result = [
        {"code": "6 * 7", "result": "42"},
        {"code": "torch.ones(2)", "result": " 1\n 1\n[torch.DoubleTensor of dimension 2]"},
        {"code": "torch.eye(2)", "mime": "text/html"},
    ]
    code_display_data = [
        {"code": f"require('jupyter').display{{['{kind}'] = 'x'}}", "mime": kind}
        for kind in ("image/png", "text/html")
    ]
    code_inspect_sample = "torch.sum"
    code_history_pattern = "6?*7"
    supported_history_operations = ("tail", "range", "search")
    code_clear_output = "require('jupyter').clear_output()"


@pytest.mark.thorough
class TestWelcome(tests.IopubWelcomeTests):  # type: ignore[name-defined,misc]
    kernel_name = "th"
    support_iopub_welcome = True
