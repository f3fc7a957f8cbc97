--- torch.save, torch.load, torch.serialize and the like, which write or read one object.
-- @module saving

local host, torch, errors = import('host', 'torch', 'core.errors')
local python_calls, references = import('core.python_calls', 'core.references')
local type_names, files, serial = import('core.type_names', 'files.files', 'files.serialize')

local objects, windows = references.objects, files.windows

--- Calls f with a file and more, and then `release` with the file, by default file.close; where f
-- raises an error, the file is closed.
local function with(file, release, f, ...)
  return errors.finally(function(ok)
    if not ok then
      pcall(file.close, file)
    else
      (release or file.close)(file)
    end
  end, f, file, ...)
end

--- Makes a file binary or ascii, as the mode says.
local function set_mode(file, mode)
  if mode ~= 'binary' and mode ~= 'ascii' then
    errors.fail('attempt to call a nil value')
  end
  return file[mode](file)
end

--- Writes an object to a new file, which replaces one of that name when it is complete.
-- @param filename the file's name
-- @param object any object
-- @param mode 'binary', the default, or 'ascii'
-- @param referenced whether an object that occurs again is written as a reference; the default
function torch.save(filename, object, mode, referenced)
  if mode ~= nil and mode ~= 'binary' and mode ~= 'ascii' then
    error('"binary" or "ascii" (or nil) expected for mode', 0)
  end
  if referenced ~= nil and type(referenced) ~= 'boolean' then
    error('true or false (or nil) expected for referenced', 0)
  end
  local file = files.saved(filename)
  with(file, nil, function()
    set_mode(file, mode or 'binary'):referenced(referenced ~= false)
    file:writeObject(object)
    files.ready(file, 'close', 'opened') -- the object's own method may have closed the file
    files.call(host.file_complete, objects[file])
  end)
end

-- The methods of files that the program might replace, to get hold of a file.
local File = torch.getmetatable('torch.File')
local original = {}
for name, f in pairs(File) do original[name] = f end

local function is_original()
  for name, f in next, original do
    if rawget(File, name) ~= f then return false end
  end
  for _, name in ipairs{ 'writeObject', 'readObject', 'isWritableObject' } do
    if rawget(files.MemoryFile, name) ~= nil then return false end
  end
  return true
end

-- Calls f with a file from files.take or files.over, which is used again if the program's code has
-- not got hold of it: where that may be, its state is no longer private.
local function with_private_file(file, f, ...)
  local state = serial.state(file)
  state.private = is_original()
  local function release()
    if state.private then files.give(file) else file:close() end
  end
  return with(file, release, f, ...)
end

local function write_to(file, object, mode)
  set_mode(file, mode or 'binary')
  file:writeObject(object)
  files.ready(file, 'close', 'opened')
  local window = windows[file]
  window.at = 0
  return files.get_string(window, objects[file], window.stop)
end

--- The bytes of a file with one object, as a string.
function torch.serialize(object, mode)
  return (with_private_file(files.take(), write_to, object, mode))
end

--- The bytes of a file with one object, as a CharStorage.
function torch.serializeToStorage(object, mode)
  return (with(torch.MemoryFile(), nil, function(file)
    set_mode(file, mode or 'binary')
    file:writeObject(object)
    local storage = file:storage()
    storage:resize(storage:size() - 1)
    return storage
  end))
end

local LONG_SIZES = { b32 = 4, b64 = 8 }

-- An error about the contents of a file, with what the file is instead, where its start tells.
-- A program that catches errors gets the reference's words.
local function with_explanation(message, filename, mode)
  local is_plain = type(message) ~= 'string' or message == host.INTERRUPTED
  if is_plain or errors.is_protected() then return message end
  local what = python_calls.ask(host.file_explanation, tostring(filename), mode)
  return what == '' and message or message .. ': ' .. what
end

--- Reads an object from a file.
-- @param filename the file's name
-- @param mode 'binary', the default, or 'ascii'; 'b32' or 'b64' for binary files of machines
--   whose longs have 32 or 64 bits
-- @param referenced whether the file has references to objects that occur again; the default
function torch.load(filename, mode, referenced)
  if mode ~= nil and mode ~= 'binary' and mode ~= 'ascii' and not LONG_SIZES[mode] then
    error('"binary", "b32", "b64" or "ascii" (or nil) expected for mode', 0)
  end
  if referenced ~= nil and type(referenced) ~= 'boolean' then
    error('true or false (or nil) expected for referenced', 0)
  end
  local file = torch.DiskFile(filename, 'r')
  local form = LONG_SIZES[mode] and 'binary' or mode or 'binary'
  local ok, value = pcall(with, file, nil, function()
    set_mode(file, form)
    file:referenced(referenced ~= false)
    if LONG_SIZES[mode] then file:longSize(LONG_SIZES[mode]) end
    return file:readObject()
  end)
  if not ok then error(with_explanation(value, filename, form), 0) end
  return value
end

local function read_from(file, mode)
  return set_mode(file, mode or 'binary'):readObject()
end

local function deserialize_from(file, mode)
  return (with_private_file(file, read_from, mode))
end

local function check_size(size)
  if size == 0 then
    errors.fail("bad argument #1 to 'size' (dimension 1 out of range of 0D tensor)")
  end
end

--- Reads an object from the bytes of a CharStorage.
function torch.deserializeFromStorage(storage, mode)
  if type_names.typename(storage) ~= 'torch.CharStorage' then
    storage = torch.CharTensor(storage):clone():storage() or torch.CharStorage()
  end
  check_size(storage:size())
  if mode == 'ascii' then -- C's functions that read numbers need a zero byte behind the text
    local copy = torch.CharStorage(storage:size() + 1):fill(0)
    torch.CharTensor(copy, 1, storage:size()):copy(torch.CharTensor(storage))
    return deserialize_from(torch.MemoryFile(copy, 'r'), mode)
  end
  return deserialize_from(files.over(storage), mode)
end

--- Reads an object from the bytes of a string.
function torch.deserialize(text, mode)
  if type(text) ~= 'string' then
    return torch.deserializeFromStorage(torch.CharStorage():string(text), mode)
  end
  check_size(#text)
  return deserialize_from(files.over(text), mode)
end

torch.saveobj, torch.loadobj = torch.save, torch.load
