"""``PipeFile``: a pipe from or to a shell command, as a file."""

from th_shell.runtime.core import system
from th_shell.runtime.core.errors import ArgError, TorchError
from th_shell.runtime.io.diskfile import DiskFile

_MODES = ("r", "w")


class PipeFile(DiskFile):
    """This process's end of a pipe.

    name: the command. Manual: PipeFile.
    """

    typename = "torch.PipeFile"

    def __init__(self, name: bytes, mode: str, quiet: bool = False) -> None:
        """Start a command; mode: 'r' to read what it writes, 'w' to write what it reads.

        Raises ArgError for another mode, and TorchError where it cannot be started.
        """
        if mode not in _MODES:
            raise ArgError(2, "file mode should be 'r','w'")
        super().__init__(name, mode, quiet)

    def _open(self, name: bytes, mode: str) -> int:
        try:
            descriptor, self._process = system.start_command(name, reading=mode == "r")
        except OSError:
            self.window.opened = 0
            raise TorchError(
                f"{self._cannot_open()}.  This might be because eg the executable doesn't exist,"
                " but it could also be because you are out of memory."
            ) from None
        return descriptor

    def close(self) -> None:
        """Close the pipe, and wait for the end of a command that reads from it.

        The command has then read everything. A command that writes is not waited for, as it may
        run for ever. Torch7: does not wait in either case.
        """
        try:
            super().close()
        finally:
            if self.window.writable:
                system.wait_for(self._process)
            else:
                system.leave(self._process)
