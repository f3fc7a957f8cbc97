--- Reads objects from files: File:readObject. The format is described in serialize.lua.
-- A file may come from anybody. So no more memory is allocated for a size in the file than the
-- file can fill, and the code of functions is not loaded unless the program trusts files.
-- @module deserialize

local torch, c_structs, errors = import('torch', 'core.c_structs', 'core.errors')
local escapes, references, files = import('core.escapes', 'core.references', 'files.files')
local serial, tensors, twins = import('files.serialize', 'files.tensors', 'files.twins')
local stdout, stderr = io.stdout, io.stderr

local type, tonumber, pairs, ipairs = type, tonumber, pairs, ipairs
local objects = references.objects
local deserialize = {}
local kinds = serial.kinds
local get_int, get_double = tensors.access.Int.get, tensors.access.Double.get
local File = torch.getmetatable('torch.File')

-- The names of classes whose factories do not look at the file.
local plain_names = {}
for _, dtype in ipairs(c_structs.dtypes) do
  plain_names[dtype.tensor_name], plain_names[dtype.storage_name] = true, true
end

local trusted = false -- whether functions in files are loaded

--- Sets whether functions in files are loaded; without an argument they are.
-- LuaJIT does not check bytecode, which can do anything to this process. A function that this
-- process itself has serialized is always loaded.
function torch.trustfunctions(trust)
  if trust ~= nil and type(trust) ~= 'boolean' then errors.type_error(1, 'boolean', trust) end
  trusted = trust ~= false
end

--- Tells whether functions in files are loaded.
function deserialize.is_trusting() return trusted end

--- Calls a function; meanwhile functions in what it reads are loaded, as this process wrote them.
function deserialize.trusting(f, ...)
  local before = trusted
  trusted = true
  return errors.finally(function() trusted = before end, f, ...)
end

-- ------------------------------------------------------------------- functions

local function warn(state)
  if state.warned then return end
  state.warned = true
  stdout:flush()
  stderr:write('th: functions in this file were not loaded, because their bytecode could do'
    .. ' anything; torch.trustfunctions(true), or th --trust-functions, loads them\n')
end

-- The function that stands for one that is not loaded. Each is a new one, as two functions of a
-- file must not become equal; it has no upvalues, as there may be many of them.
local function new_stub()
  return function()
    errors.fail('this function was not loaded from its file'
      .. ' (torch.trustfunctions(true) loads functions)')
  end
end

-- Loads a function from its bytecode. Where it must not or cannot be loaded, returns a function
-- that raises an error about that when it is called, and true.
local function load_function(state, dumped)
  if trusted or serial.own[dumped] then
    local f, message = loadstring(dumped)
    if f then return f, false end
    stderr:write('Warning: Failed to load function from bytecode: ', escapes.visible(message), '\n')
    return function()
      errors.fail('this function could not be loaded from its file: ' .. message)
    end, true
  end
  warn(state)
  return new_stub(), true
end

local function set_upvalue(state, f, i, upvalue)
  if type(upvalue) ~= 'table' then errors.fail('corrupt file: a function without upvalues') end
  if upvalue.name == '_ENV' then return end
  debug.setupvalue(f, i, upvalue.value)
  local id = upvalue.id
  if type(id) ~= 'number' or id ~= id then return end
  local closures = state.upvalueIdToClosure
  local other = closures[id]
  if not other then
    closures[id] = { func = f, index = i }
  elseif not pcall(debug.upvaluejoin, f, i, other.func, other.index) then
    errors.fail('corrupt file: a function without upvalues')
  end
end

-- An object is complete when the object that follows its head was read. The functions complete_*
-- take the incomplete object, the value that its open_* function has returned for them, and the
-- object that follows.

-- state: that of the file, where upvalues have names and numbers; false for old files.
local function complete_function(f, state, upvalues)
  if type(upvalues) ~= 'table' then errors.fail('corrupt file: a function without upvalues') end
  local stub = serial.stubs[f]
  if stub then
    stub.upvalues = upvalues
    return
  end
  for i, upvalue in ipairs(upvalues) do
    if state then set_upvalue(state, f, i, upvalue) else debug.setupvalue(f, i, upvalue) end
  end
end

-- --------------------------------------------------------------------- objects

local function get_string(w, object)
  local n = get_int(w, object)
  if n < 0 then errors.fail('$ Torch: invalid memory size -- maybe an overflow?') end
  if n == 0 then return '' end
  local text = files.get_string(w, object, n)
  if w.binary == 0 and w.spacing ~= 0 then files.skip_newline(w, object) end
  if #text ~= n then files.fail(w, 'read', #text, n) end
  return text
end

-- The functions open_* read the head of an object and return the object. The second result is the
-- number of entries that follow, for a table; the third and the fourth are the function that
-- completes the object from the one that follows, and its second argument.

