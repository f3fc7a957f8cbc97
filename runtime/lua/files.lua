--- torch.File and its classes: what they are, their state, positions and strings.
-- Each file has a window (a struct that Python owns, see runtime/io/window.py): the bytes at
-- hand, which are read and written here. For other bytes, and for moving, Python is asked.
-- Numbers are file_access.lua's, objects those of serialize.lua and deserialize.lua.
-- @module files

local th = ...
local torch, host = th.torch, th.host
local ffi = require 'ffi'

local type, tonumber, min, select = type, tonumber, math.min, select
local objects = th.objects

ffi.cdef[[
typedef struct THFileWindow {
  THCharStorage *memory; double at; double stop; double room;
  int opened; int readable; int writable; int quiet; int binary; int spacing; int failed;
  int swapped; int long_size; int direct; int stream;
} THFileWindow;
void *memchr(const void *, int, size_t);
]]

local window_pointer, bytes = ffi.typeof('THFileWindow *'), ffi.typeof('const char *')
local intptr = ffi.typeof('intptr_t')
local NEWLINE = 10

local windows = setmetatable({}, { __mode = 'k' }) -- file -> its window
local names = setmetatable({}, { __mode = 'k' }) -- file -> how it was opened
local sources = setmetatable({}, { __mode = 'k' }) -- file -> the string that it reads
local files = { windows = windows }
th.files = files

--- Calls a function of Python's, and raises the error it returns.
function files.ask(f, ...)
  local r, a, b = f(...)
  if type(r) == 'string' then th.raise(r) end
  return r, a, b
end
local ask = files.ask

--- The window of argument 1 of a method; raises an error for what is no file.
function files.window(self, class)
  local w = windows[self]
  if not w or class and not torch.isTypeOf(self, class) then
    th.class_error(1, class or 'torch.File', self)
  end
  return w
end
local window_of = files.window

