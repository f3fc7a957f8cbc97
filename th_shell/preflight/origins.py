"""What expressions of a program stand for, where that is certain."""

from __future__ import annotations

from th_shell.preflight.knowledge import KEPT_BY, MAKERS
from th_shell.preflight.syntax_tree import Call, Index, Invoke, Name, Node, String

_DEPTH = 20  # steps from an alias to what it stands for


def value(node: Node) -> Node:
    """What a local variable stands for that is defined once, else the expression itself."""
    for _ in range(_DEPTH):
        if not isinstance(node, Name) or node.local is None or node.local.is_reassigned:
            break
        if node.local.value is None:
            break
        node = node.local.value
    return node


def origin(node: Node, depth: int = _DEPTH) -> str:
    """The path of globals that an expression stands for, such as 'torch.randn'; '' for none."""
    node = value(node)
    if isinstance(node, Name):
        return "" if node.local else node.name
    if isinstance(node, Index) and node.key and depth:
        base = origin(node.base, depth - 1)
        return base and f"{base}.{node.key}"
    return required_module(node) or ""


def required_module(node: Node) -> str | None:
    """The name of the module that a call of `require` loads, where it is a literal."""
    if isinstance(node, Call) and isinstance(node.function, Name):
        if node.function.name == "require" and node.function.local is None and node.arguments:
            first = node.arguments[0]
            return first.value if isinstance(first, String) else None
    return None


def is_tensor(node: Node, depth: int = _DEPTH) -> bool:
    """Whether an expression is certainly a tensor, if it is anything."""
    node = value(node)
    if isinstance(node, Call):
        root, _, name = origin(node.function).partition(".")
        return root == "torch" and name in MAKERS
    if isinstance(node, Invoke) and depth:
        return node.name in KEPT_BY and is_tensor(node.base, depth - 1)
    return False
