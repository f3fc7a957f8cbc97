--- The C structs of tensors and storages, from which Lua reads their geometry.
-- The first members are the reference's. Python owns the structs and updates them at every change
-- of geometry. Lua makes three kinds itself: views, blocks and stores. A block is a small new
-- tensor, whose struct, storage and elements are one object; a store is a small new storage, with
-- its elements. Python knows none of them until an operation in Python needs the object; `adopt`
-- then makes a Python object for it. Until then Lua alone gives a view or block another geometry,
-- by another struct, or in place where the program has a pointer to it (`replace_struct`).
-- @module c_structs

local ffi, bit, host, class_ids = import('ffi', 'bit', 'host', 'core.class_ids')
local classes, errors, finalizers = import('core.classes', 'core.errors', 'core.finalizers')
local keep_alive, python_calls = import('core.keep_alive', 'core.python_calls')
local references = import 'core.references'

local c_structs = {}
local objects = references.objects
local weak = { __mode = 'k' }
local anchor_of, set_anchor = keep_alive.anchor_of, keep_alive.set_anchor
local set_struct, ask = keep_alive.set_struct, python_calls.ask

-- Element types in the order of Python's DTYPES.
c_structs.dtypes = {}
for name, ctype in host.ELEMENT_TYPES:gmatch('(%w+) ([^\n]+)') do
  table.insert(c_structs.dtypes, { name = name, ctype = ctype })
end

-- The flags of a storage, by their names in runtime/core/c_structs.py; the dimensions that views
-- and blocks have room for.
c_structs.flags, c_structs.ROOM = {}, host.ROOM
c_structs.NO_STORAGE = true -- as an anchor: the tensor has no storage
for name, value in host.FLAGS:gmatch('(%w+) (%d+)') do c_structs.flags[name] = tonumber(value) end

-- Python's structs, and those that Lua makes: views and blocks begin as a tensor's, stores as a
-- storage's.
local STRUCTS = [[
typedef struct THREALStorage { STORAGE } THREALStorage;
typedef struct THREALTensor { TENSOR } THREALTensor;
typedef struct THREALView { TENSOR long geometry[GEOMETRY]; } THREALView;
typedef struct THREALBlock {
  TENSOR long geometry[GEOMETRY];
  THREALStorage own;
  CTYPE data[?];
} THREALBlock;
typedef struct THREALStore {
  THREALStorage own;
  CTYPE data[?];
} THREALStore;
]]
STRUCTS = STRUCTS:gsub('STORAGE', host.STORAGE_MEMBERS):gsub('TENSOR', host.TENSOR_MEMBERS)
  :gsub('GEOMETRY', tostring(2 * c_structs.ROOM))

--- Raises an error if LuaJIT's members of a struct are not where Python has them.
-- @param ctype the type's name
-- @param name the struct's name in runtime/core/c_structs.py
function c_structs.compare_struct(ctype, name)
  for of, member, offset in host.OFFSETS:gmatch('(%w+) ([%w_]*) (%d+)') do
    local here = of == name and (member == '' and ffi.sizeof(ctype) or ffi.offsetof(ctype, member))
    if of == name and here ~= tonumber(offset) then
      error(('%s.%s is at %s in Lua, at %s in Python'):format(ctype, member, here, offset))
    end
  end
end

-- Indices of these types.
c_structs.INT, c_structs.LONG, c_structs.FLOAT, c_structs.DOUBLE = 3, 4, 5, 6

