"""Names what LSTMs and GRUs compute that are written step by step, as papers do."""

from th_shell.runtime.export.graph import Graph, Node, Value

#: What cells compute, and names for the result and for the values that it is computed of.
_CELLS = {
    "torch.sigmoid(?) * ? + torch.sigmoid(?) * torch.tanh(?)": "c f prev_c i g",
    "torch.sigmoid(?) * torch.tanh(?) + torch.sigmoid(?) * ?": "c i g f prev_c",
    "torch.sigmoid(?) * torch.tanh(?)": "h o c",
    "torch.tanh(?) * torch.sigmoid(?)": "h c o",
    "torch.tanh(?) * 1 - torch.sigmoid(?) + torch.sigmoid(?) * ?": "h n z z prev_h",
}
_OPERATORS = ("{0} + {1}", "{0} * {1}", "1 - {0}")
_GATES = ("torch.sigmoid({0})", "torch.tanh({0})")
_DEPTH = 4  # of what is computed in a cell


def name_cells(graph: Graph) -> None:
    """Name gates and states, a net's inputs that are states, and the layers in loops' bodies."""
    words: dict[int, str] = {}
    before: list[Value] = []
    for node in graph.nodes:
        if node.loop is not None:
            name_cells(node.loop.body)
        text, leaves = _expanded(node.outputs[0])
        names = _CELLS.get(text, "").split()
        is_output = text.count("?") == 2 and names
        if is_output and all(words.get(id(leaf)) != "c" for leaf in leaves):
            continue  # a product of other kinds
        values = [node.outputs[0], *leaves] if names else []
        named = dict(zip(map(id, values), names, strict=True))
        words |= {key: name for key, name in named.items() if "_" not in name}
        before += [each for each in values if named[id(each)] == "prev_c" and each.node is None]
    for node in graph.nodes:
        letters = [words.get(id(value), "") for value in (*node.outputs, *node.inputs[:1])]
        if len(node.outputs) > 1 and any(letters[:-1]):
            node.word = " ".join(letter or "r" for letter in letters[: len(node.outputs)])
        elif not node.parameters and (letters[0] or node.expression in _GATES):
            node.word = letters[0] or letters[-1] or node.word
    if graph.outer is None:
        _name_inputs(graph, before)
        return
    for node in graph.nodes:
        if node.parameters and node.word == "x":
            node.word = f"{_source(node)}_to_{_target(graph, node)}"


def _expanded(value: Value, depth: int = _DEPTH) -> tuple[str, list[Value]]:
    """Return an expression with question marks for the values in it, and these values."""
    node = value.node
    text = node.expression if node and not node.parameters else ""
    if node is not None and text in _GATES:
        return text.replace("{0}", "?"), node.inputs[:1]
    if node is None or not depth or text not in _OPERATORS:
        return "?", [value]
    leaves: list[Value] = []
    for number, each in enumerate(node.inputs):
        inner, values = _expanded(each, depth - 1)
        text, leaves = text.replace(f"{{{number}}}", inner), leaves + values
    return text, leaves


def _name_inputs(graph: Graph, before: list[Value]) -> None:
    """Name inputs that are states; before: those that are cells."""
    others = [value for value in graph.inputs if all(value is not each for each in before)]
    alike = [value for value in others if before and value.shape == before[0].shape]
    for letter, values in (("c", before), ("h", alike)):
        for number, value in enumerate(values, 1) if len(alike) == len(before) else ():
            value.name = f"prev_{letter}{number if len(before) > 1 else ''}"


def _source(node: Node) -> str:
    """Return the name of the step or state that a layer takes; a lone parameter is a peephole."""
    value = node.inputs[0] if node.inputs else None
    while value is not None and value.node is not None and len(value.node.inputs) == 1:
        value = value.node.inputs[0]
    if value is None or value.node is None:
        return value.name if value is not None else "c"
    return "xh" if "torch.cat" in value.node.expression else "h"


def _target(graph: Graph, node: Node | None) -> str:
    """Return the name of the gate or state that a layer's result becomes a part of."""
    while node is not None and (node.parameters or len(node.word) > 1 or node.word == "x"):
        if " " in node.word:
            return "gates"
        value = node.outputs[0]
        node = next((each for each in graph.nodes if value in each.inputs), None)
    return node.word if node is not None else "h"
