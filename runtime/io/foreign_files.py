"""Kinds of files that Torch7 has not written, told by their first bytes, and advice on each.

Models are kept in many kinds of files, often with names that do not tell which, and a download may
be a page of the server's instead. Of all these, the reader of Torch7's files only says that it does
not know the object.
"""

import os
import re
import stat

#: How many bytes of a file are looked at.
START = 512

_PACKED = "a compressed file: unpack it first"
_PYTORCH = "a file of PyTorch's torch.save: torch.load of PyTorch, or of th --python, reads it"
_OLD_PYTORCH = (
    "a file of PyTorch's torch.save before 1.6: torch.load of PyTorch reads it, and its torch.save "
    "writes one that th --python reads, too"
)
# The first pattern that fits counts.
_KINDS = [
    (re.compile(pattern, re.DOTALL | re.IGNORECASE), kind)
    for pattern, kind in (
        (rb"\x1f\x8b|BZh[1-9]1AY|\xfd7zXZ\0|7z\xbc\xaf\x27|Rar!\x1a|\x28\xb5\x2f\xfd", _PACKED),
        (
            rb"PK\x03\x04.{26}[^/\0]+/(data\.pkl|data/\d|version|byteorder|code/|constants\.pkl)",
            _PYTORCH,
        ),
        (rb"PK\x03\x04.{26}[^\0]{,200}?\.npy", "an npz file: numpy.load reads it"),
        (rb"PK\x03\x04", "a zip archive: unpack it first"),
        (rb"\x80.\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19", _OLD_PYTORCH),  # before 1.6
        (rb"(storages|tensors|pickle|sys_info)\0.{,256}ustar", _OLD_PYTORCH),  # before 0.2
        (rb".{257}ustar", "a tar archive: unpack it first"),
        (rb"\x80[\x02-\x05]", "a pickle: Python's pickle.load reads it"),
        (rb"\x89HDF\r\n", "an HDF5 file: the package hdf5, or h5py in Python, reads it"),
        (rb"\x93NUMPY", "an npy file: numpy.load reads it"),
        (rb".{5}\0{3}\{\s*\"", "a safetensors file: safetensors in Python reads it"),
        (rb"\x08[\x01-\x1f][\x12\x1a\x22\x3a\x42]", "an ONNX file: onnxruntime in Python runs it"),
        (rb"\x89PNG|\xff\xd8\xff|GIF8", "an image: the package image reads it"),
        (rb"\x1bL(J|ua)", "compiled Lua: loadfile loads it"),
        (
            rb"version https://git-lfs",
            "a pointer of Git LFS: `git lfs pull` brings the file itself",
        ),
        (
            rb"(\xef\xbb\xbf)?\s*<(!doctype html|html|head|\?xml)",
            "a page of the web, which a server may send instead of a file: download it again",
        ),
        (rb"[\t\n\r\x20-\x7e\x80-\xff]+\Z", "a text file"),
    )
]
_ASCII = re.compile(rb"[0-8]\r?\n")  # the kind of an object
_BINARY = re.compile(rb"[\0-\x08]\0\0\0")
_SWAPPED = re.compile(rb"\0\0\0[\x01-\x08]")


def is_ascii(start: bytes) -> bool:
    """Tell whether a file of Torch7 that begins so is an ascii one."""
    return _ASCII.match(start) is not None


def explanation(start: bytes, mode: str | None) -> str:
    """Explain why a file could not be read; '' where nothing is known.

    start: its first bytes, `START` of them. mode: 'binary' or 'ascii', as it was read; None where
    that was found out.
    """
    if not start:
        return "the file is empty"
    if is_ascii(start):
        return "this is an ascii file, to be read as 'ascii'" if mode == "binary" else ""
    if _BINARY.match(start):
        return "this is a binary file, to be read as 'binary'" if mode == "ascii" else ""
    if _SWAPPED.match(start):
        if mode is None:
            return ""
        return "this is a file of the other byte order, which `th --convert` writes anew"
    kind = foreign_kind(start)
    return f"this is no file of Torch7, but {kind}" if kind else ""


def foreign_kind(start: bytes) -> str:
    """Name the kind of a file that begins so, and what reads it; '' if it is not known."""
    return next((kind for pattern, kind in _KINDS if pattern.match(start)), "")


def is_of_torch7(start: bytes) -> bool:
    """Tell whether a file begins as Torch7's do."""
    return any(pattern.match(start) for pattern in (_ASCII, _BINARY, _SWAPPED))


def explanation_of_file(name: bytes, mode: str | None) -> str:
    """Return the `explanation` for a file by its name; '' where it cannot be read."""
    try:
        if not stat.S_ISREG(os.stat(name).st_mode):
            return ""
        with open(name, "rb") as file:
            return explanation(file.read(START), mode)
    except OSError:
        return ""
