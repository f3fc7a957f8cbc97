--- Reads and writes numbers of one element type in files: one number, several, or a storage.
-- This chunk is loaded once for each element type, so that each has functions, and with them
-- traces, of its own.
-- In all functions, w is the file's window and object its Python object.
-- @module file_access

local dtype = ...
local ffi, host, torch, bridge = import('ffi', 'host', 'torch', 'core.bridge')
local c_structs, errors, keep_alive = import('core.c_structs', 'core.errors', 'core.keep_alive')
local references, type_names, files = import('core.references', 'core.type_names', 'files.files')
local blocks = import 'tensor.blocks'

local type, tonumber, select, min, max = type, tonumber, select, math.min, math.max
local call, objects = files.call, references.objects
local fail, skip_newline, window_of = files.fail, files.skip_newline, files.window
local load, convert = dtype.load, dtype.convert
local anchor_of, storage_structs = keep_alive.anchor_of, dtype.storage_structs
local pointer, width = dtype.pointer, ffi.sizeof(dtype.ctype)
local cast = ffi.cast

local advance = files.advance

local IS_LONG, IS_BYTES = dtype.name == 'Long', width == 1
local NEWLINE = files.NEWLINE
local FIRST = 2 ^ 16 -- elements read at first where it is not known how many there are

local text = import.instance('files.text', dtype)
local scan, read_text, write_text = text.scan, text.read, text.write

-- A storage of one element, through which Python and C read and write single numbers; made on
-- first use. scratch_object: its Python object. scratch_data: the pointer to its element.
local scratch, scratch_object, scratch_data

local function need_scratch()
  if scratch then return end
  local made = torch.getconstructortable(dtype.storage_name)(1)
  scratch_data = c_structs.settled_struct(made).data
  scratch_object = bridge.to_python(made)
  scratch = made -- at last: Ctrl-C may come between any of these
end

-- -------------------------------------------------------------- single numbers

local access = {}

-- Tells whether binary numbers of this type are in the file as they are in memory.
local function is_direct(w)
  return w.direct ~= 0 and not (IS_LONG and w.long_size == 4)
end

local element = ffi.typeof(dtype.ctype .. '[1]')
local one = element()

-- The number that an element of this type has when a number is written to it.
local function rounded(value)
  one[0] = dtype.name == 'Half' and convert(value) or value
  return load(one, 0)
end

-- There is no loop in this function, so that it becomes part of the trace of the program's loop.
local function get_text(w, object)
  local is_number, value = scan(w, object)
  if w.spacing ~= 0 then
    local at, m = w.at, w.memory
    if at < w.stop and at < tonumber(m.size) then
      if m.data[at] == NEWLINE then w.at = at + 1 end
    else
      skip_newline(w, object)
    end
  end
  if not is_number then
    fail(w, 'read', 0, 1)
    return 0
  end
  return rounded(value)
end

local function get_slowly(w, object)
  if w.binary == 0 and not IS_BYTES then
    local value = get_text(w, object)
    return value
  end
  need_scratch()
  scratch_data[0] = 0
  local n = call(host.file_read, object, scratch_object, 0, 1)
  if w.binary == 0 and w.spacing ~= 0 then skip_newline(w, object) end
  if n ~= 1 then fail(w, 'read', n, 1) end
  return load(scratch_data, 0)
end

local function put_slowly(w, object, value)
  need_scratch()
  scratch_data[0] = value
  local n
  if w.binary ~= 0 or IS_BYTES then
    n = call(host.file_write, object, scratch_object, 0, 1)
    if w.binary == 0 and w.spacing ~= 0 then files.put_string(w, object, '\n') end
  else
    n = write_text(w, object, scratch_data, 1)
  end
  if n ~= 1 then fail(w, 'write', n, 1) end
end

--- The next number of a file.
function access.get(w, object)
  local at, m = w.at, w.memory
  local behind = at + width
  if is_direct(w) and behind <= w.stop and behind <= tonumber(m.size) and w.readable ~= 0 then
    w.at = behind
    local value = load(cast(pointer, m.data + at), 0)
    return value
  end
  return get_slowly(w, object)
end
local get = access.get

--- Writes a number.
function access.put(w, object, value)
  local at, m = w.at, w.memory
  local behind = at + width
  value = convert(value)
  if is_direct(w) and behind <= w.room and behind < tonumber(m.size) then
    cast(pointer, m.data + at)[0] = value
    advance(w, m, behind)
  else
    put_slowly(w, object, value)
  end
end
local put = access.put

-- ------------------------------------------------------------------- storages

-- Reads into the elements [from, to) of a storage, from 0; returns how many there were.
local function read_some(w, object, storage, from, to)
  if w.binary ~= 0 or IS_BYTES then
    return (call(host.file_read, object, bridge.to_python(storage), from, to))
  end
  return read_text(w, object, c_structs.settled_struct(storage).data, from, to)
end

local function finish_reading(w, object, done, wanted)
  if wanted > 0 and w.binary == 0 and w.spacing ~= 0 then skip_newline(w, object) end
  if done ~= wanted then fail(w, 'read', done, wanted) end
  return done
