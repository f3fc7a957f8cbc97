"""What can be called: the rows of the table of operations, and what is written in Lua alone.

The forms of the rows tell the kinds of their arguments. `EXTRA` gives the same for functions
that have no row; `EXCLUDED` says which are not called, and why.
"""

import re
from dataclasses import dataclass
from functools import cache

import th_shell.runtime.ops  # noqa: F401  # fills the table
from th_shell.runtime.calls.forms import parse_form
from th_shell.runtime.calls.table import TABLE


@dataclass(frozen=True)
class Operation:
    """One form of one function.

    function: the Lua expression of what is called. dtype: the class that its form is for.
    arguments: words; a tuple has the words of which a call takes one.
    destinations: how many of the first ones are destinations that a call may leave out.
    """

    function: str
    dtype: str
    arguments: tuple[str, ...]
    destinations: int = 0


#: Classes whose operations are named `x.name`, for the prefixes of rows' names.
_PLACES = {"Storage": "torch.{}Storage", "Generator": "torch.Generator"}

_ANY = "Double Float Long Int Short Char Byte"

#: Functions of Lua's half, by the expression of what they are members of: names and forms.
EXTRA: dict[str, dict[str, str]] = {
    "torch.{}Tensor": {
        "apply": "T function",
        "map": "T T function",
        "map2": "T T T function",
        "cdata": "T",
        "data": "T",
        "totable": "T",
        "split": "T long [index]",
        "chunk": "T long [index]",
        "real": "T",
        "isTensor": "any",
        "write": "T file",
        "read": "T file",
        "__factory": "",
    },
    "meta('{}Tensor')": {
        "__index": "T any",
        "__newindex": "T any any",
        "__len": "T",
        "__add": "T T",
        "__sub": "T T",
        "__mul": "T T",
        "__div": "T real",
        "__mod": "T real",
        "__unm": "T",
        "__pow": "T real",
        "__eq": "T T",
        "__le": "T T",
        "__lt": "T T",
        "__call": "T any",
        "__concat": "T string",
        "__tostring": "T",
        "__index__": "T any",
        "__newindex__": "T any any",
        "__len__": "T",
        "__eq__": "T T",
        "__tostring__": "T",
        "__add__": "T T",
        "__sub__": "T T",
        "__mul__": "T T",
        "__div__": "T real",
        "__mod__": "T real",
        "__unm__": "T",
    },
    "torch.{}Storage": {
        "cdata": "Storage",
        "data": "Storage",
        "totable": "Storage",
        "write": "Storage file",
        "read": "Storage file",
    },
    "meta('{}Storage')": {
        "__index": "Storage any",
        "__newindex": "Storage any any",
        "__len": "Storage",
        "__eq": "Storage Storage",
        "__tostring": "Storage",
        "__index__": "Storage any",
        "__newindex__": "Storage any any",
        "__len__": "Storage",
        "__eq__": "Storage Storage",
        "__tostring__": "Storage",
        "__factory": "",
    },
    "torch.Generator": {
        "write": "Generator file",
        "read": "Generator file",
        "new": "",
        "__factory": "",
    },
    "torch": {
        "cdata": "any",
        "data": "any",
        "typename": "any",
        "type": "any",
        "totable": "any",
        "isTensor": "any",
        "isStorage": "any",
        "isTypeOf": "any string",
        "typename2id": "string",
        "isequal": "any any",
        "pointer": "any",
        "id": "any",
        "getenv": "any",
        "getmetatable": "string",
        "split": "T long [index]",
        "chunk": "T long [index]",
        "view": "T sizes",
        "viewAs": "T T",
        "expand": "T sizes",
        "expandAs": "T T",
        "repeatTensor": "T sizes",
        "permute": "T permutation",
        "multinomialAliasSetup": "T",
        "multinomialAlias": "LongTensor table",
        "Storage": "size",
        "Tensor": "sizes",
        "serialize": "any [mode]",
        "deserialize": "string [mode]",
        "serializeToStorage": "any",
        "deserializeFromStorage": "Storage",
        "save": "path any [mode]",
        "load": "path [mode]",
        "saveobj": "path any",
        "loadobj": "path",
        "isatty": "any",
        "tic": "",
        "toc": "any",
        "getnumthreads": "",
        "setnumthreads": "index",
        "getnumcores": "",
        "getdefaulttensortype": "",
        "setheaptracking": "boolean",
        "version": "",
        "DiskFile": "path filemode",
        "MemoryFile": "[CharStorage] filemode",
        "PipeFile": "command filemode",
        "Timer": "",
        "Generator": "",
        "all": "ByteTensor",
        "any": "ByteTensor",
    },
    "meta('File')": {
        name: form
        for names, form in {
            "ascii autoSpacing binary clearError hasError isAutoSpacing isBinary isOpened": "file",
            "isQuiet isReadable isReferenced isWritable isWritableObject noAutoSpacing": "file",
            "pedantic position quiet readObject synchronize seekEnd close": "file",
            "readBool readByte readChar readDouble readFloat readInt readLong readShort": (
                "file [counted]"
            ),
            "writeBool": "file boolean",
            "writeByte writeChar writeDouble writeFloat writeInt writeLong writeShort": (
                "file written"
            ),
            "readString": "file format",
            "writeString": "file string",
            "writeObject": "file any",
            "seek": "file long",
            "referenced": "file boolean",
        }.items()
        for name in names.split()
    },
    "torch.DiskFile": {
        "bigEndianEncoding": "file",
        "littleEndianEncoding": "file",
        "nativeEndianEncoding": "file",
        "isBigEndianCPU": "",
        "isLittleEndianCPU": "",
        "longSize": "file long",
        "noBuffer": "file",
        "new": "path filemode",
        "__tostring__": "file",
    },
    "torch.MemoryFile": {
        "longSize": "file long",
        "storage": "file",
        "new": "filemode",
        "__tostring__": "file",
    },
    "torch.PipeFile": {"new": "command filemode", "__tostring__": "file"},
    "torch.Timer": {
        "new": "",
        "reset": "timer",
        "resume": "timer",
        "stop": "timer",
        "time": "timer",
        "__tostring__": "timer",
    },
}

