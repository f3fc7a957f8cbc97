from __future__ import annotations

import pytest

from tests.data_files import data
from tests.mpi import missing_mpi
from th_shell.help.meanings import SECTIONS_OF_CLASS, find, find_path, search, sections
from th_shell.runtime.shell import TABLE, Engine

LIBRARIES = (
    "torch paths sys xlua lfs dok image cjson threads "
    "csvigo debugger gnuplot hdf5 md5 mpi signal socket th "
    "string table math io os debug coroutine bit jit ffi package"
).split()

WITH_MPI = [
    pytest.param(
        name, marks=pytest.mark.skipif(name == "mpi" and bool(missing_mpi()), reason="MPI")
    )
    for name in LIBRARIES
]

#: A value of each class that has methods, by the name of its section.
OBJECTS = data(__file__, "OBJECTS")


REQUIRED = tuple(data(__file__, "REQUIRED"))


@pytest.fixture(scope="module")
def engine() -> Engine:
    engine = Engine()
    lines = [f"{name}_ = {value}" for name, value in OBJECTS.items()]
    engine.run(engine.compile("\n".join([*REQUIRED, *lines]).encode()))
    return engine


def public(engine: Engine, path: str) -> set[str]:
    """The functions that follow a path, and the classes of torch."""
    found = engine.variables.names(path)
    kinds = ("function", "table") if path == "torch" else ("function",)
    return {name for name, kind in found.items() if kind in kinds and not name.startswith("_")}


@pytest.mark.parametrize("library", WITH_MPI)
def test_each_function_of_a_library_has_a_meaning(engine: Engine, library: str) -> None:
    assert sorted(public(engine, library) - set(sections()[library])) == []


@pytest.mark.parametrize("library", WITH_MPI)
def test_each_meaning_is_that_of_something_in_its_library(engine: Engine, library: str) -> None:
    assert sorted(set(sections()[library]) - set(engine.variables.names(library))) == []


@pytest.mark.parametrize("name", OBJECTS)
def test_each_method_has_a_meaning(engine: Engine, name: str) -> None:
    wanted = SECTIONS_OF_CLASS["DiskFile" if name == "File" else name]
    missing = [m for m in public(engine, f"{name}_") if find(m, wanted) is None]
    assert sorted(missing) == []


@pytest.mark.parametrize("name", OBJECTS)
def test_each_meaning_is_that_of_a_method(engine: Engine, name: str) -> None:
    extra = sections()["DiskFile"] if name == "File" else {}
    assert sorted({*sections()[name], *extra} - public(engine, f"{name}_")) == []


def test_each_global_function_has_a_meaning_and_no_other_name(engine: Engine) -> None:
    functions = {name for name, kind in engine.variables.names("").items() if kind == "function"}
    assert functions == set(sections()["globals"])


def test_the_methods_of_all_classes_are_told() -> None:
    told = {section for wanted in SECTIONS_OF_CLASS.values() for section in wanted}
    assert told | set(LIBRARIES) | {"globals", "keywords"} == set(sections())


@pytest.mark.parametrize(("section", "space"), [("torch", "function"), ("Tensor", "method")])
def test_calls_have_their_arguments_in_one_place(section: str, space: str) -> None:
    for meaning in sections()[section].values():
        has_forms = any(row.form(space) for row in TABLE.get(meaning.name, []))
        assert not (has_forms and meaning.arguments), meaning


def test_meanings_are_short_sentences() -> None:
    for section in sections().values():
        for meaning in section.values():
            assert meaning.section == "keywords" or meaning.text.endswith("."), meaning
            assert len(meaning.text) <= 110, meaning


@pytest.mark.parametrize(("path", "call"), data(__file__, "test_a_path_finds_its_meaning"))
def test_a_path_finds_its_meaning(path: str, call: str) -> None:
    meaning = find_path(path)
    assert meaning is not None and meaning.call == call


@pytest.mark.parametrize("path", ["torch.narrow", "string.sum", "sum", "nowhere.sum"])
def test_other_paths_have_none(path: str) -> None:
    assert find_path(path) is None


@pytest.mark.sample(5)
@pytest.mark.parametrize(("words", "first"), data(__file__, "test_words_find_functions"))
def test_words_find_functions(words: str, first: list[str]) -> None:
    found = [meaning.call for meaning in search(words)]
    assert found[0] in first and set(first) <= set(found)


@pytest.mark.parametrize("words", ["zebra giraffe", "the of and", ""])
def test_words_that_mean_nothing_find_none(words: str) -> None:
    assert search(words) == []
