"""Tensors: element types, memory, storages, views and their text."""