--- The window of a file whose methods are Lua in the reference, and call others: `name`.
-- Raises the error that this call would raise for a file that cannot do it.
function files.ready(self, name, flag, purpose)
  local w = windows[self]
  if not w then
    th.fail("bad argument #1 to 'getenv' (function or userdata expected, got "
      .. type(self) .. ')')
  end
  if name and (w.opened == 0 or w[flag] == 0) then
    th.fail(("calling '%s' on bad self (attempt to %s file)"):format(name,
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

--- Raises the error about too little read or written, unless the file is quiet.
-- what: 'read' or 'write'.
function files.fail(w, what, done, wanted)
  w.failed = 1
  if w.quiet == 0 then
    th.fail(('%s error: %s %d blocks instead of %d')
      :format(what, what == 'read' and what or 'wrote', done, wanted))
  end
end
local fail = files.fail

--- Makes sure of `need` bytes in the window; returns how many there are, less at the end only.
function files.fill(w, object, need)
  local present = min(w.stop, tonumber(w.memory.size)) - w.at
  if present >= need and w.readable ~= 0 and w.opened ~= 0 then return present end
  return (ask(host.file_fill, object, need))
end
local fill = files.fill

--- Writes a string's bytes; returns how many could be written.
function files.put_string(w, object, text)
  local n, at = #text, w.at
  local m = w.memory
  if at + n <= w.room and at + n < tonumber(m.size) then
    ffi.copy(m.data + at, text, n)
    at = at + n
    w.at = at
    if at > w.stop then
      w.stop = at
      m.data[at] = 0
    end
    return n
  end
  return (ask(host.file_put, object, tonumber(ffi.cast(intptr, ffi.cast(bytes, text))), n))
end

--- The next n bytes as a string, fewer where the file ends.
function files.get_string(w, object, n)
  n = min(n, fill(w, object, n))
  local text = ffi.string(w.memory.data + w.at, n)
  w.at = w.at + n
  return text
end
local get_string = files.get_string

--- Skips the newline that ascii files have behind what was read.
function files.skip_newline(w, object)
  if fill(w, object, 1) > 0 and w.memory.data[w.at] == NEWLINE then w.at = w.at + 1 end
end

-- -------------------------------------------------------------------- classes

local function wrap(mt, object, address)
  local value = th.newproxy(th.proxy(mt))
  objects[value], windows[value] = object, ffi.cast(window_pointer, address)
  return value
end

local function check_string(arg, value, default, absent)
  if value == nil and default then return default end
  local kind = type(value)
  if kind ~= 'string' and kind ~= 'number' then th.type_error(arg, 'string', value, absent) end
  return tostring(value)
end

local function check_boolean(arg, value)
  if value ~= nil and type(value) ~= 'boolean' then th.type_error(arg, 'boolean', value) end
  return value or false
end

local File = torch.newmetatable('torch.File', nil, nil, nil, nil, torch)

-- Makes the constructor of a class whose files have a name; nil for a quiet failure.
local function opener(kind)
  return function(...)
    local name, mode, quiet = ...
    name, mode = check_string(1, name, nil, select('#', ...) == 0), check_string(2, mode, 'r')
    quiet = check_boolean(3, quiet)
    io.stdout:flush() -- in order with what a command writes
    local object, address = host.file_open(kind, name, mode, quiet)
    if type(object) == 'string' then
      if quiet and object:byte() == 0 then return nil end
      th.raise(object)
    end
    local value = wrap(torch.getmetatable(kind), object, address)
    names[value] = name
    return value
  end
end

local function new_memory(storage, mode)
  local object
  if th.typename(storage) == 'torch.CharStorage' then
    object = th.to_python(storage)
    mode = check_string(2, mode, 'rw')
  else
    mode = check_string(1, storage, 'rw')
  end
  local file, address = ask(host.file_open_memory, object, mode)
  return wrap(torch.getmetatable('torch.MemoryFile'), file, address)
end

--- A file to read only, over a CharStorage or the bytes of a string.
function files.over(source)
  local file, address
  if type(source) == 'string' then
    local start = tonumber(ffi.cast(intptr, ffi.cast(bytes, source)))
    file, address = ask(host.file_over_bytes, start, #source)
  else
    file, address = ask(host.file_over_memory, th.to_python(source))
  end
  local value = wrap(torch.getmetatable('torch.MemoryFile'), file, address)
  sources[value] = source
  return value
end

local function class(name, parent, new)
  th.mark_constructor(new)
  return torch.newmetatable(name, parent, new, nil, nil, torch)
end

local DiskFile = class('torch.DiskFile', 'torch.File', opener('torch.DiskFile'))
local PipeFile = class('torch.PipeFile', 'torch.DiskFile', opener('torch.PipeFile'))
local MemoryFile = class('torch.MemoryFile', 'torch.File', new_memory)

do
  local disk, memory, pipe = ask(host.file_class)
  th.bind_class(disk, DiskFile)
  th.bind_class(memory, MemoryFile)
  th.bind_class(pipe, PipeFile)
end

local function described(w, format, name)
  return format:format(name, w.opened ~= 0 and 'open' or 'closed', w.readable ~= 0 and 'r' or ' ',
    w.writable ~= 0 and 'w' or ' ')
end

function DiskFile.__tostring__(self)
  local w = window_of(self, 'torch.DiskFile')
  return described(w, 'torch.DiskFile on <%s> [status: %s -- mode %s%s]',
    names[self])
end

function PipeFile.__tostring__(self)
  local w = window_of(self, 'torch.PipeFile')
  return described(w, 'torch.PipeFile on <%s> [status: %s -- mode: %s%s]',
    names[self])
end

function MemoryFile.__tostring__(self)
  local w = window_of(self, 'torch.MemoryFile')
  return described(w, '%storch.MemoryFile [status: %s -- mode: %s%s]', '')
end

-- ---------------------------------------------------------------------- state

for name, field in pairs{
  isQuiet = 'quiet', isReadable = 'readable', isWritable = 'writable', isBinary = 'binary',
  isAutoSpacing = 'spacing', hasError = 'failed', isOpened = 'opened',
} do
  File[name] = function(self) return window_of(self)[field] ~= 0 end
end

-- Whether binary numbers are in the file as they are in memory.
local function settle(w)
  w.direct = w.binary ~= 0 and w.swapped == 0 and 1 or 0
end

for name, change in pairs{
  binary = { 'binary', 1 }, ascii = { 'binary', 0 }, autoSpacing = { 'spacing', 1 },
  noAutoSpacing = { 'spacing', 0 }, quiet = { 'quiet', 1 }, pedantic = { 'quiet', 0 },
  clearError = { 'failed', 0 },
} do
  local field, value = change[1], change[2]
  File[name] = function(self)
    local w = window_of(self)
    w[field] = value
    settle(w)
    return self
  end
end

function DiskFile.isLittleEndianCPU() return ffi.abi('le') end

function DiskFile.isBigEndianCPU() return ffi.abi('be') end

for name, swapped in pairs{
  nativeEndianEncoding = 0, littleEndianEncoding = ffi.abi('le') and 0 or 1,
  bigEndianEncoding = ffi.abi('le') and 1 or 0,
} do
  DiskFile[name] = function(self)
    local w = window_of(self, 'torch.DiskFile')
    ask(host.file_check_open, objects[self])
    w.swapped = swapped
    settle(w)
    return self
  end
end

local function set_long_size(w, size)
  size = tonumber(size) or 0
  if size ~= 0 and size ~= 4 and size ~= 8 then
    th.argument_error(1, 'Invalid long size specified')
  end
  w.long_size = size
end

--- Sets the bytes that a long has in a binary file: 4, 8, or 0 for as many as in memory.
function DiskFile.longSize(self, size)
  local w = window_of(self, 'torch.DiskFile')
  ask(host.file_check_open, objects[self])
  set_long_size(w, size)
  return self
end

function MemoryFile.longSize(self, size)
  set_long_size(window_of(self, 'torch.MemoryFile'), size)
  return self
end

function DiskFile.noBuffer(self)
  window_of(self, 'torch.DiskFile')
  ask(host.file_stop_buffering, objects[self])
  return self
end

--- The storage of a file in memory: its bytes and a NUL.
function MemoryFile.storage(self)
  window_of(self, 'torch.MemoryFile')
  local storage, id = ask(host.file_storage, objects[self])
  return th.wrap(storage, id)
end

-- ------------------------------------------------------------------ positions

function File.seek(self, position)
  window_of(self)
  local n = tonumber(position)
  if not n or type(position) == 'boolean' then
    th.type_error(2, 'number', position, position == nil)
  end
  n = n - n % 1 - 1
  if not (n >= 0) then th.argument_error(2, 'position has to be greater than 0!') end
  ask(host.file_seek, objects[self], n)
  return self
end

function File.position(self)
  window_of(self)
  return ask(host.file_position, objects[self]) + 1
end

for name, f in pairs{
  seekEnd = host.file_seek_end, synchronize = host.file_synchronize, close = host.file_close,
} do
  File[name] = function(self)
    window_of(self)
    if name == 'close' then io.stdout:flush() end
    ask(f, objects[self])
    return self
  end
end

local old_exit = os.exit
--- os.exit, which writes out what open files hold back.
function os.exit(...) -- luacheck: globals os.exit
  host.file_flush_all()
  return old_exit(...)
end

-- -------------------------------------------------------------------- strings

-- The bytes up to the next newline (which is skipped), or all there are.
local function get_line(w, object)
  local searched = 0
  while true do
    local present = fill(w, object, searched + 1)
    local start = w.memory.data + w.at
    local found = present > searched and ffi.C.memchr(start + searched, NEWLINE, present - searched)
    if found and found ~= nil then
      local text = get_string(w, object, tonumber(ffi.cast('char *', found) - start))
      w.at = w.at + 1
      return text
    elseif present <= searched then
      return get_string(w, object, present)
    end
    searched = present
  end
end

--- The rest of the file ('*a') or of the line ('*l') as a string.
function File.readString(self, format)
  local w, object = window_of(self), objects[self]
  format = check_string(2, format, nil, format == nil)
  fill(w, object, 0) -- complains about a file that cannot be read
  if not format:find('^%*[al]') then th.argument_error(2, "format must be '*a' or '*l'") end
  if fill(w, object, 1) < 1 then
    fail(w, 'read', 0, 1)
    return ''
  end
  if format:byte(2) == 108 then return get_line(w, object) end
  local need = fill(w, object, 1)
  repeat
    local present = need
    need = fill(w, object, present + 1)
  until need <= present
  return get_string(w, object, need)
end

--- Writes a string as it is; returns the number of bytes.
function File.writeString(self, text)
  local w = window_of(self)
  if type(text) ~= 'string' then th.type_error(2, 'string', text, text == nil) end
  local written = files.put_string(w, objects[self], text)
  if written < #text then fail(w, 'write', written, #text) end
  return written
end

function File.writeBool(self, value)
  files.ready_to_write(self)
  self:writeInt(value and 1 or 0)
end

function File.readBool(self)
  files.ready_to_read(self)
  return self:readInt() == 1
end
