--- Blocks and stores: small new tensors and storages, which Lua makes without Python.
-- @module blocks

local ffi, bit, host, bridge = import('ffi', 'bit', 'host', 'core.bridge')
local c_structs, class_ids, collector = import('core.c_structs', 'core.class_ids', 'core.collector')
local keep_alive, references = import('core.keep_alive', 'core.references')
local raw_memory = import 'parallel.memory'

local type, tonumber = type, tonumber
local anchor_of, objects = keep_alive.anchor_of, references.objects
local attach = bridge.attach
local with_elements = raw_memory.with_elements
local ROOM, SHARED = c_structs.ROOM, c_structs.flags.SHARED
local OWNED = c_structs.flags.REFCOUNTED + c_structs.flags.RESIZABLE + c_structs.flags.FREEMEM
local FIRST_STORAGE = host.FIRST_STORAGE

-- The elements of a block or store. LuaJIT asks the system for what takes more than 128 kB.
local blocks = { MAX = 16000 }
--- The flags of a storage that something else may have, too.
blocks.NOT_SOLE = bit.bor(SHARED, c_structs.flags.MOVED, c_structs.flags.KNOWN)
local NOT_SOLE = blocks.NOT_SOLE

local pattern -- the byte that memory is filled with which the reference leaves undetermined

--- Sets that byte; nil leaves the memory as it is, which is 0.
function blocks.set_fill_pattern(byte)
  pattern = byte
end

-- Sets n elements to what memory is that nobody has written to.
local function leave_undetermined(dtype, data, n)
  if pattern then ffi.fill(data, n * ffi.sizeof(dtype.ctype), pattern) end
end
blocks.leave_undetermined = leave_undetermined

local moves = ffi.cast('int32_t *', host.MOVES) -- c_structs.py

--- A number that is another one each time that a storage has been resized. Code that has made
-- pointers to elements, and then allocates no more, compares it with what it was before: a
-- finalizer may have resized a storage in between.
function blocks.moves()
  return moves[0]
end

-- -------------------------------------------------------------------- tensors

-- A block and its elements. Where there is no memory, garbage goes first, which LuaJIT does not
-- see to: tensors, then the Python objects that these have kept, and what is kept of their memory.
local function allocate(dtype, count, ...) -- luacheck: ignore 212
  local ok, block, data = pcall(with_elements, dtype.block, count)
  if ok then return block, data end
  collector.collect()
  collector.collect()
  if host.uses_numpy then host.trim() end
  block, data = with_elements(dtype.block, count)
  return block, data
end

--- A block of n dimensions for count elements, which are 0; sizes and strides are to be filled in.
function blocks.new(dtype, count, n)
  local block, data = allocate(dtype, count)
  local storage = block.own
  storage.data, storage.size, storage.refcount, storage.flag = data, count, 1, OWNED
  block.size, block.stride = block.geometry, block.geometry + ROOM
  block.nDimension, block.refcount, block.flag = n, 1, 1
  block.storage = storage
  return block
end
local new_block = blocks.new

-- The functions below have no loop for the first five dimensions: a loop within the program's loop
-- would be a trace of its own.

--- Sets the strides of n dimensions, whose sizes are filled in, to those of a contiguous tensor.
function blocks.set_strides(view, n)
  if n == 0 then return end
  local size, stride = view.size, view.stride
  stride[n - 1] = 1
  if n == 1 then return end
  local step = tonumber(size[n - 1])
  stride[n - 2] = step
  if n >= 3 then
    step = step * tonumber(size[n - 2])
    stride[n - 3] = step
  end
  if n >= 4 then
    step = step * tonumber(size[n - 3])
    stride[n - 4] = step
  end
  if n >= 5 then
    step = step * tonumber(size[n - 4])
    stride[n - 5] = step
    for d = n - 6, 0, -1 do
      step = step * tonumber(size[d + 1])
      stride[d] = step
    end
  end
end
local set_strides = blocks.set_strides

--- A block with the sizes of a struct that has count elements.
function blocks.like(dtype, c, count)
  local n = c.nDimension
  local block = new_block(dtype, count, n)
  local size, from = block.size, c.size
  size[0] = from[0]
  if n >= 2 then size[1] = from[1] end
  if n >= 3 then ffi.copy(size, from, 8 * n) end
  set_strides(block, n)
  return block
end

--- Tells whether a tensor with struct c, kept by an anchor, is a block with a storage of its own.
function blocks.is_sole(c, anchor)
  return type(anchor) == 'cdata' and c.storage == anchor.own and c.storageOffset == 0
    and bit.band(c.storage.flag, NOT_SOLE) == 0
