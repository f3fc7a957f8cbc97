--- Writes objects to files: File:writeObject. Reading is in deserialize.lua.
-- The format is the reference's: an int for the kind of the object, then its contents. Tables,
-- torch objects and functions may occur several times; they have an index in the file, and where
-- one occurs again, only its index is written.
-- @module serialize

local host, torch, class_ids, errors = import('host', 'torch', 'core.class_ids', 'core.errors')
local escapes, keep_alive, references = import('core.escapes', 'core.keep_alive', 'core.references')
local type_names, files, tensors = import('core.type_names', 'files.files', 'files.tensors')
local twins = import 'files.twins'

local type, tostring, pairs, ipairs = type, tostring, pairs, ipairs
local objects, anchor_of = references.objects, keep_alive.anchor_of
local typename, FIRST_STORAGE = type_names.typename, host.FIRST_STORAGE

-- The kinds of objects by their numbers in files.
local kinds = {
  NIL = 0, NUMBER = 1, STRING = 2, TABLE = 3, TORCH = 4, BOOLEAN = 5,
  PLAIN_FUNCTION = 6, -- only in old files: has no index, so that it cannot refer to itself
  OLD_FUNCTION = 7,   -- only in old files: its upvalues are a list of values
  FUNCTION = 8,       -- its upvalues have names, and numbers by which functions share them
}

-- stubs: function that stands for one that was not loaded -> what the file has of that one.
-- own: bytecode -> true, of functions that this process has written.
-- plain: the methods read and write of tensors and storages -> true
local serial = { kinds = kinds, stubs = setmetatable({}, { __mode = 'k' }), own = {}, plain = {},
  numbered = false }
tensors.each_method(function(method) serial.plain[method] = true end)

local put_int, put_double = tensors.access.Int.put, tensors.access.Double.put
local File = torch.getmetatable('torch.File')

-- ----------------------------------------------------------------------- state

--- The indices of the objects in a file, and what else writing and reading remember of them.
-- Torch7: this table is the file's environment, and its fields have these names.
function serial.state(file)
  local state = torch.getenv(file)
  if state.writeObjects then return state end
  state = {
    writeObjects = {}, writeObjectsRef = {}, readObjects = {}, objectNameStack = {},
    upvalueRefToId = {}, upvalueIdToClosure = {},
  }
  torch.setenv(file, state)
  return state
end
local state_of = serial.state

-- The number that is the same for all userdata of a torch object.
local function pointer_of(object)
  local pointer = torch.pointer(object)
  return pointer
end

--- Notes that a file which is ours alone is passed to the program's code, as are the objects in it.
-- From now on these are known by their addresses.
function serial.expose(state)
  if not state.private then return end
  state.private = false
  local written, by_object = state.writeObjects, {}
  for key, index in pairs(written) do
    if type(key) == 'userdata' then by_object[key] = index end
  end
  for key, index in pairs(by_object) do written[pointer_of(key)] = index end
end

--- Sets whether objects that occur again are written, and read, as references.
function File.referenced(self, ref)
  files.ready(self)
  state_of(self).force = not ref
  return self
end

function File.isReferenced(self)
  files.ready(self)
  return not torch.getenv(self).writeObjects or not torch.getenv(self).force
end

-- The bytecode of a function of the program; nil for the runtime's own functions: those that the
-- reference has in C have no bytecode there, either.
local function dump(f)
  if serial.stubs[f] then return serial.stubs[f].dumped end
  if errors.is_ours(debug.getinfo(f, 'S').source) then return nil end
  local ok, dumped = pcall(string.dump, f)
  return ok and dumped or nil
end

--- The number of an object's kind in files, or nil for an object that cannot be written.
function File.isWritableObject(_, object)
  local kind, name = type(object), typename(object)
  if kind == 'nil' then return kinds.NIL end
  if name and (torch.factory(name) or twins.is_stub(object)) then return kinds.TORCH end
  if kind == 'table' then return kinds.TABLE end
  if kind == 'number' then return kinds.NUMBER end
  if kind == 'string' then return kinds.STRING end
  if kind == 'boolean' then return kinds.BOOLEAN end
  return kind == 'function' and dump(object) and kinds.FUNCTION or nil
end

--- The method by which a class writes or reads its objects itself, or nil.
-- @param name 'write' or 'read'
function serial.method(object, name)
  local mt = torch.getmetatable(typename(object))
  local f = mt and (mt['__' .. name] or mt[name])
  return type(f) == 'function' and f or nil
end

-- ---------------------------------------------------------------------- names

