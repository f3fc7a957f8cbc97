"""The kernel's process, which the kernelspec starts: ``python -I -m th_shell.jupyter -f FILE``.

It connects the kernel with the sockets that the connection file names.
"""

import os
import sys
from typing import Any

try:
    from ipykernel.kernelapp import IPKernelApp

    from th_shell.jupyter.kernel import TorchKernel
except ImportError as error:
    sys.exit(f"th: {error}: pip install 'th-shell[jupyter]'")


class KernelApp(IPKernelApp):  # type: ignore[misc]
    """ipykernel's application without Python's own parts.

    These are IPython's profile and settings, its output streams, and the current folder among those
    that Python imports from.
    """

    name = "th-kernel"
    kernel_class = TorchKernel
    outstream_class = None  # The kernel captures the descriptors themselves.

    def _nothing(self, *_: Any, **__: Any) -> None:
        pass

    init_config_files = load_config_file = init_pdb = init_path = _nothing

    def init_profile_dir(self) -> None:
        self.profile_dir = None

    def init_control(self, context: Any) -> None:
        super().init_control(context)
        self.shell_channel_thread = None  # One engine runs one cell at a time.


def main() -> None:
    """Run a kernel until it is shut down; the arguments of the process are those of ipykernel."""
    # What the kernel itself reports belongs to whoever has started it, not to a cell.
    sys.stderr = os.fdopen(os.dup(2), "w", buffering=1, errors="replace")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # Lua asks the front end instead; commands find no input.
    os.close(nothing)
    KernelApp.launch_instance()


if __name__ == "__main__":
    main()
