--- Packages of Lua files that programs for Torch7 require: what they are, and where their sources
-- are. `th --install` brings them; the message about a missing module tells so.
-- @module sources

-- name, repository on GitHub, what it is
return [[
argcheck torch/argcheck checks of functions' arguments
autograd twitter/torch-autograd derivatives of functions
class torch/class classes
cwrap torch/cwrap wrappers of C functions, as text
dataload Element-Research/dataload datasets and their loaders
dp nicholas-leonard/dp experiments in deep learning
dpnn Element-Research/dpnn more layers for nn
graph torch/graph graphs
inn szagoruyko/imagine-nn layers for nn, of which those in C do not work
middleclass kikito/middleclass classes
mnist andresy/mnist pictures of digits
moses Yonaba/Moses functions for tables
mpiT sixin-zh/mpiT calls of MPI, and training by parameter servers
nn torch/nn layers of neural networks
nngraph torch/nngraph networks of nn that are graphs
nninit Kaixhin/nninit initial weights of nn
nnx clementfarabet/lua---nnx experimental layers for nn
optim torch/optim optimization: sgd, adam and others
optnet fmassa/optimize-net networks of nn in less memory
penlight lunarmodules/Penlight libraries in the manner of Python's, whose module is pl
pl lunarmodules/Penlight libraries in the manner of Python's
rnn Element-Research/rnn recurrent layers for nn
torchnet torchnet/torchnet datasets, engines and meters for training
torchmpi facebookresearch/TorchMPI training by several processes
torchx nicholas-leonard/torchx more functions for torch
totem deepmind/torch-totem tests of torch programs
unsup koraykv/unsup unsupervised learning
]]
