"""Loads ahead of time what operations load at their first use.

For a process that forks: its forks then have it already, and none has to load it again.
"""

from th_shell.runtime.compute.blas_threads import one_thread_at_load
from th_shell.runtime.host.late import load_operations


def preload_operations() -> None:
    """Load numpy and the operations, which take about 100 milliseconds."""
    load_operations()


def preload_random() -> None:
    """Load the generator of random numbers, which takes some milliseconds."""
    load_operations()  # numpy, for the right number of threads
    import numpy.random  # noqa: F401


def preload_lapack() -> None:
    """Load the routines of LAPACK, which take about 100 milliseconds."""
    with one_thread_at_load("scipy.linalg"):
        import scipy.linalg.lapack  # noqa: F401