-- Each class has a table of its own. So code for the elements of one type cannot find the struct
-- of an object of another type, whatever it is called with.
local structs = {}       -- class id -> userdata -> struct
local pointer_types = {} -- class id -> the struct's pointer type
c_structs.by_class = structs
for i, dtype in ipairs(c_structs.dtypes) do
  ffi.cdef((STRUCTS:gsub('REAL', dtype.name):gsub('CTYPE', dtype.ctype)))
  c_structs.compare_struct('TH' .. dtype.name .. 'Storage', 'Storage')
  c_structs.compare_struct('TH' .. dtype.name .. 'Tensor', 'Tensor')
  dtype.index = i - 1
  dtype.tensor_id, dtype.storage_id = host.FIRST_TENSOR + i - 1, host.FIRST_STORAGE + i - 1
  dtype.tensor_name = 'torch.' .. dtype.name .. 'Tensor'
  dtype.storage_name = 'torch.' .. dtype.name .. 'Storage'
  dtype.pointer = ffi.typeof(dtype.ctype .. ' *')
  dtype.view = ffi.typeof('TH' .. dtype.name .. 'View')
  dtype.block = ffi.typeof('TH' .. dtype.name .. 'Block')
  dtype.store = ffi.typeof('TH' .. dtype.name .. 'Store')
  dtype.tensor_pointer = ffi.typeof('TH' .. dtype.name .. 'Tensor *')
  dtype.storage_pointer = ffi.typeof('TH' .. dtype.name .. 'Storage *')
  pointer_types[dtype.tensor_id] = dtype.tensor_pointer
  pointer_types[dtype.storage_id] = dtype.storage_pointer
  dtype.structs = setmetatable({}, keep_alive.weak_both)
  dtype.storage_structs = setmetatable({}, keep_alive.weak_both)
  structs[dtype.tensor_id], structs[dtype.storage_id] = dtype.structs, dtype.storage_structs
end

-- Address of a struct to which the program may have a pointer -> userdata.
local owners = setmetatable({}, { __mode = 'v' })
-- Userdata -> how often this struct, if it is one of Lua's, has been changed in place.
local exposed = setmetatable({}, weak)
local intptr = ffi.typeof('intptr_t')

local function address_of(memory)
  return tonumber(ffi.cast(intptr, ffi.cast('void *', memory)))
end

--- The userdata whose struct, owned by Python, is at an address, given as a number or a pointer.
-- Returns nil where there is none.
function c_structs.owner_of(pointer)
  local address = type(pointer) == 'number' and pointer or address_of(pointer)
  local owner = owners[address]
  if owner == nil then return nil end
  local id = class_ids.class_of(owner)
  local struct = id and structs[id] and structs[id][owner]
  -- The struct of an object that was freed may have left its place to another one's.
  if struct and address_of(struct) == address then return owner end
end

--- Asks Python for the struct of a userdata that has none in `structs` yet, and keeps it there.
-- Returns the struct and the class id; nil for an object without a struct.
local function fetch_struct(value)
  local object = objects[value]
  if not object then return nil end
  local address, id = ask(host.mirror, object)
  if not address then return nil end
  local struct = ffi.cast(pointer_types[id], address)
  set_struct(structs[id], value, struct)
  owners[address] = value
  return struct, id
end
c_structs.fetch_struct = fetch_struct

-- Two functions by which a class finds a struct that is not in its table yet. For an object of
-- another class, the first one returns nil and the second one raises an error.
local function searchers(class, name)
  local function fetch(value)
    local struct, id = fetch_struct(value)
    if id == class then return struct end
  end
  local function need(value)
    return fetch(value) or errors.class_error(1, name, value)
  end
  return fetch, need
end

for _, dtype in ipairs(c_structs.dtypes) do
  dtype.fetch_struct, dtype.need_struct = searchers(dtype.tensor_id, dtype.tensor_name)
  dtype.fetch_storage, dtype.need_storage = searchers(dtype.storage_id, dtype.storage_name)
end

-- The struct of a userdata and its class id, if `structs` has it.
local function find_struct(value)
  local id = class_ids.class_of(value)
  local struct = id and structs[id] and structs[id][value]
  if struct then return struct, id end
  for other, known in pairs(structs) do -- a program may have changed the metatable
    if known[value] then return known[value], other end
  end
end

-- The Python objects of storages by the address of their struct, as long as Lua refers to them.
local storages = setmetatable({}, { __mode = 'v' })

