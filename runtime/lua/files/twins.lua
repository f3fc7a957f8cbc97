--- Substitutes for objects in files whose classes are not here. Tensors of GPUs become tensors of
-- the same elements in the processor's memory, modules of cudnn the modules of nn with the same
-- name. Objects of all other classes become stubs: tables with the class's name and the fields that
-- the file has, which are written again. Under a pcall of the program such a
-- class is the reference's error instead: the program asks whether the class is there, and goes on
-- without.
-- @module twins

local torch, c_structs, errors = import('torch', 'core.c_structs', 'core.errors')
local escapes, type_names = import('core.escapes', 'core.type_names')
local stdout, stderr = io.stdout, io.stderr

local raw_metatable = debug.getmetatable

local twins = {}

-- ----------------------------------------------------------------- tensors of GPUs

local of_gpu = {} -- name of a GPU's class -> that of the processor's class
for _, dtype in ipairs(c_structs.dtypes) do
  local name = dtype.name == 'Float' and '' or dtype.name
  of_gpu['torch.Cuda' .. name .. 'Tensor'] = dtype.tensor_name
  of_gpu['torch.Cuda' .. name .. 'Storage'] = dtype.storage_name
end
twins.of_gpu = of_gpu

-- --------------------------------------------------------------- modules of cudnn

--- Functions that add the fields of nn's modules that cudnn's lack, by the class of nn.
local completions = {
  ['nn.SpatialCrossMapLRN'] = function(module) module.k = module.k or module.K end,
  ['nn.SpatialMaxPooling'] = function(module)
    module.indices = module.indices or torch.LongTensor()
  end,
  ['nn.SpatialAveragePooling'] = function(module)
    module.divide = true
    module.count_include_pad = module.mode ~= 'CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING'
  end,
}

twins.completions = completions

-- Gives a module the fields that a new module of its class has. The modules of cudnn that nn makes
-- without arguments, such as ReLU, have not all of them.
local function complete(module, name)
  local constructor = torch.getconstructortable(name)
  local ok, fresh = pcall(constructor)
  if ok and type(fresh) == 'table' then
    for key, value in pairs(fresh) do
      if module[key] == nil then module[key] = value end
    end
  end
  if completions[name] then completions[name](module) end
end

-- ------------------------------------------------------------------------ stubs

local stub_classes = {} -- metatable of stubs -> true

--- Tells whether an object is a stub.
function twins.is_stub(object)
  return type(object) == 'table' and stub_classes[raw_metatable(object)] or false
end

local classes = {} -- name and version -> metatable

local function make_stub(name, version)
  local key = version .. ' ' .. name
  local mt = classes[key]
  if not mt then
    mt = { __typename = name, __version = version }
    type_names.name_metatable(mt, name)
    classes[key], stub_classes[mt] = mt, true
  end
  return setmetatable({}, mt)
end

-- ---------------------------------------------------------------------- reading

local function count(state, list, text)
  state[list] = state[list] or { order = {} }
  local counts = state[list]
  if not counts[text] then table.insert(counts.order, text) end
  counts[text] = (counts[text] or 0) + 1
end

--- Returns the function that makes an empty object of the class that stands for a GPU's, the one to
-- call with it when it has its fields, and the class's name; nil where there is no such class.
function twins.factory(name)
  local nn_name = name:gsub('^cudnn%.', 'nn.')
  local twin = of_gpu[name] or nn_name ~= name and nn_name
  local factory = twin and torch.factory(twin)
  if not factory then return nil end
  return factory, twin ~= of_gpu[name] and function(module) complete(module, twin) end, twin
end

--- An empty object that stands for one of a class that is not here, and what is to be called with
-- it when it has its fields, or nil. Raises an error where there is no such object.
function twins.make(name, version, file, state)
  local factory, finish, twin = twins.factory(name)
  if factory then
    if not name:match('Storage$') then
      count(state, 'changedClasses', ('%s as %s'):format(name, twin))
    end
    return factory(file), finish
  end
  if errors.is_protected() then errors.fail(('unknown Torch class <%s>'):format(name)) end
  count(state, 'unknownClasses', name)
  return make_stub(name, version)
end

local function list(counts)
  local parts = {}
  for i, text in ipairs(counts.order) do
    parts[i] = escapes.visible(counts[text] > 1 and ('%d %s'):format(counts[text], text) or text)
  end
  return table.concat(parts, ', ')
end

-- The package that would have had the first of the classes, if it was not required.
local function missing_package(counts)
  local package_name = counts.order[1]:match('^(%a[%w_]*)%.')
  if package_name == 'cudnn' then package_name = 'nn' end -- whose modules take the place of cudnn's
  return package_name and not package.loaded[package_name] and package_name
end

local function say(text)
  stdout:flush()
  stderr:write('th: ', text, '\n')
end

--- To be called before an object and all that it contains are read; returns what is to be passed to
-- `finish` afterwards, which is false for an object within another one.
function twins.start(state)
  if state.isReading then return false end
  state.isReading = true
  return true
end

--- Tells the user, in a line of its own each, what was changed and what is not known.
function twins.finish(state)
  local changed, unknown = state.changedClasses, state.unknownClasses
  state.isReading, state.changedClasses, state.unknownClasses = nil, nil, nil
  if changed then say('read for this processor: ' .. list(changed)) end
  if unknown then
    local name = missing_package(unknown)
    local hint = name and ("; require '%s' before the file is read"):format(name) or ''
    say('classes that are not here, of which only the fields are kept: ' .. list(unknown) .. hint)
  end
end

return twins