end

--- Copies a storage's elements to a larger block, which takes the place of the storage.
function blocks.grow(dtype, block, storage)
  ffi.copy(block.own.data, storage.data, tonumber(storage.size) * ffi.sizeof(dtype.ctype))
  moves[0] = moves[0] + 1
end

--- Makes the userdata of a block.
function blocks.publish(dtype, block, ...) -- luacheck: ignore 212
  local value = dtype.make()
  attach(dtype.structs, value, block, block)
  return value
end

--- The product of the first n of four numbers; nil unless these are positive whole numbers.
function blocks.product(n, a, b, c, d)
  if n < 2 then b = 1 end
  if n < 3 then c = 1 end
  if n < 4 then d = 1 end
  if a >= 1 and b >= 1 and c >= 1 and d >= 1
    and a % 1 == 0 and b % 1 == 0 and c % 1 == 0 and d % 1 == 0 then
    return a * b * c * d
  end
end

--- Sets the sizes of a struct, of which the first n are given, and the strides of contiguous
-- elements.
function blocks.set_sizes(view, n, a, b, c, d)
  local size = view.size
  size[0] = a
  if n >= 2 then size[1] = b end
  if n >= 3 then size[2] = c end
  if n >= 4 then size[3] = d end
  set_strides(view, n)
end

--- A block of the sizes a to d, of which the first n are given; nil where one is not a positive
-- whole number, or there are too many elements.
function blocks.sized(dtype, n, a, b, c, d)
  local count = blocks.product(n, a, b, c, d)
  if not count or count > blocks.MAX then return nil end
  local block = new_block(dtype, count, n)
  blocks.set_sizes(block, n, a, b, c, d)
  return block, count
end

-- ------------------------------------------------------------------- storages

--- A store for count elements, which are 0.
function blocks.new_store(dtype, count)
  local store, data = with_elements(dtype.store, count)
  local storage = store.own
  storage.data, storage.size, storage.refcount, storage.flag = data, count, 1, OWNED
  return store
end

--- Makes the userdata of a store.
function blocks.publish_store(dtype, store, ...) -- luacheck: ignore 212
  local value = dtype.make_storage()
  attach(dtype.storage_structs, value, ffi.cast(dtype.storage_pointer, store.own), store)
  return value
end

--- Returns what keeps the memory of a tensor with struct c, for another value to keep it, too.
function blocks.share(value, c)
  local anchor = anchor_of(value)
  if anchor == nil then
    return c.storage ~= nil and c_structs.storage_object(c.storage) or c_structs.NO_STORAGE
  elseif type(anchor) == 'cdata' then
    c.storage.flag = bit.bor(c.storage.flag, SHARED)
  end
  return anchor
end

--- Returns what keeps the memory of a storage with struct s, for another value to keep it, too.
function blocks.share_storage(value, s)
  local anchor = anchor_of(value)
  if anchor == nil then return objects[value] end
  s.flag = bit.bor(s.flag, SHARED)
  return anchor
end

--- Makes a userdata of the storage that a tensor has, from its struct and what keeps it (`share`).
function blocks.publish_storage(dtype, struct, anchor, ...) -- luacheck: ignore 212
  local value = dtype.make_storage()
  if type(anchor) == 'cdata' then
    attach(dtype.storage_structs, value, struct, anchor)
  else
    attach(dtype.storage_structs, value, struct, nil)
    objects[value] = anchor
  end
  return value
end

--- The struct of a LongStorage; nil for other values.
local long = c_structs.dtypes[c_structs.LONG + 1]
function blocks.long_storage(value)
  if class_ids.class_of(value) ~= FIRST_STORAGE + c_structs.LONG then return nil end
  return long.storage_structs[value] or long.fetch_storage(value)
end

--- A store for n numbers of a LongStorage.
function blocks.long_store(n)
  return blocks.new_store(long, n)
end

function blocks.publish_long_store(store, ...) -- luacheck: ignore 212
  return (blocks.publish_store(long, store))
end

--- Returns the size of a LongStorage, given its struct, and its numbers; nil for more than four.
function blocks.numbers(s)
  local n = tonumber(s.size)
  local data = s.data
  if n == 1 then return 1, tonumber(data[0]) end
  if n == 2 then return 2, tonumber(data[0]), tonumber(data[1]) end
  if n == 3 then return 3, tonumber(data[0]), tonumber(data[1]), tonumber(data[2]) end
  if n == 4 then
    return 4, tonumber(data[0]), tonumber(data[1]), tonumber(data[2]), tonumber(data[3])
  end
end

return blocks
