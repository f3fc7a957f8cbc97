"""Pictures of tensors, images and plots: in a terminal, in a file, or where a host shows them."""
