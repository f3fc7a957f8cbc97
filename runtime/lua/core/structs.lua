--- The C structs of tensors and storages, which Lua reads live, without asking Python.
-- The leading members are the reference's. Python owns the structs and rewrites them at
-- every change of geometry. Lua makes two kinds by itself, which Python gets to know on first
-- need: views, and blocks (small new tensors, with their storage and its memory in one piece).
-- @module ctypes

local th = ...
local ffi, bit = require 'ffi', require 'bit'
local host, objects = th.host, th.objects
local weak = { __mode = 'k' }

-- Element types in the order of Python's DTYPES.
th.dtypes = {
  { name = 'Byte', ctype = 'unsigned char' },
  { name = 'Char', ctype = 'signed char' },
  { name = 'Short', ctype = 'short' },
  { name = 'Int', ctype = 'int' },
  { name = 'Long', ctype = 'long' },
  { name = 'Float', ctype = 'float' },
  { name = 'Double', ctype = 'double' },
  { name = 'Half', ctype = 'uint16_t' },
}

local STRUCTS = [[
typedef struct THREALStorage {
  CTYPE *data; ptrdiff_t size; int refcount; char flag;
} THREALStorage;
typedef struct THREALTensor {
  long *size; long *stride; int nDimension;
  THREALStorage *storage; ptrdiff_t storageOffset;
  int refcount; char flag;
} THREALTensor;
typedef struct THREALView {
  long *size; long *stride; int nDimension;
  THREALStorage *storage; ptrdiff_t storageOffset;
  int refcount; char flag;
  long geometry[16];
} THREALView;
typedef struct THREALBlock {
  long *size; long *stride; int nDimension;
  THREALStorage *storage; ptrdiff_t storageOffset;
  int refcount; char flag;
  long geometry[16];
  THREALStorage own;
  CTYPE data[?];
} THREALBlock;
]]

th.LONG, th.DOUBLE = 4, 6 -- indices of Long and Double
th.leaves_memory = th.ask(host.leaves_memory) -- new memory is not filled with a pattern

-- Each class has a table of its own: what works on the elements of one type finds no struct of
-- another one in it, be it called with whatever.
local structs = {}       -- class id -> userdata -> struct
local pointer_types = {} -- class id -> the struct's pointer type
th.structs = structs
for i, dtype in ipairs(th.dtypes) do
  ffi.cdef((STRUCTS:gsub('REAL', dtype.name):gsub('CTYPE', dtype.ctype)))
  dtype.index = i - 1
  dtype.tensor_id, dtype.storage_id = i, 20 + i
  dtype.tensor_name = 'torch.' .. dtype.name .. 'Tensor'
  dtype.storage_name = 'torch.' .. dtype.name .. 'Storage'
  dtype.pointer = ffi.typeof(dtype.ctype .. ' *')
  dtype.view = ffi.typeof('TH' .. dtype.name .. 'View')
  dtype.block = ffi.typeof('TH' .. dtype.name .. 'Block')
  dtype.tensor_pointer = ffi.typeof('TH' .. dtype.name .. 'Tensor *')
  dtype.storage_pointer = ffi.typeof('TH' .. dtype.name .. 'Storage *')
  pointer_types[dtype.tensor_id] = dtype.tensor_pointer
  pointer_types[dtype.storage_id] = dtype.storage_pointer
  dtype.structs = setmetatable({}, weak)
  dtype.storage_structs = setmetatable({}, weak)
  structs[dtype.tensor_id], structs[dtype.storage_id] = dtype.structs, dtype.storage_structs
end

--- The struct of a userdata that has none yet in `structs`, and its class id; nil for what
-- has no struct.
local function fetch_struct(value)
  local object = objects[value]
  if not object then return nil end
  local address, id = th.ask(host.mirror, object)
  if not address then return nil end
  local struct = ffi.cast(pointer_types[id], address)
  structs[id][value] = struct
  return struct, id
end
th.fetch_struct = fetch_struct