end

--- Fills a storage; returns how many elements there were.
function access.read_storage(w, object, storage)
  local n = storage:size()
  return finish_reading(w, object, read_some(w, object, storage, 0, n), n)
end

-- access.read_sized for text, in which each number but the last takes two bytes at least: a digit
-- and a space.
local function read_sized_text(w, object, storage, n)
  local rest = call(host.file_remaining, object)
  local known = rest >= 0
  local target, done = known and min(n, (rest + 1 - (rest + 1) % 2) / 2) or n, 0
  repeat
    local part = known and target or min(target, max(2 * done, FIRST))
    storage:resize(part)
    local got = read_text(w, object, c_structs.settled_struct(storage).data, done, part)
    local complete = got == part - done
    done = done + got
  until done == target or not complete
  if done < storage:size() then storage:resize(done) end
  return done
end

--- Resizes a storage to n elements, or to as many as there are, and fills it.
-- Allocates no more memory than the file can fill: the number in a damaged file may be any.
function access.read_sized(w, object, storage, n)
  if not (n >= 0) then errors.fail('$ Torch: invalid memory size -- maybe an overflow?') end
  local done
  if w.binary ~= 0 or IS_BYTES then
    done = call(host.file_read_sized, object, bridge.to_python(storage), n)
  else
    done = read_sized_text(w, object, storage, n)
  end
  return finish_reading(w, object, done, n)
end

-- Copies n elements of a storage that Lua has made into the window, if it has room for them.
local function put_elements(w, storage, n)
  local before, at, m, bytes = blocks.moves(), w.at, w.memory, n * width
  if not anchor_of(storage) or not is_direct(w) or n == 0 or at + bytes > w.room
    or at + bytes >= tonumber(m.size) then
    return false
  end
  local to, from = m.data + at, storage_structs[storage].data
  if blocks.moves() ~= before then return false end -- a finalizer has moved one of them
  ffi.copy(to, from, bytes)
  advance(w, m, at + bytes)
  return true
end

--- Gives a storage that Lua has just made, and that is empty, n elements that are in the window.
-- Returns false where Python has to.
function access.read_new(w, storage, n)
  if not (n >= 1 and n <= blocks.MAX) then return false end
  local store, old = blocks.new_store(dtype, n), storage_structs[storage]
  local before, at, m, bytes = blocks.moves(), w.at, w.memory, n * width
  if not old or old.size ~= 0 or not is_direct(w) or w.readable == 0 or at + bytes > w.stop
    or at + bytes > tonumber(m.size) then
    return false
  end
  local to, from = store.own.data, m.data + at
  if blocks.moves() ~= before then return false end
  ffi.copy(to, from, bytes)
  w.at = at + bytes
  local struct = ffi.cast(dtype.storage_pointer, store.own)
  return c_structs.replace_struct(storage_structs, storage, old, struct, store)
end

--- Writes a storage's elements; returns how many were written.
function access.write_storage(w, object, storage)
  local n = storage:size()
  if put_elements(w, storage, n) then return n end
  local done
  if w.binary ~= 0 or IS_BYTES then
    done = call(host.file_write, object, bridge.to_python(storage), 0, n)
    if n > 0 and w.binary == 0 and w.spacing ~= 0 then files.put_string(w, object, '\n') end
  else
    call(host.file_put, object, 0, 0) -- raises the error about a file that cannot be written
    done = write_text(w, object, c_structs.settled_struct(storage).data, n)
  end
  if done ~= n then fail(w, 'write', done, n) end
  return done
end

-- -------------------------------------------------------------------- methods

--- file:readTYPE() returns the next number; file:readTYPE(count) a storage of so many; and
-- file:readTYPE(storage) fills a storage and returns how many elements there were.
function access.read(self, ...)
  local w, object = window_of(self), objects[self]
  local count = select('#', ...)
  if count == 0 then
    local value = get(w, object)
    return value
  elseif count == 1 then
    local what = ...
    local n = type(what) ~= 'boolean' and tonumber(what)
    if n and type(what) ~= 'cdata' then
      local storage = torch.getconstructortable(dtype.storage_name)()
      access.read_sized(w, object, storage, n < 0 and -1 or n - n % 1)
      return storage
    elseif type_names.typename(what) == dtype.storage_name then
      local done = access.read_storage(w, object, what)
      return done
    end
  end
  errors.fail(('nothing, number, or %sStorage expected'):format(dtype.name))
end

--- file:writeTYPE(number) writes a number; file:writeTYPE(storage) writes a storage's elements
-- and returns how many were written.
function access.write(self, ...)
  local w, object = window_of(self), objects[self]
  if select('#', ...) == 1 then
    local what = ...
    local kind = type(what)
    local v = (kind == 'number' or kind == 'string') and tonumber(what)
    if v then
      put(w, object, v)
      return
    elseif type_names.typename(what) == dtype.storage_name then
      local done = access.write_storage(w, object, what)
      return done
    end
  end
  errors.fail(('number, or %sStorage expected'):format(dtype.name))
end

return access