local UPVALUES = {} -- stands for the table of a function's upvalues in the stack of names

-- The path to the object that is being written, for messages: 'model.layers.2'.
local function path_of(names)
  local parts = {}
  for i, name in ipairs(names) do
    if name ~= UPVALUES and names[i - 1] ~= UPVALUES then parts[#parts + 1] = tostring(name) end
  end
  return table.concat(parts, '.')
end

-- ---------------------------------------------------------------------- kinds

local function put_string(w, object, text)
  put_int(w, object, #text)
  if #text == 0 then return end
  local done = files.put_string(w, object, text)
  if w.binary == 0 and w.spacing ~= 0 then files.put_string(w, object, '\n') end
  if done ~= #text then files.fail(w, 'write', done, #text) end
end

-- Writes a value of a kind that has no index in files; returns whether it was one.
local function put_plain(w, object, value)
  local kind = type(value)
  if kind == 'number' then
    put_int(w, object, kinds.NUMBER)
    put_double(w, object, value)
  elseif kind == 'string' then
    put_int(w, object, kinds.STRING)
    put_string(w, object, value)
  elseif kind == 'boolean' then
    put_int(w, object, kinds.BOOLEAN)
    put_int(w, object, value and 1 or 0)
  elseif kind == 'nil' then
    put_int(w, object, kinds.NIL)
  else
    return false
  end
  return true
end

-- The functions open_* write the head of an object and return its contents, which are written
-- next: the three results of pairs; or ONE, the one object that follows, and the name it has in
-- messages.
local ONE = {}

local function open_table(_, w, object, t)
  local size = 0
  for _ in pairs(t) do size = size + 1 end
  put_int(w, object, size)
  return pairs(t)
end

-- The class name of a number that stands for a tensor or storage, where `serial.numbered` says
-- which function gives numbers for them: these objects stay where they are (packages/threads).
serial.NUMBERED = 'th.numbered'

local function open_torch(file, w, object, t, state)
  local name = typename(t)
  if serial.numbered and (torch.isTensor(t) or torch.isStorage(t)) then
    put_string(w, object, 'V 1')
    put_string(w, object, serial.NUMBERED)
    put_double(w, object, serial.numbered.write(t))
    return nil
  end
  put_string(w, object, 'V ' .. torch.version(t))
  put_string(w, object, name)
  local method = not twins.is_stub(t) and serial.method(t, 'write')
  if method then
    if not serial.plain[method] then serial.expose(state) end
    method(t, file)
    return nil
  elseif type(t) ~= 'table' then
    errors.fail(('<%s> is a non-serializable Torch object %s')
      :format(name, path_of(state.objectNameStack)))
  end
  local fields = {}
  for k, v in pairs(t) do
    if file:isWritableObject(v) then
      fields[k] = v
    else
      print(escapes.visible(('$ Warning: cannot write object field <%s> of <%s> %s')
        :format(tostring(k), name, path_of(state.objectNameStack))))
    end
  end
  return ONE, fields, name
end

-- The number by which a file identifies a variable that functions share as an upvalue; key: a
-- value that is different for each variable.
local function share(state, key)
  local ids = state.upvalueRefToId
  if not ids[key] then
    local n = 1
    for _ in pairs(ids) do n = n + 1 end
    ids[key] = n
  end
  return ids[key]
end

local function upvalues_of(f, state)
  local upvalues, i = {}, 1
  while true do
    local name, value = debug.getupvalue(f, i)
    if not name then return upvalues end
    upvalues[i] = { name = name, id = share(state, debug.upvalueid(f, i)), value = value }
    i = i + 1
  end
end

-- The upvalues of a function that was not loaded, as its file has them, with the numbers that
-- their variables get in the file that is written.
local function upvalues_of_stub(stub, state)
  local upvalues = {}
  for i, upvalue in ipairs(stub.upvalues) do
    if stub.by_position then
      upvalues[i] = { name = '?', value = upvalue }
    elseif type(upvalue) == 'table' then
      local id = upvalue.id
      if type(id) == 'number' and id == id then
        local space = stub.space
        space[id] = space[id] or {}
        id = share(state, space[id])
      else
        id = nil
      end
      upvalues[i] = { name = upvalue.name, id = id, value = upvalue.value }
    end
  end
  return upvalues
end

local function open_function(_, w, object, f, state)
  local stub, dumped = serial.stubs[f], dump(f)
  if not stub then serial.own[dumped] = true end
  local upvalues = stub and upvalues_of_stub(stub, state) or upvalues_of(f, state)
  put_string(w, object, dumped)
  return ONE, upvalues, UPVALUES
end

local openers = {
  [kinds.TABLE] = open_table, [kinds.TORCH] = open_torch, [kinds.FUNCTION] = open_function,
}

-- ------------------------------------------------------------------- objects

-- A key that is the same for two objects only if they are one. A torch object may have several
-- userdata; its key is its address. A tensor that Lua has made, and Python does not know, has one
-- userdata, which is its key as long as no code of the program can pass it to Python.
local function identity(object, state)
  local kind = type(object)
  if kind == 'table' or kind == 'function' then return object end
  if state.private and anchor_of(object) and class_ids.class_of(object) < FIRST_STORAGE then
    return object
  end
  return (pointer_of(object))
end

-- Writes the kind of an object and its index, and if it is new its head. key: the object whose
-- index is meant, which a hook may have replaced by value.
local function open(file, w, object, value, key, state)
  local names = state.objectNameStack
  local kind = file:isWritableObject(value)
  if not kind then
    errors.fail(('Unwritable object <%s> at %s'):format(type(value), path_of(names)))
  end
  put_int(w, object, kind)
  local written, force = state.writeObjects, state.force
  local index = type(key) == 'userdata' and written[key] -- Python may know it only since then
  key = identity(key, state)
  index = index or written[key]
  if index and not force then
    put_int(w, object, index)
    return nil
  end
  index = (written.nWriteObject or 0) + 1
  if not force then
    written[key] = index
    state.writeObjectsRef[value] = index -- keeps it alive: its address must not be reused
  end
  put_int(w, object, index)
  written.nWriteObject = index
  return openers[kind](file, w, object, value, state)
end

-- Writes entries of a table as long as key and value have no index in files; returns the first
-- other entry.
local function write_plain(w, object, f, t, k)
  for key, value in f, t, k do
    local kind, of_value = type(key), type(value)
    if (kind ~= 'number' and kind ~= 'string' and kind ~= 'boolean')
      or (of_value ~= 'number' and of_value ~= 'string' and of_value ~= 'boolean') then
      return key, value
    end
    put_plain(w, object, key)
    put_plain(w, object, value)
  end
end

local function name_of(names, depth, t, k)
  if names[depth - 1] == UPVALUES and k == 'value' and type(t.name) == 'string' then
    return t.name
  end
  return (type(k) == 'string' or type(k) == 'number') and k or '<?>'
end

-- Writes an object and all that it contains. A stack in tables has the objects that are not yet
-- complete, so that the depth of an object is not limited by that of Lua's stack.
local function write(file, w, state, value, name, hook)
  local object, names = objects[file], state.objectNameStack
  local iterators, subjects, keys, values = {}, {}, {}, {}
  local base, depth = #names, 0
  local NOTHING = ONE -- in values: the key of the next entry is to be written next
  while true do
    local key = value
    if hook then value = hook(value) end
    if not put_plain(w, object, value) then
      depth = depth + 1
      names[base + depth] = name
      local f, subject, k = open(file, w, object, value, key, state)
      iterators[depth], subjects[depth] = f or false, subject
      keys[depth], values[depth] = k, NOTHING
    end
    repeat -- until there is a value to write
      if depth == 0 then return end
      local f, t = iterators[depth], subjects[depth]
      local has_value = true
      if f == ONE then
        value, name, iterators[depth] = t, keys[depth], false
      elseif not f then
        has_value = false
      elseif values[depth] ~= NOTHING then
        name = name_of(names, base + depth, t, keys[depth])
        value, values[depth] = values[depth], NOTHING
      else
        local k, v
        if hook then
          k, v = f(t, keys[depth])
        else
          k, v = write_plain(w, object, f, t, keys[depth])
        end
        has_value = k ~= nil
        value, name, keys[depth], values[depth] = k, '<?>', k, v
      end
      if not has_value then
        names[base + depth], depth = nil, depth - 1
      end
    until has_value
  end
end

--- Writes an object.
-- @param object any object
-- @param debugname the name that messages begin the path of an object with
-- @param hook a function whose result is written in place of each object, or nil
function File.writeObject(self, object, debugname, hook)
  local w = files.ready_to_write(self)
  local meta = debug.getmetatable(hook)
  if hook and type(hook) ~= 'function' and not (meta and rawget(meta, '__call')) then
    errors.fail(("attempt to call local 'hook' (a %s value)"):format(type(hook)))
  end
  write(self, w, state_of(self), object, debugname or '<?>', hook)
end

return serial
