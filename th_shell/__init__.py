"""The programs: the command line and the prompt of ``th``, and the documentation runner."""

__version__ = "0.1.0"
