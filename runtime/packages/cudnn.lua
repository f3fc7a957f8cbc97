--- cudnn on the processor: its modules compute as nn's, with cudnn's arguments and defaults.
-- @module cudnn

local errors = import 'core.errors'

local function nothing() end
local function itself(self) return self end

-- For each convolution with groups, the modules of nn that compute its groups. They are kept since
-- the backward pass needs what the forward pass has left in them.
local group_modules = setmetatable({}, { __mode = 'k' })

-- The part of a tensor that belongs to a group: one of equal parts along a dimension.
local function part(tensor, dimension, group, groups)
  local size = tensor:size(dimension) / groups
  return tensor:narrow(dimension, (group - 1) * size + 1, size)
end

-- Returns the modules of nn for the groups of a convolution, each with its part of the weights.
local function convolutions(self)
  local kind = self.weight:type()
  local modules = group_modules[self]
  if not modules or modules.kind ~= kind then modules = { kind = kind } end
  group_modules[self] = modules
  for group = 1, self.groups do
    local module = modules[group] or torch.factory('nn.SpatialConvolution')()
    modules[group] = module
    for key, value in pairs(self) do
      if type(value) == 'number' then module[key] = value end
    end
    for _, name in ipairs{ 'weight', 'bias', 'gradWeight', 'gradBias' } do
      module[name] = self[name] and part(self[name], 1, group, self.groups)
    end
    module.output = module.output or self.weight.new()
    module.gradInput = module.gradInput or self.weight.new()
  end
  return modules
end

-- Changes nn.SpatialConvolution so that it computes groups of planes apart, as cudnn's does; the
-- field `groups` is their number.
local function allow_groups()
  local class = require('nn').SpatialConvolution
  if group_modules[class] then return end
  group_modules[class] = {}

  -- Replaces a method; finish(self, results, dimension) joins the results of the groups.
  local function in_groups(name, finish)
    local plain = class[name]
    class[name] = function(self, input, ...)
      if (self.groups or 1) == 1 then return plain(self, input, ...) end
      local results, at, gradient, scale = {}, input:dim() - 2, ...
      for group, module in ipairs(convolutions(self)) do
        results[group] = plain(module, part(input, at, group, self.groups),
          gradient and part(gradient, at, group, self.groups), scale)
      end
      return finish(self, results, at)
    end
  end

  in_groups('updateOutput', function(self, results, at)
    return torch.cat(self.output, results, at)
  end)
  in_groups('updateGradInput', function(self, results, at)
    return self.gradInput and torch.cat(self.gradInput, results, at)
  end)
  in_groups('accGradParameters', nothing)
end

-- The constructor of cudnn.SpatialConvolution: nn's, with weights for groups.
local function init_convolution(self, parent, planes, maps, kW, kH, dW, dH, padW, padH, groups)
  allow_groups()
  self.groups = groups or 1
  if planes % self.groups ~= 0 or maps % self.groups ~= 0 then
    errors.fail('the numbers of planes must be divisible by the number of groups')
  end
  self.reset = nothing -- the parent would draw random numbers for weights without groups
  parent.__init(self, planes, maps, kW, kH, dW, dH, padW or 0, padH or 0)
  self.reset = nil
  for _, weight in ipairs{ self.weight, self.gradWeight } do
    weight:resize(maps, planes / self.groups, kH, kW)
  end
  self:reset()
end

-- Makes a function that returns its arguments. It raises an error for those from a position on that
-- are greater than `most`: nn's module does not have what they ask for.
local function without(name, feature, at, most)
  return function(...)
    for i = at, select('#', ...) do
      if (select(i, ...) or 0) > most then
        errors.fail(('cudnn.%s with %s is not there on the processor'):format(name, feature))
      end
    end
    return ...
  end
end

-- Functions from the arguments of cudnn's constructors to those of nn's, where these differ.
local ARGUMENTS = {
  ClippedReLU = function(ceiling, inplace)
    if not ceiling then errors.fail('cudnn.ClippedReLU needs a ceiling') end
    return 0, ceiling, inplace
  end,
  SpatialAveragePooling = function(kW, kH, dW, dH, ...) return kW, kH, dW or kW, dH or kH, ... end,
  SpatialCrossMapLRN = function(size, ...) return size or 5, ... end,
  TemporalConvolution = without('TemporalConvolution', 'padding', 5, 0),
  VolumetricAveragePooling = without('VolumetricAveragePooling', 'padding', 7, 0),
  VolumetricConvolution = without('VolumetricConvolution', 'groups', 12, 1),
}

-- Makes the class cudnn.<name>, which derives from nn's.
local function make_class(name)
  local class, parent = torch.class('cudnn.' .. name,
    'nn.' .. (name == 'ClippedReLU' and 'HardTanh' or name))
  if ARGUMENTS[name] then
    function class:__init(...) parent.__init(self, ARGUMENTS[name](...)) end
  elseif name == 'SpatialConvolution' then
    function class:__init(...) init_convolution(self, parent, ...) end
  end
  for method in ('fastest setMode resetMode resetWeightDescriptors'):gmatch('%a+') do
    class[method] = itself
  end
end

local function make_spatial_cross_entropy()
  local nn = require 'nn'
  local class, parent = torch.class('cudnn.SpatialCrossEntropyCriterion', 'nn.Criterion')

  function class:__init(weights)
    parent.__init(self)
    self.slsm, self.nll = nn.SpatialLogSoftMax(), nn.SpatialClassNLLCriterion(weights)
    self.sizeAverage = true
  end

  function class:updateOutput(input, target)
    self.nll.sizeAverage = self.sizeAverage
    self.output = self.nll:updateOutput(self.slsm:updateOutput(input), target)
    return self.output
  end

  function class:updateGradInput(input, target)
    local gradient = self.nll:updateGradInput(self.slsm.output, target)
    self.gradInput = self.slsm:updateGradInput(input, gradient)
    return self.gradInput
  end
end

local ABSENT = {} -- constructors of modules that nn does not have: errors
for name in ([[BGRU BLSTM GRU LSTM RNN RNNReLU RNNTanh VolumetricCrossEntropyCriterion
  VolumetricLogSoftMax VolumetricSoftMax]]):gmatch('%a+') do
  ABSENT[name] = function() errors.fail(('cudnn.%s is not there on the processor'):format(name)) end
end

-- Makes the package. A class of it is made when a program first asks for it. The version is that of
-- cuDNN 5.1: programs build convolutions without biases where it is 4000 or more.
local function make()
  require 'nn'
  local cudnn = { benchmark = false, fastest = false, verbose = false, version = 5110 }
  function cudnn.convert(module) return module end
  rawset(_G, 'cudnn', cudnn)
  return setmetatable(cudnn, { __index = function(_, name)
    if name == 'SpatialCrossEntropyCriterion' then
      make_spatial_cross_entropy()
    elseif ABSENT[name] then
      return ABSENT[name]
    elseif name == 'ClippedReLU'
      or type(name) == 'string' and torch.getmetatable('nn.' .. name) then
      make_class(name)
    end
    return rawget(cudnn, name)
  end })
end

return { allow_groups = allow_groups, make = make }
