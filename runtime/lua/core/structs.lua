--- The C structs of tensors and storages, from which Lua reads their geometry.
-- The first members are the reference's. Python owns the structs and updates them at every change
-- of geometry. Lua makes two kinds itself: views, and blocks. A block is a small new tensor, whose
-- struct, storage and elements are one object. Python knows neither until an operation in Python
-- needs the tensor; `adopt` then makes a Python object for it.
-- @module structs

local th = ...
local ffi, bit = require 'ffi', require 'bit'
local host, objects = th.host, th.objects
local weak = { __mode = 'k' }

-- Element types in the order of Python's DTYPES.
th.dtypes = {}
for name, ctype in host.ELEMENT_TYPES:gmatch('(%w+) ([^\n]+)') do
  table.insert(th.dtypes, { name = name, ctype = ctype })
end

-- The flags of a storage, by their names in runtime/core/c_structs.py; the dimensions that views
-- and blocks have room for.
th.flags, th.ROOM = {}, host.ROOM
for name, value in host.FLAGS:gmatch('(%w+) (%d+)') do th.flags[name] = tonumber(value) end

-- Python's structs, and the two that Lua makes: they begin as a tensor's.
local STRUCTS = [[
typedef struct THREALStorage { STORAGE } THREALStorage;
typedef struct THREALTensor { TENSOR } THREALTensor;
typedef struct THREALView { TENSOR long geometry[GEOMETRY]; } THREALView;
typedef struct THREALBlock {
  TENSOR long geometry[GEOMETRY];
  THREALStorage own;
  CTYPE data[?];
} THREALBlock;
]]
STRUCTS = STRUCTS:gsub('STORAGE', host.STORAGE_MEMBERS):gsub('TENSOR', host.TENSOR_MEMBERS)
  :gsub('GEOMETRY', tostring(2 * th.ROOM))

--- Raises an error if LuaJIT's members of a struct are not where Python has them.
-- @param ctype the type's name
-- @param name the struct's name in runtime/core/c_structs.py
function th.compare_struct(ctype, name)
  for of, member, offset in host.OFFSETS:gmatch('(%w+) ([%w_]*) (%d+)') do
    local here = of == name and (member == '' and ffi.sizeof(ctype) or ffi.offsetof(ctype, member))
    if of == name and here ~= tonumber(offset) then
      error(('%s.%s is at %s in Lua, at %s in Python'):format(ctype, member, here, offset))
    end
  end
end

th.LONG, th.DOUBLE = 4, 6 -- indices of Long and Double

-- Each class has a table of its own. So code for the elements of one type cannot find the struct
-- of an object of another type, whatever it is called with.
local structs = {}       -- class id -> userdata -> struct
local pointer_types = {} -- class id -> the struct's pointer type
th.structs = structs
for i, dtype in ipairs(th.dtypes) do
  ffi.cdef((STRUCTS:gsub('REAL', dtype.name):gsub('CTYPE', dtype.ctype)))
  th.compare_struct('TH' .. dtype.name .. 'Storage', 'Storage')
  th.compare_struct('TH' .. dtype.name .. 'Tensor', 'Tensor')
  dtype.index = i - 1
  dtype.tensor_id, dtype.storage_id = host.FIRST_TENSOR + i - 1, host.FIRST_STORAGE + i - 1
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

local owners = setmetatable({}, { __mode = 'v' }) -- address of a struct of Python's -> userdata
local intptr = ffi.typeof('intptr_t')

local function address_of(memory)
  return tonumber(ffi.cast(intptr, ffi.cast('void *', memory)))
end

--- The userdata whose struct, owned by Python, is at an address, given as a number or a pointer.
-- Returns nil where there is none.
function th.owner_of(pointer)
  local address = type(pointer) == 'number' and pointer or address_of(pointer)
  local owner = owners[address]
  if owner == nil then return nil end
  local id = th.class_of(owner)
  local struct = id and structs[id] and structs[id][owner]
  -- The struct of an object that was freed may have left its place to another one's.
  if struct and address_of(struct) == address then return owner end
end

--- Asks Python for the struct of a userdata that has none in `structs` yet, and keeps it there.
-- Returns the struct and the class id; nil for an object without a struct.
local function fetch_struct(value)
  local object = objects[value]
  if not object then return nil end
  local address, id = th.ask(host.mirror, object)
  if not address then return nil end
  local struct = ffi.cast(pointer_types[id], address)
  structs[id][value], owners[address] = struct, value
  return struct, id
end
th.fetch_struct = fetch_struct

-- Two functions by which a class finds a struct that is not in its table yet. For an object of
-- another class, the first one returns nil and the second one raises an error.
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

-- The struct of a userdata and its class id, if `structs` has it.
local function find_struct(value)
  local id = th.class_of(value)
  local struct = id and structs[id] and structs[id][value]
  if struct then return struct, id end
  for other, known in pairs(structs) do -- a program may have changed the metatable
    if known[value] then return known[value], other end
  end
end

-- The Python objects of storages by the address of their struct, as long as Lua refers to them.
local storages = setmetatable({}, { __mode = 'v' })

--- The Python object of the storage that a struct belongs to; it keeps the memory alive.
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

local KNOWN = th.flags.KNOWN

-- Makes the Python object of a block's storage, which keeps the block and updates the storage's
-- struct from then on.
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

-- Makes the Python object of a userdata that th.late has made.
local function adopt_late(value, make)
  local object = make()
  if objects[value] then return objects[value] end
  objects[value], th.anchors[value] = object, nil
  return object
end

--- A new userdata for a Python object that is made when an operation in Python needs it.
-- @param mt its metatable
-- @param make returns the Python object
-- @param value the userdata, if it is there already
function th.late(mt, make, value)
  value = value or th.newproxy(th.proxy(mt))
  th.anchors[value] = make
  return value
end

--- Makes the Python object of a view or block that Lua has made, and returns it.
-- A finalizer may run between any two steps here, and since the caller has found that there is no
-- Python object. If it uses the value, that has a Python object already.
function th.adopt(value)
  local view, id = find_struct(value)
  local anchor = th.anchors[value]
  if not anchor then return objects[value] end
  if type(anchor) == 'function' then return adopt_late(value, anchor) end
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

--- Called before the elements of a block's storage are moved out of the block. Its views, which
-- have kept the block alive, must keep the storage alive from then on.
function th.leave_block(block)
  local own = block.own
  own.flag = bit.bor(own.flag, th.flags.MOVED)
  if bit.band(own.flag, th.flags.SHARED) == 0 then return end
  local storage = th.storage_object(own)
  for value, anchor in next, th.anchors do
    if rawequal(anchor, block) then th.anchors[value] = storage end
  end
end

--- The struct of a tensor or storage that Python owns; a view or block of Lua's is adopted first.
-- It stays valid as long as the value lives, and shows every change of geometry, also one that is
-- made by a function called in the middle of a loop.
-- @param known the table of a class, if nil is to be returned for objects of other classes
function th.settled_struct(value, known)
  if th.anchors[value] then th.adopt(value) end
  local id = th.class_of(value)
  local struct = id and structs[id] and structs[id][value]
  if not struct then struct, id = fetch_struct(value) end
  if not known or known == structs[id] then return struct end
end
