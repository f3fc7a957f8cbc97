"""The rows of nn's classes, and of packages beside it: a module for each family of the manual."""

from th_shell.runtime.export.rows import (  # noqa: F401 (each adds its rows)
    containers,
    cudnn,
    elementwise,
    linear,
    recurrent,
    repositories,
    sequencers,
    shapes,
    windows,
)
