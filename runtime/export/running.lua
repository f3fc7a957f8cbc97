--- Runs a net on inputs, as the check of what was written needs it.
-- @module running

-- Packages that may have classes of nn besides nn itself, each behind those that it needs.
local MORE = { 'nngraph', 'dpnn', 'rnn' }

-- Functions for classes that no package has, or that compute otherwise now.
local computing = {}

-- Makes sure that there is a class, by its package.
local function need(class)
  if torch.getmetatable(class) then return end
  local package = class:match('^(%w+)%.')
  require 'nn'
  if package == 'cudnn' then return end -- its classes become nn's
  if package ~= 'nn' then pcall(require, package or class) end
  for _, name in ipairs(MORE) do
    if not torch.getmetatable(class) then pcall(require, name) end
  end
  if computing[class] and not torch.getmetatable(class) then
    torch.class(class, 'nn.Module').updateOutput = computing[class]
  elseif not torch.getmetatable(class) then
    error('no package here has the class ' .. class, 0)
  end
end

-- A copy of a value: a tensor, or a table of these.
local function copied(value)
  if torch.isTensor(value) then return value:clone() end
  local list = {}
  for number, item in ipairs(value) do list[number] = copied(item) end
  return list
end

-- Gives ones at indices, by rows of the identity that the file has (char-rnn).
function computing.OneHot(self, input)
  self.output = self._eye:index(1, input:long())
  return self.output
end

-- Normalises each plane by its own statistics, as layers of this class did before nn of August 2017
-- took the learned statistics for batches of one.
computing['nn.InstanceNormalization'] = function(self, input)
  local planes = input:size(1) * input:size(2)
  local flat = input:contiguous():view(planes, -1)
  local shifted = flat - flat:mean(2):expandAs(flat)
  local deviation = torch.cmul(shifted, shifted):mean(2):add(self.eps):sqrt()
  local output = shifted:cdiv(deviation:expandAs(flat)):viewAs(input)
  if self.weight then
    output:cmul(self.weight:view(1, -1, 1, 1):expandAs(output))
    output:add(self.bias:view(1, -1, 1, 1):expandAs(output))
  end
  self.output = output
  return output
end

-- Returns the input, as an nn.Copy does that is made for a single type.
local function pass_on(self, input)
  self.output = input
  return input
end

-- Lets a module, and those in it, begin a sequence.
local function forget(module)
  if module.forget then module:forget() end
  if module.resetStates then module:resetStates() end
  for _, child in ipairs(module.modules or {}) do forget(child) end
end

local running = {}

--- Makes sure that the classes of a net are there.
-- @param classes their names
function running.need(classes)
  for _, class in ipairs(classes) do need(class) end
end

--- A net from a file, as Lua's object: so it crosses once, however often it runs.
function running.take(path)
  local net = torch.load(path)
  for _, module in ipairs((net:findModules('nn.SpatialConvolutionMM'))) do -- of an old file
    local pad = module.padding or 0
    for name, value in pairs { dW = 1, dH = 1, padW = pad, padH = pad } do
      module[name] = module[name] or value
    end
  end
  return net
end

--- Computes a net's output in evaluation.
-- @param net what `take` has returned
-- @param input a tensor or a table, which the net gets a copy of: it may write into its input
function running.run(net, input)
  net:evaluate()
  for _, module in ipairs((net:findModules('nn.Copy'))) do
    module.updateOutput = rawget(module, 'updateOutput') and pass_on -- its own is not loaded
  end
  for _, module in ipairs((net:findModules('nn.InstanceNormalization'))) do
    module.updateOutput = computing['nn.InstanceNormalization']
  end
  forget(net)
  return copied(net:forward(copied(input)))
end

return running
