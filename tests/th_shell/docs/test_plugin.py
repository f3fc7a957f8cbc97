"""Pages as pytest tests, in a pytest of their own."""

import os
import subprocess
import sys
from pathlib import Path

CONFTEST = "from th_shell.docs.plugin import pages\n\npytest_collect_file = pages('*.md')\n"
PAGE = """\
```lua
x = torch.Tensor{1, 2}
> x:sum()
3
> x[1]
2
```

Text.

```
prose
```
"""


def test_an_example_is_a_test(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "page.md").write_text(PAGE)
    (tmp_path / "other.txt").write_text(PAGE)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-rs", "-p", "no:cacheprovider"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        check=False,
    )
    lines = [" ".join(line.split(" [")[0].split()) for line in run.stdout.splitlines()]
    # pytest shows the dots of a name as colons.
    assert "page.md::2: x = torch::Tensor{1, 2} PASSED" in lines
    assert "page.md::3: x:sum() PASSED" in lines
    assert "page.md::5: x[1] FAILED" in lines
    assert any(line.startswith("page.md::12: text SKIPPED") for line in lines)
    assert f"FAIL {tmp_path}/page.md:5: differs" in lines
    assert "1 failed, 2 passed, 1 skipped" in run.stdout
    assert run.returncode == 1
