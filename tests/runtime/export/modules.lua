--- Writes the file that test_modules.py compares with: modules of nn and dpnn, with an input and
-- what they compute of it.
-- @script modules
-- usage: th modules.lua modules.t7, with nn, nngraph and dpnn where Lua finds them; then gzip -9n

require 'nn'
require 'nngraph'
require 'dpnn'

torch.setdefaulttensortype('torch.FloatTensor')
torch.manualSeed(1)

local random = torch.randn
local entries = {}

-- What is used in training alone, and what a module computes anew.
local LEFT_OUT = {
  'output', 'gradInput', 'gradWeight', 'gradBias', 'gradV', 'gradG', 'gradDiagCov', 'finput',
  'fgradInput', 'addBuffer', 'allcolumns', 'indices', 'ones', 'coef', 'noise', 'buffer', 'norm',
  'save_mean', 'save_std', 'localstds', 'adjustedstds', 'thresholdedstds', 'localsums',
  'adjustedsums', 'normp', 'scale',
}

local function strip(value, seen)
  if type(value) ~= 'table' or torch.isTensor(value) or seen[value] then return end
  seen[value] = true
  if torch.typename(value) then
    for _, name in ipairs(LEFT_OUT) do
      if type(value[name]) ~= 'number' then value[name] = nil end
    end
    for name, field in pairs(value) do
      if type(name) == 'string' and name:sub(1, 1) == '_' and torch.isTensor(field) then
        value[name] = nil
      end
    end
  end
  for _, field in pairs(value) do strip(field, seen) end
end

-- Copies a value, so that a module that changes it later does not change what is saved.
local function copy(value)
  if torch.isTensor(value) then return value:clone() end
  if type(value) == 'number' then return torch.Tensor { value } end
  local result = {}
  for key, item in pairs(value) do result[key] = copy(item) end
  return result
end

-- Lets running statistics differ from what they are at first.
local function vary(module)
  if module.running_mean then module.running_mean:normal() end
  if module.running_var then module.running_var:uniform(0.5, 2) end
  if torch.type(module):find 'Normalization' and module.weight then module.weight:uniform(0.5, 1) end
end

-- The sizes of an input, as --input takes them.
local function sizes(value)
  if torch.isTensor(value) then return table.concat(value:size():totable(), 'x') end
  local parts = {}
  for number, item in ipairs(value) do
    parts[number] = torch.isTensor(item) and sizes(item) or '(' .. sizes(item) .. ')'
  end
  return table.concat(parts, ',')
end