#: Members that are not called: they change classes for all that comes after, or run what they
#: are given; or stand for something called by another name.
EXCLUDED = frozenset(
    """class metatype newmetatable setmetatable updateerrorhandlers updatethreadlocals test include
    getconstructortable packageLuaPath setenv factory pushudata setdefaulttensortype trustfunctions
    gpuascpu cuda pstrf_ CmdLine Tester TestSuite File reshape_ _heaptracking _gen""".split()
)

_WORD = re.compile(r"\([^)]*\)|<[^>]*>|\[[^\]]*\]|[^\s,|]+(?: \.\.\.)?|[,|]")


@cache
def operations() -> tuple[Operation, ...]:
    """Everything that can be called, each form for each class."""
    found = [*_rows(), *_extra()]
    return tuple(found)


def _rows() -> list[Operation]:
    found = []
    for name, rows in TABLE.items():
        for row in rows:
            for dtype in row.types:
                for space, place in _spaces(name, dtype.name):
                    form = row.form(space)
                    member = name.partition(".")[2] or name
                    if form is None or member.startswith(("operator_", "classId", "default")):
                        continue
                    read = _informal(form) if row.reads_call else [_formal(form, dtype)]
                    count = _destinations(form)
                    found += [
                        Operation(f"{place}.{member}", dtype.name, words, count) for words in read
                    ]
    return found


def _destinations(form: str) -> int:
    words = [word.startswith("[*") for word in form.split()]
    return words.index(False) if False in words else len(words)


def _spaces(name: str, dtype: str) -> list[tuple[str, str]]:
    prefix = name.partition(".")[0]
    if prefix in _PLACES and "." in name:
        return [("method", _PLACES[prefix].format(dtype))]
    return [("method", f"torch.{dtype}Tensor"), ("function", "torch")]


def _formal(form: str, dtype: object) -> tuple[str, ...]:
    words = []
    for argument in parse_form(form, dtype).arguments:  # type: ignore[arg-type]
        if not argument.invisible:
            word = argument.kind.name
            words.append(f"[{word}]" if argument.optional else word)
    return tuple(words)


def _informal(form: str) -> list[tuple[str, ...]]:
    """The forms that a line of help gives; alternatives in brackets are tried in turn."""
    found = []
    for choice in range(2):
        words: list[str] = []
        forms = [words]
        for word in _WORD.findall(form):
            if word in "|,":
                words = []
                forms.append(words)
                continue
            optional = word.startswith("[")
            inner = word.strip("[]()*").split("|")[choice * word.count("|")].strip(" *")
            inner = "path" if inner == "file" else inner
            words.append(f"[{inner}]" if optional else inner)
        found += [tuple(words) for words in forms]
    return sorted(set(found))


def _extra() -> list[Operation]:
    found = []
    for place, members in EXTRA.items():
        dtypes = f"{_ANY} Half".split() if "{}" in place else ["Double"]
        for dtype in dtypes:
            for name, form in members.items():
                function = f"{place.format(dtype)}.{name}"
                found.append(Operation(function, dtype, tuple(form.split())))
    return found
