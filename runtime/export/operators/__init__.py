"""Operators: each adds a node to a graph, with PyTorch's text and ONNX's operators side by side."""