local function open_function(w, object, state, kind, index)
  local dumped = get_string(w, object)
  local f, is_stub = load_function(state, dumped)
  if index and not state.force then state.readObjects[index] = f end
  if is_stub then
    -- The record of the function, from which it can be written again.
    serial.stubs[f] = {
      dumped = dumped, upvalues = false, by_position = kind ~= kinds.FUNCTION,
      space = state.upvalueIdToClosure,
    }
  end
  return f, 0, complete_function, kind == kinds.FUNCTION and state
end

local function open_table(w, object, state, index)
  local t = {}
  if not state.force then state.readObjects[index] = t end
  return t, get_int(w, object)
end

-- finish: what else is done with a complete object, or nil.
local function complete_torch(t, finish, fields)
  if type(fields) ~= 'table' and twins.is_stub(t) then
    errors.fail(('unknown Torch class <%s>, whose objects have a format of their own')
      :format(torch.typename(t)))
  elseif type(fields) ~= 'table' then
    errors.fail(("bad argument #1 to 'pairs' (table expected, got %s)"):format(type(fields)))
  end
  for k, v in pairs(fields) do t[k] = v end
  if finish then finish(t) end
end

local function open_torch(file, w, object, state, index)
  local name, version = get_string(w, object), 0
  local number = tonumber(name:match('^V (.*)$'))
  -- Files that are older than version numbers have only the name.
  if number then name, version = get_string(w, object), number end
  if name == serial.NUMBERED and serial.numbered then
    local value = serial.numbered.read(get_double(w, object))
    if not state.force then state.readObjects[index] = value end
    return value, 0
  end
  local factory = torch.factory(name)
  local t, finish
  if not plain_names[name] then serial.expose(state) end
  if factory then t = factory(file) else t, finish = twins.make(name, version, file, state) end
  if not state.force then state.readObjects[index] = t end
  local method = not twins.is_stub(t) and serial.method(t, 'read')
  if method then
    if not serial.plain[method] then serial.expose(state) end
    method(t, file, version)
    if finish then finish(t) end
    return t, 0
  elseif type(t) ~= 'table' then
    errors.fail(('Cannot load object class <%s>'):format(name))
  end
  return t, 0, complete_torch, finish
end

local function open(file, w, object, state)
  local kind = get_int(w, object)
  if kind == kinds.NUMBER then
    return get_double(w, object), 0
  elseif kind == kinds.NIL then
    return nil, 0
  elseif kind == kinds.STRING then
    return get_string(w, object), 0
  elseif kind == kinds.BOOLEAN then
    return get_int(w, object) == 1, 0
  elseif kind == kinds.PLAIN_FUNCTION then
    return open_function(w, object, state, kind)
  elseif kind ~= kinds.TABLE and kind ~= kinds.TORCH and kind ~= kinds.FUNCTION
    and kind ~= kinds.OLD_FUNCTION then
    errors.fail('unknown object')
  end
  local index = get_int(w, object)
  local known = state.readObjects[index]
  if known and not state.force then return known, 0 end
  if kind == kinds.TABLE then return open_table(w, object, state, index) end
  if kind == kinds.TORCH then return open_torch(file, w, object, state, index) end
  return open_function(w, object, state, kind, index)
end

local NOTHING = {} -- stands for the key of an entry that was not read yet

-- Reads an object and all that it contains. A stack in tables has the objects that are incomplete,
-- so that the depth of a file is not limited by that of Lua's stack. For each of them, left has the
-- number of entries to come or the function that completes it, and keys has the key of the entry
-- whose value comes next or that function's second argument.
local function read(file, w, state)
  local object = objects[file]
  local owners, left, keys, depth = {}, {}, {}, 0
  while true do
    local value, entries, complete, argument = open(file, w, object, state)
    if complete then
      depth = depth + 1
      owners[depth], left[depth], keys[depth] = value, complete, argument
    elseif entries > 0 then
      depth = depth + 1
      owners[depth], left[depth], keys[depth] = value, entries, NOTHING
    else
      local delivered = false
      repeat -- add the value to the object that contains it, which may be complete then
        if depth == 0 then return value end
        local owner, n, key = owners[depth], left[depth], keys[depth]
        if type(n) == 'function' then
          n(owner, key, value)
          value, depth = owner, depth - 1
        elseif key == NOTHING then
          if value == nil then errors.fail('table index is nil') end
          if value ~= value then errors.fail('table index is NaN') end
          keys[depth], delivered = value, true
        else
          owner[key] = value
          keys[depth], left[depth] = NOTHING, n - 1
          if n > 1 then delivered = true else value, depth = owner, depth - 1 end
        end
      until delivered
    end
  end
end

--- Reads the next object of a file.
function File.readObject(self)
  local w = files.ready_to_read(self)
  local state = serial.state(self)
  local is_first = twins.start(state)
  local value = read(self, w, state)
  if is_first then twins.finish(state) end
  return value
end

return deserialize
