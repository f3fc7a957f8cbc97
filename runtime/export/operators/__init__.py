"""What nets compute, each with PyTorch's text and ONNX's operators side by side."""
