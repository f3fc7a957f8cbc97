"""The text of tensors and storages."""
