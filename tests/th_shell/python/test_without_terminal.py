"""What is piped into `th --python`, and `th --python -i` without a terminal."""

from pathlib import Path

import pytest

from tests.data_files import data
from tests.processes import run_python
from tests.th_shell.conftest import TOP, Run


@pytest.mark.sample(1)
@pytest.mark.parametrize(("text", "printed"), data(__file__, "test_what_is_piped_is_run_as_inputs"))
def test_what_is_piped_is_run_as_inputs(python: Run, text: str, printed: str) -> None:
    done = python(input=text)
    assert (done.returncode, done.stdout, done.stderr) == (0, printed, "")


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("text", "printed", "error"),
    data(__file__, "test_an_error_ends_what_is_piped"),
)
def test_an_error_ends_what_is_piped(python: Run, text: str, printed: str, error: str) -> None:
    done = python(input=text)
    assert (done.returncode, done.stdout) == (1, printed)
    assert done.stderr.endswith(f"{error}\n")


def test_a_file_as_the_standard_input_is_a_program(python: Run, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("1 + 2\nprint(__name__)")
    with path.open() as file:
        done = run_python("-m", "th_shell", "--python", stdin=file, cwd=TOP, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "__main__\n", "")


def test_inputs_without_a_terminal_read_the_lines_behind_them(python: Run, tmp_path: Path) -> None:
    text = "x = input()\nhello\nx\nfor i in range(2):\n    i\n\n1/0\n'more'\n%pwd x\n$ echo $x\n"
    done = python("-i", input=text)
    assert done.stdout == f"'hello'\n0\n1\n'more'\n{tmp_path}\nhello\n"
    assert done.stderr.endswith("ZeroDivisionError: division by zero\n")
    assert done.returncode == 0


def test_inputs_behind_a_program(python: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 5\n1/0")
    done = python("-i", "a.py", input="x\nimport sys; sys.exit(x)\n")
    assert (done.returncode, done.stdout) == (5, "5\n")
    assert done.stderr.endswith("ZeroDivisionError: division by zero\n")