--- The Python object of the storage that a struct belongs to; it keeps the memory alive.
function c_structs.storage_object(struct)
  local address = address_of(struct)
  local object = storages[address]
  if not object then
    object = ask(host.storage_at, address)
    references.track(object)
    storages[address] = object
  end
  return object
end

local KNOWN = c_structs.flags.KNOWN

-- Tells whether a block's storage has a Python object.
local function is_known(own)
  return bit.band(own.flag, KNOWN) ~= 0
end

-- Makes the Python object of the storage of a block or store, which keeps that and updates the
-- storage's struct from then on.
local function adopt_block(block, dtype)
  local struct = block.own
  if is_known(struct) then return c_structs.storage_object(struct) end
  local address, data = address_of(struct), address_of(struct.data)
  local object = ask(python_calls.call_apart, host.adopt_storage, dtype.index, address, data,
    tonumber(struct.size), block)
  references.track(object)
  storages[address] = object
  return object
end

-- Makes the Python object of a userdata that c_structs.late has made.
local function adopt_late(value, make)
  local object = make()
  if objects[value] then return objects[value] end
  objects[value] = object
  set_anchor(value, nil)
  return object
end

--- A new userdata for a Python object that is made when an operation in Python needs it.
-- @param mt its metatable
-- @param make returns the Python object
-- @param value the userdata, if it is there already
function c_structs.late(mt, make, value)
  value = value or finalizers.newproxy(classes.proxy(mt))
  set_anchor(value, make)
  return value
end

-- Makes the Python object of a storage that Lua has made. Its struct stays where it is.
local function adopt_storage(value, block, dtype)
  local object = adopt_block(block, dtype)
  objects[value] = object
  set_anchor(value, nil)
  return object
end

-- The sizes, then the strides, of a struct.
local function geometry_of(view)
  local n, size, stride = view.nDimension, view.size, view.stride
  if n == 1 then return tonumber(size[0]), tonumber(stride[0]) end
  if n == 2 then
    return tonumber(size[0]), tonumber(size[1]), tonumber(stride[0]), tonumber(stride[1])
  end
  local geometry = {}
  for d = 0, n - 1 do
    geometry[d + 1], geometry[n + d + 1] = tonumber(size[d]), tonumber(stride[d])
  end
  return unpack(geometry, 1, 2 * n)
end

-- The Python object of a tensor with a struct of Lua's, and the address of its own struct; anchor:
-- that of the tensor.
local function new_object(view, anchor, dtype)
  if anchor == c_structs.NO_STORAGE then return ask(host.adopt_empty, dtype.index) end
  local offset = tonumber(view.storageOffset)
  if type(anchor) == 'cdata' then
    local struct = anchor.own
    if not is_known(struct) then
      return ask(python_calls.call_apart, host.adopt_block, dtype.index, address_of(struct),
        address_of(struct.data), tonumber(struct.size), anchor, offset, geometry_of(view))
    end
    anchor = c_structs.storage_object(struct)
  end
  return ask(host.adopt, anchor, offset, geometry_of(view))
end

--- Makes the Python object of a view, block or store that Lua has made, and returns it.
-- A finalizer may run between any two steps here, and since the caller has found that there is no
-- Python object. If it uses the value, that has a Python object already; if it changes the value's
-- geometry, the Python object that was made is not used.
function c_structs.adopt(value)
  while true do
    local view, id = find_struct(value)
    local anchor, changes = anchor_of(value), exposed[value]
    if not anchor then return objects[value] end
    if type(anchor) == 'function' then return adopt_late(value, anchor) end
    if id >= host.FIRST_STORAGE then
      return adopt_storage(value, anchor, c_structs.dtypes[id - host.FIRST_STORAGE + 1])
    end
    local object, address = new_object(view, anchor, c_structs.dtypes[id])
    if objects[value] then return objects[value] end
    if rawequal(structs[id][value], view) and exposed[value] == changes then
      if changes then
        address = address_of(view)
        ask(python_calls.call_apart, host.mirror_in, object, address, view)
        if objects[value] then return objects[value] end
      end
      local struct = ffi.cast(pointer_types[id], address)
      objects[value], owners[address] = object, value
      set_struct(structs[id], value, struct)
      set_anchor(value, nil)
      return object
    end
  end
