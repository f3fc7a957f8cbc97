--- torch.File and its classes: opening files, and reading and writing bytes.
-- Each file has a window: a C struct that Python owns (see runtime/io/file.py). It tells where
-- the bytes are that can be read and written here; for other bytes, Python is called. The methods
-- of files are in methods.lua, numbers in access.lua, objects in serialize.lua and
-- deserialize.lua.
-- @module files

local ffi, host, torch, bridge = import('ffi', 'host', 'torch', 'core.bridge')
local c_structs, class_ids, classes = import('core.c_structs', 'core.class_ids', 'core.classes')
local errors, finalizers, references = import('core.errors', 'core.finalizers', 'core.references')
local type_names = import 'core.type_names'
local stdout = io.stdout

local min = math.min
local check_string = errors.check_string

ffi.cdef('typedef struct THFileWindow { ' .. host.WINDOW_MEMBERS .. ' } THFileWindow;')
c_structs.compare_struct('THFileWindow', 'Window')
ffi.cdef[[
void *memchr(const void *, int, size_t);
]]

local window_pointer, bytes = ffi.typeof('THFileWindow *'), ffi.typeof('const char *')
local intptr = ffi.typeof('intptr_t')
local NEWLINE = 10
local UNBOUNDED = 2 ^ 62 -- as in runtime/io/file.py

local windows = setmetatable({}, { __mode = 'k' }) -- file -> its window
local sources = setmetatable({}, { __mode = 'k' }) -- file -> the string that it reads
local names = setmetatable({}, { __mode = 'k' })   -- file -> the name that it was opened with
local files = { windows = windows, names = names }
files.NEWLINE = NEWLINE

--- Calls a function of runtime/host/files.py and raises the error that it returns.
-- Unlike those that python_calls.ask calls, these functions return no strings: bytes are an error.
function files.call(f, ...)
  local r, a, b = f(...)
  if type(r) == 'string' then errors.raise(r) end
  return r, a, b
end
local call = files.call

--- The window of a method's argument 1; raises an error for a value that is no file.
-- @param class the class it must have, by default torch.File
function files.window(self, class)
  local w = windows[self]
  if not w or class and not torch.isTypeOf(self, class) then
    errors.class_error(1, class or 'torch.File', self)
  end
  return w
end

--- The window of a file, for methods that the reference has in Lua and that call the method `name`.
-- Raises the error that this call would raise.
-- @param flag the member of the window that must be set
-- @param purpose what the message says that was attempted
function files.ready(self, name, flag, purpose)
  local w = windows[self]
  if not w then
    errors.fail("bad argument #1 to 'getenv' (function or userdata expected, got "
      .. type(self) .. ')')
  end
  if name and (w.opened == 0 or w[flag] == 0) then
    errors.fail(("calling '%s' on bad self (attempt to %s file)"):format(name,
      w.opened == 0 and 'use a closed' or purpose))
  end
  return w
end

function files.ready_to_read(self)
  return files.ready(self, 'readInt', 'readable', 'read in a write-only')
end

function files.ready_to_write(self)
  return files.ready(self, 'writeInt', 'writable', 'write in a read-only')
end

--- Raises the error about too few elements read or written, unless the file is quiet.
-- @param what 'read' or 'write'
function files.fail(w, what, done, wanted)
  w.failed = 1
  if w.quiet == 0 then
    errors.fail(('%s error: %s %d blocks instead of %d')
      :format(what, what == 'read' and what or 'wrote', done, wanted))
  end
end

--- Makes `need` bytes readable in the window's memory, fewer only at the file's end; returns how
-- many there are.
function files.fill(w, object, need)
  local present = min(w.stop, tonumber(w.memory.size)) - w.at
  if present >= need and w.readable ~= 0 and w.opened ~= 0 then return present end
  return (call(host.file_fill, object, need))
end
local fill = files.fill

-- Sets the position behind bytes that were written; m: the window's memory.
local function advance(w, m, at)
  w.at = at
  if at > w.stop then
    w.stop = at
    m.data[at] = 0
  end
end
files.advance = advance

-- Writes n bytes of a string or from a pointer; returns how many could be written.
local function put(w, object, from, n)
  local at, m = w.at, w.memory
  if at + n <= w.room and at + n < tonumber(m.size) then
    ffi.copy(m.data + at, from, n)
    advance(w, m, at + n)
    return n
  end
  return (call(host.file_put, object, tonumber(ffi.cast(intptr, ffi.cast(bytes, from))), n))
end
files.put = put

