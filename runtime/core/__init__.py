"""What a tensor is: element types, memory, storages, tensors and their text."""