end

-- Lets a tensor's or storage's userdata, whose memory was kept by a block, be kept by a storage.
local function keep_storage(value, storage)
  local _, id = find_struct(value)
  if id and id >= host.FIRST_STORAGE then
    objects[value] = storage
    set_anchor(value, nil)
  else
    set_anchor(value, storage)
  end
end
c_structs.keep_storage = keep_storage

-- The offset and the size of the part of a struct of Lua's that is behind its pointers to sizes and
-- strides, which stay the same.
local FIRST = ffi.offsetof('THDoubleView', 'nDimension')
local BYTES = ffi.sizeof('THDoubleView') - FIRST

-- Changes a struct in place: the program has a pointer to it, which shows the change.
local function change_struct(known, value, old, struct, anchor)
  local to, from = address_of(old) + FIRST, address_of(struct) + FIRST
  if not anchor_of(value) or not rawequal(known[value], old) then return false end
  ffi.C.th_copy(to, from, BYTES)
  set_anchor(value, anchor)
  exposed[value] = exposed[value] + 1
  return true
end

--- Gives a tensor that Lua alone knows another geometry: another struct, and what keeps its memory.
-- Nothing is allocated in between, so both change at once. Returns false, and changes nothing,
-- where the tensor has another struct than `old` by now: a finalizer has changed it, or passed it
-- to Python.
-- @param known the table of its class
function c_structs.replace_struct(known, value, old, struct, anchor)
  if exposed[value] then
    local done = change_struct(known, value, old, struct, anchor)
    return done
  end
  if not anchor_of(value) or not rawequal(known[value], old) then return false end
  set_struct(known, value, struct)
  set_anchor(value, anchor)
  return true
end

--- Called before the elements of a block's storage are moved out of the block. Its views, which
-- have kept the block alive, must keep the storage alive from then on.
function c_structs.leave_block(block)
  local struct = block.own
  struct.flag = bit.bor(struct.flag, c_structs.flags.MOVED)
  if bit.band(struct.flag, c_structs.flags.SHARED) == 0 then return end
  local storage = c_structs.storage_object(struct)
  for value in next, keep_alive.holders do
    if rawequal(anchor_of(value), block) then keep_storage(value, storage) end
  end
end

--- A pointer to the struct of a tensor or storage. It stays valid as long as the value lives, and
-- shows every change of geometry: a struct of Lua's becomes Python's when Python gets the tensor.
-- @param known the table of a class, if nil is to be returned for objects of other classes
function c_structs.struct_pointer(value, known)
  local id = class_ids.class_of(value)
  local struct = id and structs[id] and structs[id][value]
  if not struct or id >= host.FIRST_STORAGE or type(anchor_of(value)) == 'function'
    or not anchor_of(value) then
    return c_structs.settled_struct(value, known)
  end
  if known and known ~= structs[id] then return nil end
  if not exposed[value] then
    exposed[value], owners[address_of(struct)] = 0, value
  end
  return ffi.cast(pointer_types[id], struct)
end

--- The struct of a tensor or storage that Python owns; a view or block of Lua's is adopted first.
-- (The struct of a storage that Lua has made stays the same.) It stays valid as long as the value
-- lives, and shows every change of geometry, also one that is made by a function called in the
-- middle of a loop.
-- @param known the table of a class, if nil is to be returned for objects of other classes
function c_structs.settled_struct(value, known)
  local id = class_ids.class_of(value)
  local is_storage = id and id >= host.FIRST_STORAGE
  if anchor_of(value) and not is_storage then c_structs.adopt(value) end
  local struct = id and structs[id] and structs[id][value]
  if is_storage and struct then
    owners[address_of(struct)] = value
    struct.flag = bit.bor(struct.flag, c_structs.flags.SHARED) -- so that it stays where it is
  end
  if not struct then struct, id = fetch_struct(value) end
  if not known or known == structs[id] then return struct end
end

return c_structs