--- Writes a string's bytes; returns how many could be written.
function files.put_string(w, object, text)
  return (put(w, object, text, #text))
end

--- The next n bytes as a string, fewer where the file ends.
function files.get_string(w, object, n)
  n = min(n, fill(w, object, n))
  local text = ffi.string(w.memory.data + w.at, n)
  w.at = w.at + n
  return text
end

--- Skips the newline that an ascii file has behind numbers and strings.
function files.skip_newline(w, object)
  if fill(w, object, 1) > 0 and w.memory.data[w.at] == NEWLINE then w.at = w.at + 1 end
end

-- -------------------------------------------------------------------- classes

local function wrap(mt, object, address)
  references.count_object()
  local value = finalizers.newproxy(classes.proxy(mt))
  references.objects[value], windows[value] = object, ffi.cast(window_pointer, address)
  return value
end

torch.newmetatable('torch.File', nil, nil, nil, nil, torch)

-- Makes the constructor of a class whose files have a name. It returns nil for a quiet file that
-- cannot be opened.
local function opener(kind)
  return function(...)
    local name, mode, quiet = ...
    name = check_string(1, select('#', ...), name)
    mode = mode == nil and 'r' or check_string(2, 2, mode)
    if quiet ~= nil and type(quiet) ~= 'boolean' then errors.type_error(3, 'boolean', quiet) end
    quiet = quiet or false
    stdout:flush() -- so that the output of a command comes behind it
    local object, address = host.file_open(kind, name, mode, quiet)
    if type(object) == 'string' then
      if quiet and object:byte() == 0 then return nil end
      errors.raise(object)
    end
    local value = wrap(torch.getmetatable(kind), object, address)
    names[value] = name
    return value
  end
end

--- Creates a file that replaces another one of its name when complete (runtime/io/diskfile.py).
function files.saved(name)
  if type(name) ~= 'string' and type(name) ~= 'number' then
    errors.type_error(1, 'string', name, false, '?') -- the reference's error is a constructor's
  end
  name = tostring(name)
  local value = wrap(torch.getmetatable('torch.DiskFile'), call(host.file_open_saved, name))
  names[value] = name
  return value
end

local function new_memory(storage, mode)
  local object
  if type_names.typename(storage) == 'torch.CharStorage' then
    object = bridge.to_python(storage)
  else
    mode = storage
  end
  mode = mode == nil and 'rw' or check_string(object and 2 or 1, 2, mode)
  local file, address = call(host.file_open_memory, object, mode)
  return wrap(torch.getmetatable('torch.MemoryFile'), file, address)
end

--- A file for reading whose bytes are those of a CharStorage or of a long string.
local function over(source)
  local file, address
  if type(source) == 'string' then
    local start = tonumber(ffi.cast(intptr, ffi.cast(bytes, source)))
    file, address = call(host.file_over_bytes, start, #source)
  else
    file, address = call(host.file_over_memory, bridge.to_python(source))
  end
  local value = wrap(torch.getmetatable('torch.MemoryFile'), file, address)
  sources[value] = source
  return value
end

-- ------------------------------------------------------ files that are used again

-- A file in memory that the program does not get hold of is used again: it takes longer to make
-- than a few numbers take to write.
local SIZE, MOST = 2 ^ 16, 2 ^ 20 -- bytes of such a file's memory: at first, and at most
local free = {}                   -- those that are not in use
local NO_STATE = {}

--- An empty file in memory, open for reading and writing.
function files.take()
  local n = #free
  local file = free[n]
  free[n] = nil
  file = file or new_memory(torch.CharStorage(SIZE):fill(0), 'rw')
  local w = windows[file]
  w.at, w.stop, w.failed, w.quiet, w.binary, w.spacing = 0, 0, 0, 0, 0, 1
  w.swapped, w.long_size, w.direct = 0, 0, 0
  w.memory.data[0] = 0
  return file
end

--- Gives back a file from `files.take` or `files.over`, which the program must not know.
function files.give(file)
  local w = windows[file]
  if sources[file] or w.opened == 0 or w.memory.size > MOST then
    file:close()
    return
  end
  w.readable, w.writable, w.room = 1, 1, UNBOUNDED
  torch.setenv(file, NO_STATE)
  free[#free + 1] = file
end

--- A file for reading whose bytes are those of a CharStorage or of a string.
function files.over(source)
  if type(source) ~= 'string' or #source >= SIZE then return over(source) end
  local file = files.take()
  local w = windows[file]
  ffi.copy(w.memory.data, source, #source)
  w.memory.data[#source] = 0
  w.stop, w.writable, w.room = #source, 0, 0
  return file
end

local function class(name, parent, new)
  errors.mark_constructor(new)
  return torch.newmetatable(name, parent, new, nil, nil, torch)
end

files.DiskFile = class('torch.DiskFile', 'torch.File', opener('torch.DiskFile'))
files.PipeFile = class('torch.PipeFile', 'torch.DiskFile', opener('torch.PipeFile'))
files.MemoryFile = class('torch.MemoryFile', 'torch.File', new_memory)

for _, name in ipairs{ 'DiskFile', 'MemoryFile', 'PipeFile' } do
  class_ids.bind_other_class('torch.' .. name, files[name])
end

return files
