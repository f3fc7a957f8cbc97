--- Programs for GPUs: the packages cutorch, cunn and cudnn, of which there are none here.
-- They are errors that say so, or, after torch.gpuascpu(), stand for the processor: then tensors of
-- a GPU are those of the processor, and cudnn's modules compute as nn's.
-- @module gpu

local c_structs, errors, twins = import('core.c_structs', 'core.errors', 'files.twins')
local provided = import 'packages.provided'

local gpu = {}
local of_gpu = twins.of_gpu

local ADVICE = "run without it, as many programs do with -gpuid -1; or let th --gpu-as-cpu compute"
  .. ' on the processor'

local is_processor = false -- whether GPUs are the processor

-- ---------------------------------------------------------------------- tensors

local function no_gpu()
  errors.fail('there is no GPU here: ' .. ADVICE)
end

-- The method that makes a tensor one of a GPU: cuda, cudaDouble, cudaLong …
local function conversion(class)
  return function(self, ...) -- luacheck: ignore 212
    if not is_processor then no_gpu() end
    local converted = self:type(class)
    return converted
  end
end

for _, dtype in ipairs(c_structs.dtypes) do torch.getmetatable(dtype.tensor_name).cuda = no_gpu end

-- Lets names of a GPU's classes stand for those of the processor.
local function rename_tensors()
  for _, dtype in ipairs(c_structs.dtypes) do
    local mt = torch.getmetatable(dtype.tensor_name)
    local plain = mt.type
    mt.type = function(self, name, ...)
      local result = plain(self, of_gpu[name] or name, ...)
      return result
    end
    for class, own in pairs(of_gpu) do
      local kind = class:match('^torch.Cuda(%a*)Tensor$')
      if kind then mt['cuda' .. kind] = conversion(own) end
    end
  end
  for class, own in pairs(of_gpu) do
    torch[class:match('^torch%.(.*)$')] = torch.getconstructortable(own)
  end
  for _, name in ipairs{ 'setdefaulttensortype', 'getmetatable', 'getconstructortable' } do
    local plain = torch[name]
    torch[name] = function(class) return plain(of_gpu[class] or class) end
  end
end

-- ---------------------------------------------------------------------- cutorch

local MEMORY = 2 ^ 34 -- bytes that a device says it has

local function nothing() end
local function itself(self) return self end

local function check_device(device)
  if device ~= 1 then errors.fail('there is one device, which is the processor') end
end

local function make_cutorch()
  local cutorch = {
    setDevice = check_device,
    withDevice = function(device, f)
      check_device(device)
      return f()
    end,
    getMemoryUsage = function() return MEMORY, MEMORY end,
    getDeviceProperties = function()
      return { name = 'processor', totalGlobalMem = MEMORY, major = 0, minor = 0 }
    end,
    hasHalf = true, getState = function() return {} end,
  }
  for name, value in pairs{ getDeviceCount = 1, getDevice = 1, getNumStreams = 0, getStream = 0,
    getNumBlasHandles = 1, getBlasHandle = 1, getRuntimeVersion = 8000, getDriverVersion = 8000,
    isManagedPtr = false, isCachingAllocatorEnabled = false, hasHalfInstructions = true,
    hasFastHalfInstructions = false } do
    cutorch[name] = function() return value end
  end
  cutorch.createCudaHostTensor = torch.FloatTensor
  for kind in ('Float Double Int Long Byte Half'):gmatch('%a+') do
    cutorch['createCudaHost' .. kind .. 'Tensor'] = torch[kind .. 'Tensor']
  end
  for _, name in ipairs{ 'manualSeed', 'seed', 'initialSeed', 'getRNGState', 'setRNGState' } do
    cutorch[name] = function(...) return torch[name](...) end
  end
  cutorch.manualSeedAll, cutorch.seedAll = cutorch.manualSeed, cutorch.seed
  for name in ([[synchronize synchronizeAll streamSynchronize streamWaitFor streamBarrier setStream
    streamWaitForMultiDevice streamBarrierMultiDevice setDefaultStream reserveStreams deviceReset
    reserveBlasHandles setBlasHandle setHeapTracking setPeerToPeerAccess
    setKernelPeerToPeerAccess]]):gmatch('%a+') do
    cutorch[name] = nothing
  end
  return cutorch
end

-- ------------------------------------------------------------------------- cunn

-- The module that copies another one to several GPUs; here it has one module, and calls it.
local function make_data_parallel_table()
  local Table, parent = torch.class('nn.DataParallelTable', 'nn.Container')

  function Table:__init(dimension)
    parent.__init(self)
    self.dimension = dimension
  end

  function Table:add(module)
    if #self.modules > 0 then errors.fail('nn.DataParallelTable has one module here') end
    self.modules[1] = module
    return self
  end

  for name, result in pairs{ updateOutput = 'output', updateGradInput = 'gradInput' } do
    Table[name] = function(self, ...)
      self[result] = self.modules[1][name](self.modules[1], ...)
      return self[result]
    end
  end

  function Table:accGradParameters(...) self.modules[1]:accGradParameters(...) end
  Table.syncParameters = itself
  Table.flattenParameters = itself
  function Table:threads(f) -- what it would call in each GPU's thread
    if f then f() end
    return self
  end
end

-- Lets a function of nn, which converts a value to a type, take the names of a GPU's classes.
local function rename_argument(holder, name)
  local plain = holder[name]
  holder[name] = function(value, kind, ...)
    local result = plain(value, of_gpu[kind] or kind, ...)
    return result
  end
end

local function make_cunn()
  local nn = require 'nn'
  if nn.utils then rename_argument(nn.utils, 'recursiveType') end
  for _, class in ipairs{ nn.Module, nn.Criterion } do
    rename_argument(class, 'type')
    function class.cuda(self) return self:type('torch.FloatTensor') end
    function class.cudaDouble(self) return self:type('torch.DoubleTensor') end
  end
  make_data_parallel_table()
  return nn
end

-- Returns the module that makes cudnn, which few programs need.
local function of_cudnn() return import 'packages.cudnn' end

twins.completions['nn.SpatialConvolution'] = function(module)
  if (module.groups or 1) > 1 then of_cudnn().allow_groups() end
end

-- ---------------------------------------------------------------------- require

local makers = {
  cutorch = function()
    local cutorch = make_cutorch()
    rawset(_G, 'cutorch', cutorch)
    return cutorch
  end,
  cunn = make_cunn, cudnn = function() return of_cudnn().make() end,
}

--- Tells whether programs for GPUs compute on the processor.
function gpu.has_gpu() return is_processor end

--- Tells whether a module is a package for GPUs that says there is none.
function gpu.lacks_gpu(name)
  return makers[name] ~= nil and not is_processor
end

for name, make in pairs(makers) do
  package.preload[name] = provided.provide(name, function()
    if not is_processor then
      error(name .. ' is for GPUs, and there is none here: ' .. ADVICE, 0)
    end
    if name ~= 'cutorch' then require 'cutorch' end
    return make()
  end)
end

--- Lets programs for GPUs compute on the processor: the packages cutorch, cunn and cudnn are there,
-- and x:cuda() makes a FloatTensor.
function torch.gpuascpu()
  if is_processor then return end
  is_processor = true
  rename_tensors()
end

return gpu
