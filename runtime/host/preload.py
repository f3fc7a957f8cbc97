"""Loads ahead of time what operations load at their first use.

For a process that forks: its forks then have it already, and none has to load it again.
"""

from runtime.compute.blas_threads import one_thread_at_load

__all__ = ["preload_lapack", "preload_random"]


def preload_random() -> None:
    """Load the generator of random numbers, which takes some milliseconds."""
    import numpy.random  # noqa: F401


def preload_lapack() -> None:
    """Load the routines of LAPACK, which take about 100 milliseconds."""
    with one_thread_at_load():
        import scipy.linalg.lapack  # noqa: F401
