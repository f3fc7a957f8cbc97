"""Messages of editors: what is one, and what is none."""

import json
from io import BytesIO

import pytest

from tests.processes import run_th
from th_shell.messages import NoMessageError, read_message

BAD = [
    b"Foo: 5\r\n\r\n{}",
    b"\r\nContent-Length: 7\r\n\r\n{'a':1}",
    b"Content-Length",
    b"Content-Length: -5\r\n\r\n{}",
    b"Content-Length: x\r\n\r\n{}",
    b"Content-Length: 99999999999999\r\n\r\n{}",
    b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n{}",
    b'Content-Length: 50\r\n\r\n{"a": 1}',
    *(
        b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        for body in (
            b"[]",
            b"null",
            b'"a"',
            b"5",
            b"{}",
            b"{a}",
            b'{"a": "\xff"}',
            b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        )
    ),
]


@pytest.mark.parametrize("head", [b"Content-Length: 8\r\n\r\n", b"a: b\ncontent-length:8\n\n"])
def test_messages(head: bytes) -> None:
    source = BytesIO(head + b'{"a": 1}' + head + b'{"a":2} ')
    read = [read_message(source) for _ in range(4)]
    assert read == [b'{"a": 1}', b'{"a":2} ', None, None]


@pytest.mark.parametrize("sent", BAD)
def test_what_is_none(sent: bytes) -> None:
    with pytest.raises(NoMessageError, match="^what the client has sent is no message$"):
        read_message(BytesIO(sent))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("option", "method"),
    [("--lsp", {"jsonrpc": "2.0", "method": "shutdown"}), ("--dap", {"command": "threads"})],
)
@pytest.mark.parametrize("sent", ["Foo: 5\n\n{}", "Content-Length: 3\n\n[1]"])
def test_a_server_ends_with_an_error(option: str, method: dict[str, str], sent: str) -> None:
    text = json.dumps({"id": 7, "seq": 7, **method})
    done = run_th(option, input=f"content-length: {len(text)}\n\n{text}{sent}")
    assert ('"id": 7' in done.stdout) or ('"request_seq": 7' in done.stdout)
    assert (done.returncode, done.stderr) == (1, "th: what the client has sent is no message\n")
