"""The makers of programs, by the names of their fuzzers."""

from collections.abc import Callable
from random import Random

from tests.fuzz import calls, collections, files, nans, sizes
from tests.fuzz.cases import Case

#: From a generator of random numbers to a case.
GENERATORS: dict[str, Callable[[Random], Case]] = {
    "files": files.make,
    "calls": calls.make,
    "nans": nans.make,
    "collections": collections.make,
    "sizes": sizes.make,
}
