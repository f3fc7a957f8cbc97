"""nn's backend gives what the original gave: for each function some calls with made-up arguments.

recorded/FAMILY.txt is what the real Torch7 with nn prints for

    th run_cases.lua cases/FAMILY.lua 1 COUNT

Numbers may differ in their last digits; sizes, and the messages of errors, must be the same.
"""

from pathlib import Path

import numpy as np
import pytest

from th_shell.runtime.shell import Engine

HERE = Path(__file__).parent
FAMILIES = sorted(path.stem for path in (HERE / "cases").glob("*.lua"))

Answers = dict[str, list[str]]  # "Tanh_updateOutput Float 1" -> lines


def answers(text: str) -> Answers:
    """The lines that were printed for each call."""
    found: Answers = {}
    for part in text.split("# ")[1:]:
        head, *lines = part.splitlines()
        found[head] = lines
    return found


def differs(ours: str, recorded: str, tolerance: float) -> bool:
    """Whether two lines, a tensor's position, sizes and elements, are not the same."""
    if ours == recorded:
        return False
    (place, sizes, *values), (other_place, other_sizes, *others) = ours.split(), recorded.split()
    if "error" in (place, other_place) or (place, sizes) != (other_place, other_sizes):
        return True
    x, y = np.array(values, float), np.array(others, float)
    scale = np.abs(y[np.isfinite(y)]).max(initial=1e-3)
    return not np.allclose(x, y, rtol=tolerance, atol=tolerance * scale, equal_nan=True)


@pytest.mark.thorough
@pytest.mark.parametrize("family", FAMILIES)
def test_functions_give_what_the_original_gave(
    family: str, capfd: pytest.CaptureFixture[str]
) -> None:
    recorded = answers((HERE / "recorded" / f"{family}.txt").read_text())
    count = max(int(head.split()[-1]) for head in recorded)
    arguments = [f"{HERE}/cases/{family}.lua".encode(), b"1", b"%d" % count]
    with Engine() as engine:
        engine.set_arguments(b"run_cases.lua", arguments)
        engine.call(engine.compile_file(f"{HERE}/run_cases.lua"))
        engine.flush()
    ours = answers(capfd.readouterr().out)
    assert ours.keys() == recorded.keys()
    wrong = []
    for head, lines in recorded.items():
        tolerance = 4e-6 if " Float " in head else 1e-12
        pairs = list(zip(ours[head], lines, strict=False))
        if lines[0].startswith("error"):  # what a failed call leaves in its results is not compared
            pairs = pairs[:1]
        elif len(ours[head]) != len(lines):
            pairs.append((str(ours[head]), str(lines)))
        wrong += [(head, *pair) for pair in pairs if differs(*pair, tolerance)]
    assert wrong == []
