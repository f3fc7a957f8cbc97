"""The mark sample(count), with which scripts/test leaves the further cases of a test out."""

import pytest

from tests.data_files import data

pytest_plugins = "pytester"

CASES = data(__file__, "CASES")


def test_cases_beyond_the_sample_are_thorough(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("from tests.conftest import pytest_collection_modifyitems")
    pytester.makepyfile(CASES)
    marks = "markers = ['sample(count): x', 'thorough: x']"
    pytester.makepyprojecttoml(f"[tool.pytest.ini_options]\n{marks}")
    run = pytester.runpytest("-p", "no:cacheprovider", "-m", "not thorough")
    run.assert_outcomes(passed=3, deselected=5)
