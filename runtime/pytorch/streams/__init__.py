"""Random numbers as PyTorch's CPU makes them, bit for bit: functions that fill numpy's arrays.

`words.py` has the stream of words, from which all else is made, and `generator.py` torch.Generator,
which has one. The other modules turn words into numbers of distributions. They check nothing and
know no tensors: ``ops/random.py`` does.

What a function here fills gets its numbers in the order of memory: along the dimension with the
smallest stride first, as PyTorch goes through a tensor.
"""