--- Adds a module.
-- @param name of the entry
-- @param module it
-- @param input a tensor or a table
-- @param[opt] change a function that changes the module before it is saved
-- @param[opt] shape the sizes of the input, where some are to be left open
local function add(name, module, input, change, shape)
  module:apply(vary)
  module:evaluate()
  local saved = copy(input)
  local output = copy(module:forward(input))
  module:clearState()
  strip(module, {})
  if change then change(module) end
  entries[#entries + 1] =
    { name = name, module = module, input = saved, output = output, shape = shape or sizes(saved) }
end

local function sequential(...)
  local net = nn.Sequential()
  for _, module in ipairs { ... } do net:add(module) end
  return net
end

-- Indices from 1 to a number.
local function indices(highest, ...) return torch.Tensor(...):random(1, highest) end

local function positive(...) return torch.rand(...):add(0.1) end

-- activations
for _, name in ipairs {
  'Abs', 'ELU', 'Exp', 'HardShrink', 'HardTanh', 'Identity', 'LeakyReLU', 'LogSigmoid',
  'LogSoftMax', 'PReLU', 'RReLU', 'ReLU', 'ReLU6', 'Sigmoid', 'SoftMax', 'SoftMin', 'SoftPlus',
  'SoftShrink', 'SoftSign', 'Square', 'Tanh', 'TanhShrink', 'Threshold', 'Contiguous', 'Copy',
  'GradientReversal', 'ZeroGrad',
} do
  add(name, nn[name](), random(3, 4))
end
add('ELU: alpha', nn.ELU(0.5), random(2, 3))
add('LeakyReLU: slope', nn.LeakyReLU(0.2), random(2, 3))
add('RReLU: limits', nn.RReLU(0.2, 0.4), random(2, 3))
add('HardTanh: limits', nn.HardTanh(-0.3, 0.4), random(2, 3))
add('HardTanh: old', nn.HardTanh(), random(2, 3), function(m) m.min_val, m.max_val = nil, nil end)
add('Clamp', nn.Clamp(-0.2, 0.5), random(2, 3))
add('Clip', nn.Clip(-0.2, 0.5), random(2, 3))
add('Threshold: value', nn.Threshold(0.3, -2), random(2, 3))
add('SoftPlus: beta', nn.SoftPlus(2), random(2, 3))
add('SoftShrink: limit', nn.SoftShrink(0.2), random(2, 3))
add('HardShrink: limit', nn.HardShrink(0.2), random(2, 3))
add('PReLU: channels', nn.PReLU(3), random(2, 3, 2, 2))
add('CReLU', nn.CReLU(3), random(2, 3, 2, 2))
add('CReLU: sample', nn.CReLU(1), random(4), nil, 'n')
add('GatedLinearUnit', nn.GatedLinearUnit(), random(2, 6))
add('GatedLinearUnit: dimension', nn.GatedLinearUnit(2), random(2, 4, 3))
add('SoftMax: planes', nn.SoftMax(), random(2, 3, 2, 2))
add('SoftMax: planes of a sample', nn.SoftMax(), random(3, 2, 2), nil, 'cx2x2')
add('SpatialSoftMax', nn.SpatialSoftMax(), random(2, 3, 2, 2))
add('SpatialLogSoftMax', nn.SpatialLogSoftMax(), random(2, 3, 2, 2))

-- what passes its input through
add('Dropout', nn.Dropout(0.3), random(2, 3))
add('Dropout: old', nn.Dropout(0.3, true), random(2, 3))
add('SpatialDropout', nn.SpatialDropout(0.3), random(2, 3, 2, 2))
add('VolumetricDropout', nn.VolumetricDropout(0.3), random(2, 3, 2, 2, 2))
add('WhiteNoise', nn.WhiteNoise(0.5, 1), random(2, 3))
add('L1Penalty', nn.L1Penalty(0.1), random(2, 3))
add('TotalDropout', nn.TotalDropout(), random(2, 3))
add('SpatialRegionDropout', nn.SpatialRegionDropout(), random(2, 3, 4, 4))
add('ReinforceBernoulli', nn.ReinforceBernoulli(), positive(2, 3))
add('ReinforceCategorical', nn.ReinforceCategorical(), positive(2, 3))
add('ReinforceNormal', nn.ReinforceNormal(0.1), random(2, 3))
add('ReinforceNormal: table', nn.ReinforceNormal(), { random(2, 3), positive(2, 3) })
add('CategoricalEntropy', nn.CategoricalEntropy(), positive(2, 3))
add('PCAColorTransform', nn.PCAColorTransform(3, torch.eye(3), torch.ones(3)), random(2, 3, 2, 2))
add('SimpleColorTransform', nn.SimpleColorTransform(3, torch.ones(3)), random(2, 3, 2, 2))

add('PrintSize', nn.PrintSize(), random(2, 3))

-- arithmetic
add('Sqrt', nn.Sqrt(), positive(2, 3))
add('Log', nn.Log(), positive(2, 3))
add('Power', nn.Power(1.5), positive(2, 3))
add('MulConstant', nn.MulConstant(3), random(2, 3))
add('AddConstant', nn.AddConstant(3), random(2, 3))
add('AddConstant: vector', nn.AddConstant(random(3)), random(2, 3))
add('Mul', nn.Mul(), random(2, 3))
add('Add', nn.Add(3), random(2, 3))
add('Add: scalar', nn.Add(3, true), random(2, 3))
add('Add: planes', nn.Add(6), random(2, 3, 2))
add('CAdd', nn.CAdd(3), random(2, 3))
add('CAdd: planes', nn.CAdd(1, 3, 1, 1), random(2, 3, 2, 2))
add('CMul', nn.CMul(3), random(2, 3))
add('CMul: planes', nn.CMul(1, 3, 1, 1), random(2, 3, 2, 2))
add('CMul: sizes of a sample', nn.CMul(3, 2), random(2, 3, 2))
add('CMul: as many', nn.CMul(6), random(2, 3, 2))

-- linear layers, products, distances
add('Linear', nn.Linear(3, 2), random(4, 3))
add('Linear: without bias', nn.Linear(3, 2, false), random(4, 3))
add('LinearWeightNorm', nn.LinearWeightNorm(3, 2), random(4, 3))
add('Bilinear', nn.Bilinear(3, 2, 4), { random(2, 3), random(2, 2) })
add('Bilinear: without bias', nn.Bilinear(3, 2, 4, false), { random(2, 3), random(2, 2) })
add('MM', nn.MM(), { random(2, 3, 4), random(2, 4, 2) })
add('MM: transposed', nn.MM(true, true), { random(2, 4, 3), random(2, 2, 4) })
add('MM: samples', nn.MM(false, true), { random(2, 3), random(4, 3) })
add('MV', nn.MV(), { random(2, 3, 4), random(2, 4) })
add('MV: transposed', nn.MV(true), { random(2, 4, 3), random(2, 4) })
add('MixtureTable', nn.MixtureTable(), { random(2, 3), random(2, 3, 4) })
add('MixtureTable: dimension', nn.MixtureTable(3), { random(2, 3), random(2, 4, 3) })
add('MixtureTable: table', nn.MixtureTable(), { random(2, 2), { random(2, 4), random(2, 4) } })
add('LookupTable', nn.LookupTable(5, 3), indices(5, 2, 4))
add('LookupTable: limit', nn.LookupTable(5, 3, 0, 1), indices(5, 4))
add('DotProduct', nn.DotProduct(), { random(2, 3), random(2, 3) })
add('CosineDistance', nn.CosineDistance(), { random(2, 3), random(2, 3) })
add('CosineDistance: one pair', nn.CosineDistance(), { random(3), random(3) }, nil, 'n,n')
add('PairwiseDistance', nn.PairwiseDistance(), { random(2, 3), random(2, 3) })
add('PairwiseDistance: of p', nn.PairwiseDistance(3), { random(2, 3), random(2, 3) })
add('PairwiseDistance: one', nn.PairwiseDistance(1), { random(3), random(3) }, nil, 'n,n')
add('Cosine', nn.Cosine(3, 4), random(2, 3))
add('Euclidean', nn.Euclidean(3, 4), random(2, 3))
add('WeightedEuclidean', nn.WeightedEuclidean(3, 4), random(2, 3))
add('NCEModule', (function()
  nn.NCEModule.fastNoise = function() end -- torchx, of which nothing is used
  local module = nn.NCEModule(3, 5, 2, torch.ones(5))
  module.normalized, module.logsoftmax = true, true
  return module
end)(), { random(2, 3), torch.LongTensor { 1, 2 } })

-- convolutions
add('SpatialConvolution', nn.SpatialConvolution(2, 3, 3, 2, 2, 1, 1, 0), random(2, 2, 5, 6))
add('SpatialConvolution: old', nn.SpatialConvolution(2, 3, 3, 3, 1, 1, 1), random(2, 2, 5, 5),
  function(m)
    m.weight, m.padding, m.padW, m.padH = m.weight:view(3, 18), 1, nil, nil
  end)
add('SpatialConvolutionMM', nn.SpatialConvolutionMM(2, 3, 3, 3), random(2, 2, 5, 5))
add('SpatialDilatedConvolution', nn.SpatialDilatedConvolution(2, 3, 3, 2, 1, 2, 2, 1, 2, 1),
  random(2, 2, 6, 7))
add('SpatialConvolutionMap', nn.SpatialConvolutionMap(nn.tables.random(3, 4, 2), 3, 2, 1, 2),
  random(2, 3, 5, 5))
add('SpatialDepthWiseConvolution', nn.SpatialDepthWiseConvolution(2, 3, 3, 3, 1, 1, 1, 1),
  random(2, 2, 4, 4))
add('SpatialFullConvolution', nn.SpatialFullConvolution(2, 3, 3, 2, 2, 3, 1, 0, 1, 2),
  random(2, 2, 3, 4))
add('SpatialFullConvolution: sizes', nn.SpatialFullConvolution(2, 3, 3, 3, 2, 2, 1, 1),
  { random(2, 2, 3, 4), random(2, 1, 6, 7) })
add('SpatialSubSampling', nn.SpatialSubSampling(2, 3, 2, 2, 1), random(2, 2, 5, 5))
add('TemporalConvolution', nn.TemporalConvolution(3, 4, 2, 2), random(2, 5, 3))
add('TemporalConvolution: width 1', nn.TemporalConvolution(3, 4, 1), random(2, 5, 3), nil, '1xtx3')
add('TemporalSubSampling', nn.TemporalSubSampling(3, 2, 2), random(5, 3), nil, 'tx3')
add('TemporalConvolution: sample', nn.TemporalConvolution(3, 4, 2), random(5, 3), nil, 'tx3')
add('VolumetricConvolution', nn.VolumetricConvolution(2, 3, 2, 3, 1, 1, 2, 1, 1, 1, 0),
  random(2, 2, 3, 3, 5))
add('VolumetricDilatedConvolution',
  nn.VolumetricDilatedConvolution(1, 2, 2, 2, 2, 1, 1, 1, 0, 0, 0, 2, 1, 1), random(2, 1, 4, 3, 3))
add('VolumetricFullConvolution', nn.VolumetricFullConvolution(2, 3, 2, 3, 2, 1, 2, 2, 0, 1, 0, 0, 1),
  random(2, 2, 2, 3, 2))
add('VolumetricFullConvolution: old', nn.VolumetricFullConvolution(2, 3, 2, 3, 2, 1, 1, 1, 0, 1, 0),
  random(2, 2, 2, 3, 2), function(m)
    m.weight = m.weight:transpose(1, 2):contiguous()
    for _, axis in ipairs { 'T', 'W', 'H' } do
      m['p' .. axis], m['pad' .. axis], m['adj' .. axis] = m['pad' .. axis], nil, nil
    end
  end)
add('WeightNorm', nn.WeightNorm(nn.Linear(3, 2)), random(2, 3))
add('WeightNorm: other dimension', nn.WeightNorm(nn.SpatialFullConvolution(2, 3, 2, 2), 2),
  random(2, 2, 3, 3))
add('FireModule', nn.FireModule(3, 2, 2, 3), random(2, 3, 4, 4))
add('Inception', nn.Inception {
  inputSize = 2, outputSize = { 2, 1 }, reduceSize = { 2, 1, 2, 1 }, kernelSize = { 3, 1 },
  poolSize = 2,
}, random(2, 2, 4, 4))

-- pooling, resampling, padding
add('SpatialMaxPooling', nn.SpatialMaxPooling(3, 2, 2, 1, 1, 0), random(2, 2, 5, 6))
add('SpatialMaxPooling: ceil', nn.SpatialMaxPooling(3, 3, 2, 2):ceil(), random(2, 2, 6, 6))
add('SpatialMaxPooling: windows dropped', nn.SpatialMaxPooling(1, 3, 2, 1, 0, 1):ceil(),
  random(1, 1, 3, 8))
add('SpatialDilatedMaxPooling', nn.SpatialDilatedMaxPooling(2, 2, 1, 1, 0, 0, 2, 1),
  random(2, 2, 5, 5))
add('SpatialAveragePooling', nn.SpatialAveragePooling(3, 2, 2, 1, 1, 0), random(2, 2, 5, 6))
add('SpatialAveragePooling: ceil', nn.SpatialAveragePooling(3, 3, 2, 2):ceil(), random(2, 2, 6, 6))
add('SpatialAveragePooling: windows cut', nn.SpatialAveragePooling(4, 3, 3, 2, 1, 1):ceil(),
  random(1, 1, 6, 6))
add('SpatialAveragePooling: without padding',
  nn.SpatialAveragePooling(3, 3, 2, 2, 1, 1):setCountExcludePad(), random(2, 2, 5, 5))
add('SpatialAveragePooling: sums', (function()
  local module = nn.SpatialAveragePooling(3, 3, 2, 2, 1, 1):setCountExcludePad()
  module.divide = nil
  return module
end)(), random(2, 2, 5, 5))
add('SpatialAveragePooling: all', nn.SpatialAveragePooling(4, 3), random(2, 2, 3, 4))
add('SpatialAdaptiveAveragePooling', nn.SpatialAdaptiveAveragePooling(3, 2), random(2, 2, 5, 4))
add('SpatialAdaptiveAveragePooling: equal', nn.SpatialAdaptiveAveragePooling(3, 2),
  random(2, 2, 4, 6))
add('SpatialAdaptiveMaxPooling', nn.SpatialAdaptiveMaxPooling(3, 2), random(2, 2, 5, 4))
add('SpatialAdaptiveMaxPooling: all', nn.SpatialAdaptiveMaxPooling(1, 1), random(2, 2, 5, 4))
add('SpatialLPPooling', nn.SpatialLPPooling(2, 2, 2, 2), random(2, 2, 4, 4))
add('SpatialLPPooling: of 3', nn.SpatialLPPooling(2, 3, 2, 2, 1, 1), positive(2, 2, 4, 4))
add('TemporalMaxPooling', nn.TemporalMaxPooling(2, 1), random(2, 5, 3))
add('TemporalMaxPooling: sample', nn.TemporalMaxPooling(2), random(5, 3), nil, 'tx3')
add('VolumetricMaxPooling', nn.VolumetricMaxPooling(2, 3, 2, 1, 2, 1, 1, 1, 0),
  random(2, 1, 3, 4, 5))
add('VolumetricDilatedMaxPooling',
  nn.VolumetricDilatedMaxPooling(2, 2, 2, 1, 1, 1, 0, 0, 0, 2, 1, 1), random(2, 1, 4, 3, 3))
add('VolumetricAveragePooling', nn.VolumetricAveragePooling(2, 3, 2, 1, 2, 1),
  random(2, 1, 3, 4, 5))
local pool = nn.SpatialMaxPooling(2, 2)
add('SpatialMaxUnpooling', sequential(pool, nn.Tanh(), nn.SpatialMaxUnpooling(pool)),
  random(2, 2, 5, 4))
pool = nn.SpatialMaxPooling(3, 3, 3, 3, 0, 1):ceil()
add('SpatialMaxUnpooling: ceil', sequential(pool, nn.SpatialMaxUnpooling(pool)), random(2, 2, 5, 7))
local volumes = nn.VolumetricMaxPooling(2, 2, 2)
add('VolumetricMaxUnpooling', sequential(volumes, nn.VolumetricMaxUnpooling(volumes)),
  random(2, 1, 4, 4, 4))
add('SpatialUpSamplingNearest', nn.SpatialUpSamplingNearest(2), random(2, 2, 3, 2))
add('SpatialUpSamplingBilinear', nn.SpatialUpSamplingBilinear(2), random(2, 2, 3, 2))
add('SpatialUpSamplingBilinear: sizes', nn.SpatialUpSamplingBilinear { owidth = 5, oheight = 4 },
  random(2, 2, 3, 2))
add('UpSampling', nn.UpSampling(2), random(2, 2, 3, 2))
add('UpSampling: linear', nn.UpSampling(2, 'bilinear'), random(2, 2, 3, 2))
add('UpSampling: volumes', nn.UpSampling(2), random(2, 1, 2, 3, 2))
add('UpSampling: volumes, linear',
  nn.UpSampling({ odepth = 3, oheight = 4, owidth = 5 }, 'trilinear'), random(2, 1, 2, 3, 2))
add('PixelShuffle', nn.PixelShuffle(2), random(2, 8, 3, 2))
add('SpatialZeroPadding', nn.SpatialZeroPadding(1, -1, 2, 0), random(2, 2, 3, 4))
add('SpatialReflectionPadding', nn.SpatialReflectionPadding(1, 2, 1, 0), random(2, 2, 3, 4))
add('SpatialReplicationPadding', nn.SpatialReplicationPadding(1, 2, 1, 0), random(2, 2, 3, 4))
add('VolumetricReplicationPadding', nn.VolumetricReplicationPadding(1, 2, 0, 1, 1, 0),
  random(2, 1, 2, 3, 3))
add('Padding', nn.Padding(2, 2), random(2, 3))
add('Padding: before', nn.Padding(1, -2, 1, 7), random(2, 3))
add('Padding: within', nn.Padding(2, 2, 2, 7, 3), random(2, 4))
add('Padding: within, before', nn.Padding(2, -2, 2, 7, 3), random(2, 4))

-- normalisation
add('BatchNormalization', nn.BatchNormalization(3), random(4, 3))
add('BatchNormalization: plain', nn.BatchNormalization(3, 1e-3, 0.2, false), random(4, 3))
add('BatchNormalization: old', nn.BatchNormalization(3), random(4, 3), function(m)
  m.running_std = torch.add(m.running_var, m.eps):pow(-0.5)
  m.running_var = nil
end)
add('SpatialBatchNormalization', nn.SpatialBatchNormalization(3), random(2, 3, 2, 2))
add('VolumetricBatchNormalization', nn.VolumetricBatchNormalization(2), random(2, 2, 2, 2, 2))
add('Normalize', nn.Normalize(2), random(2, 4))
add('Normalize: of 1', nn.Normalize(1), random(2, 4))
add('Normalize: of 3', nn.Normalize(3), random(2, 4))
add('Normalize: largest', nn.Normalize(math.huge), random(2, 4))
add('SpatialCrossMapLRN', nn.SpatialCrossMapLRN(3, 0.5, 0.7, 2), random(2, 5, 2, 2))
add('SpatialSubtractiveNormalization', nn.SpatialSubtractiveNormalization(2, positive(3, 3)),
  random(2, 2, 4, 5))
add('SpatialSubtractiveNormalization: 1D', nn.SpatialSubtractiveNormalization(2, positive(3)),
  random(2, 2, 4, 5))
add('SpatialDivisiveNormalization', nn.SpatialDivisiveNormalization(2, positive(3, 3), 0.8, 0.5),
  random(2, 2, 4, 5))
add('SpatialDivisiveNormalization: 1D', nn.SpatialDivisiveNormalization(2, positive(3)),
  random(2, 2, 4, 5))
add('SpatialContrastiveNormalization', nn.SpatialContrastiveNormalization(2, positive(3, 3)),
  random(2, 2, 4, 5))

-- reductions
for _, name in ipairs { 'Sum', 'Mean', 'Max', 'Min' } do
  add(name .. ': first', nn[name](1), random(2, 3, 4))
  add(name .. ': last', nn[name](-1), random(2, 3, 4))
  add(name .. ': of samples', nn[name](1, 2), random(2, 3, 4))
  add(name .. ': vector', nn[name](1), random(4), nil, 'n')
end
add('Sum: keeps', nn.Sum(2, nil, true, false), random(2, 3))
add('ArgMax', nn.ArgMax(1, 1), random(2, 4))

-- shapes
add('View', nn.View(3, 2), random(4, 6))
add('View: all', nn.View(-1), random(2, 3))
add('View: rest', nn.View(-1):setNumInputDims(2), random(4, 3, 2))
add('View: samples', nn.View(6):setNumInputDims(2), random(4, 3, 2))
add('View: rows', nn.View(-1, 2), random(4, 6))
add('View: several', nn.View(2):setNumInputDims(1), random(2, 3, 2))
add('View: rest of several', nn.View(-1, 2):setNumInputDims(1), random(2, 3, 4))
add('Reshape', nn.Reshape(2, 3), random(4, 6))
add('Reshape: samples', nn.Reshape(6, true), random(4, 2, 3))
add('Reshape: without', nn.Reshape(4, 6, false), random(4, 2, 3), nil, 'nx2x3')
add('Collapse', nn.Collapse(2), random(4, 2, 3))
add('Transpose', nn.Transpose({ 2, 3 }, { 1, 2 }), random(2, 3, 4))
add('Transpose: of samples', nn.Transpose({ 1, 2 }):setNumInputDims(2), random(2, 3, 4))
add('Squeeze', nn.Squeeze(), random(2, 1, 3, 1))
add('Squeeze: dimension', nn.Squeeze(2), random(2, 1, 3, 1))
add('Squeeze: of samples', nn.Squeeze(1, 2), random(2, 1, 3))
add('Squeeze: none', nn.Squeeze(2), random(2, 3))
add('Unsqueeze', nn.Unsqueeze(2), random(2, 3))
add('Unsqueeze: of samples', nn.Unsqueeze(1, 1), random(2, 3))
add('Replicate', nn.Replicate(3, 2), random(2, 4))
add('Replicate: of samples', nn.Replicate(3, 1, 1), random(2, 4))
add('Select', nn.Select(2, 2), random(2, 3))
add('Select: from the end', nn.Select(-1, -1), random(2, 3))
add('Narrow', nn.Narrow(2, 2, 2), random(2, 4))
add('Narrow: to the end', nn.Narrow(2, 2, -1), random(2, 4))
add('Narrow: before the end', nn.Narrow(-1, 1, -2), random(2, 4))
add('Narrow: leaves out', nn.Narrow(2, -1, 1), random(2, 4))
add('Index', nn.Index(2), { random(2, 4), torch.LongTensor { 3, 1 } })
add('OneHot', nn.OneHot(4), indices(4, 3))
add('OneHot: rows', nn.OneHot(4), indices(4, 2, 3))
add('Constant', nn.Constant(random(3), 1), random(2, 4))
add('Constant: alone', nn.Constant(random(1, 3)), random(2, 4))

-- tables
local function pair() return { random(2, 3), random(2, 3) } end
for _, name in ipairs {
  'CAddTable', 'CSubTable', 'CMulTable', 'CDivTable', 'CMaxTable', 'CMinTable', 'FlattenTable',
  'ReverseTable', 'SelectTable', 'NarrowTable',
} do
  add(name, nn[name](1), pair())
end
add('SelectTable: from the end', nn.SelectTable(-1), pair())
add('NarrowTable: length', nn.NarrowTable(2, 2), { random(1, 2), random(1, 3), random(1, 4) })
add('JoinTable', nn.JoinTable(2), pair())
add('JoinTable: of samples', nn.JoinTable(1, 1), pair())
add('JoinTable: from the end', nn.JoinTable(-1), pair())
add('SplitTable', nn.SplitTable(2), random(2, 3))
add('SplitTable: of samples', nn.SplitTable(1, 1), random(2, 3))
add('SplitTable: from the end', nn.SplitTable(-1), random(2, 3))
add('FlattenTable: deep', nn.FlattenTable(), { random(2, 3), { random(2, 1), { random(2, 2) } } })
add('CAddTensorTable', nn.CAddTensorTable(), { random(2, 3), pair() })
add('ZipTable', nn.ZipTable(), { pair(), pair() })
add('ZipTableOneToMany', nn.ZipTableOneToMany(), { random(2, 3), pair() })

add('JustTable', nn.Sequential():add(nngraph.JustTable()):add(nn.JoinTable(2)), random(2, 3))
add('JustElement', nn.Sequential():add(nngraph.JustTable()):add(nngraph.JustElement()), random(2, 3))

-- containers
add('Sequential', sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)), random(2, 3))
add('Concat', nn.Concat(2):add(nn.Linear(3, 2)):add(nn.Linear(3, 4)), random(2, 3))
add('ConcatTable', nn.ConcatTable():add(nn.Linear(3, 2)):add(nn.Tanh()), random(2, 3))
add('ParallelTable', nn.ParallelTable():add(nn.Linear(3, 2)):add(nn.Tanh()), pair())
add('MapTable', nn.MapTable(nn.Linear(3, 2)), pair())
add('MapTable: not shared', nn.MapTable(nn.Linear(3, 2), false), pair())
add('Parallel', nn.Parallel(2, 2):add(nn.Linear(3, 2)):add(nn.Linear(3, 4)), random(2, 2, 3))
add('DepthConcat', (function()
  return nn.DepthConcat(2)
    :add(nn.SpatialConvolution(2, 1, 1, 1))
    :add(nn.SpatialConvolution(2, 2, 2, 2))
    :add(nn.SpatialConvolution(2, 1, 3, 3))
end)(), random(2, 2, 5, 5))
add('Bottle', nn.Bottle(nn.Linear(3, 2)), random(2, 4, 3), nil, '1xtx3')
add('Bottle: dimensions', nn.Bottle(sequential(nn.View(3, 1), nn.Transpose { 2, 3 }), 2, 3),
  random(2, 4, 3))
add('Decorator', nn.Decorator(nn.Linear(3, 2)), random(2, 3))
add('DontCast', nn.DontCast(nn.Linear(3, 2), true, true, 'torch.FloatTensor'), random(2, 3))
add('GPU', nn.GPU(nn.Linear(3, 2), 1), random(2, 3))
add('NaN', nn.NaN(nn.Linear(3, 2)), random(2, 3))
add('Profile', nn.Profile(nn.Linear(3, 2)), random(2, 3), function(m) m.timer = nil end)
add('Serial', nn.Serial(nn.Linear(3, 2)), random(2, 3))
add('Maxout', nn.Maxout(3, 2, 4), random(2, 3))
local x = nn.Linear(3, 4)()
local left, right = nn.Narrow(2, 1, 2)(x), nn.Narrow(2, 3, 2)(x)
add('gModule', nn.gModule({ x }, { nn.CAddTable() { left, nn.Tanh()(right) } }), random(2, 3))

torch.save(arg[1], entries)
print(#entries .. ' entries')
