"""Files of PyTorch: what torch.save writes and torch.load reads."""