-- How a class looks for structs that are not in its table yet: the first function gives nil for
-- an object of another class, the second one raises an error.
local function searchers(class, name)
  local function fetch(value)
    local struct, id = fetch_struct(value)
    if id == class then return struct end
  end
  local function need(value)
    return fetch(value) or th.class_error(1, name, value)
  end
  return fetch, need
end

for _, dtype in ipairs(th.dtypes) do
  dtype.fetch_struct, dtype.need_struct = searchers(dtype.tensor_id, dtype.tensor_name)
  dtype.fetch_storage, dtype.need_storage = searchers(dtype.storage_id, dtype.storage_name)
end

-- The struct of a userdata and its class id, if that is known here.
local function find_struct(value)
  local id = th.class_of(value)
  local struct = id and structs[id] and structs[id][value]
  if struct then return struct, id end
  for other, known in pairs(structs) do -- a program may have changed the metatable
    if known[value] then return known[value], other end
  end
end

-- Storages' Python objects by the address of their struct, as long as Lua uses them.
local storages = setmetatable({}, { __mode = 'v' })
local intptr = ffi.typeof('intptr_t')

local function address_of(memory)
  return tonumber(ffi.cast(intptr, ffi.cast('void *', memory)))
end

--- The Python storage a struct belongs to: what keeps its memory alive.
function th.storage_object(struct)
  local address = address_of(struct)
  local object = storages[address]
  if not object then
    object = th.ask(host.storage_at, address)
    th.track(object)
    storages[address] = object
  end
  return object
end

local KNOWN = 64 -- flag of a block's storage that Python knows, which sets it
th.SHARED = 32   -- and of one that more tensors may view than the one it was made for

-- The Python storage of a block, which from then on keeps the block and writes its struct.
local function adopt_block(block, dtype)
  local own = block.own
  if bit.band(own.flag, KNOWN) ~= 0 then return th.storage_object(own) end
  local address, data = address_of(own), address_of(block.data)
  local object = th.ask(th.call_apart, host.adopt_storage, dtype.index, address, data,
    tonumber(own.size), block)
  th.track(object)
  storages[address] = object
  return object
end

--- Tells Python of a view or block that Lua made, and returns its Python object.
-- LuaJIT may run a finalizer between any two steps, also between the caller's look and this one,
-- and the finalizer may use the value: then Python knows it already.
function th.adopt(value)
  local view, id = find_struct(value)
  local anchor = th.anchors[value]
  if not anchor then return objects[value] end
  if type(anchor) == 'cdata' then anchor = adopt_block(anchor, th.dtypes[id]) end
  local n = view.nDimension
  local geometry = {}
  for d = 0, n - 1 do
    geometry[d + 1], geometry[n + d + 1] = tonumber(view.size[d]), tonumber(view.stride[d])
  end
  local offset = tonumber(view.storageOffset)
  local object = th.ask(host.adopt, anchor, offset, unpack(geometry, 1, 2 * n))
  if objects[value] then return objects[value] end
  objects[value] = object
  structs[id][value], th.anchors[value] = nil, nil
  return object
end

--- Lets all views of a block keep its storage, whose elements are about to leave the block.
-- Until then only the block mattered to them.
function th.leave_block(block)
  local own = block.own
  own.flag = bit.bor(own.flag, th.MOVED)
  if bit.band(own.flag, th.SHARED) == 0 then return end
  local storage = th.storage_object(own)
  for value, anchor in next, th.anchors do
    if rawequal(anchor, block) then th.anchors[value] = storage end
  end
end

--- The struct that Python keeps: it stays valid while the value lives and follows every
-- change, also one that a function called in the middle of a loop makes.
-- known: the table to look in, where only objects of its class are wanted.
function th.settled_struct(value, known)
  if th.anchors[value] then th.adopt(value) end
  local id = th.class_of(value)
  local struct = id and structs[id] and structs[id][value]
  if not struct then struct, id = fetch_struct(value) end
  if not known or known == structs[id] then return struct end
end
