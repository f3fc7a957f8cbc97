"""PyTorch's classes besides Tensor: storages, limits, generators, old constructors."""
