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


def run_pytest(folder: Path, page: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "page.md").write_text(page)
    (folder / "pytest.ini").write_text("[pytest]\n")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-rsx", "-p", "no:cacheprovider", *options],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        check=False,
    )


def test_an_example_is_a_test(tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text(PAGE)
    run = run_pytest(tmp_path, PAGE)
    lines = [" ".join(line.split(" [")[0].split()) for line in run.stdout.splitlines()]
    # pytest shows the dots of a name as colons.
    assert "page.md::2: x = torch::Tensor{1, 2} PASSED" in lines
    assert "page.md::3: x:sum() PASSED" in lines
    assert "page.md::5: x[1] FAILED" in lines
    assert any(line.startswith("page.md::12: text SKIPPED") for line in lines)
    assert f"FAIL {tmp_path}/page.md:5: differs" in lines
    assert "1 failed, 2 passed, 1 skipped" in run.stdout
    assert run.returncode == 1


def test_settings_hold_and_wrong_ones_are_errors(tmp_path: Path) -> None:
    (tmp_path / "th-docs.toml").write_text("atol = 0.1\nsetup = 'y = 3'\n")
    (tmp_path / "wrong.md").write_text("<!-- th-docs: skip -->\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "th-docs.toml").write_text("atol = 'x'\n")
    (tmp_path / "sub" / "page.md").touch()
    page = "```\n> y + 0.05\n3.0000\n> y -- th-docs: xfail reason='a bug'\n4\n```\n"
    run = run_pytest(tmp_path, page, "--continue-on-collection-errors")
    assert "1 passed, 1 xfailed, 2 errors" in run.stdout
    assert "a bug" in run.stdout
    why = "wrong.md:1: the directive holds for nothing: no block of examples stands right under it"
    assert why in run.stdout
    assert f"{tmp_path}/sub/th-docs.toml: atol: not a number" in run.stdout
