"""What is loaded ahead of time."""

import pytest

from tests.data_files import data
from tests.processes import run_python
from th_shell.runtime.compute import scipy_lapack


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "shown"), [("RANDOM", "True"), ("LAPACK", "0 2 False")])
def test_what_operations_load_at_their_first_use(name: str, shown: str) -> None:
    assert run_python("-c", data(__file__, name), check=True).stdout.strip() == shown


@pytest.mark.thorough
def test_lapack_is_found_by_scipy_where_its_file_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = scipy_lapack.lapack_module.__wrapped__("_flapack")
    monkeypatch.setattr(scipy_lapack, "find_spec", lambda _: None)
    found = scipy_lapack.lapack_module.__wrapped__("_flapack")
    assert (alone.__name__, found.__name__) == ("_flapack", "scipy.linalg._flapack")
    assert alone.dgesv.__doc__ == found.dgesv.__doc__
