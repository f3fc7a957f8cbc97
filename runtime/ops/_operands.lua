--- Tools of the functions for few elements: geometry as plain numbers, addresses, new tensors.
--
-- Finalizers of the program wait while these functions run (tensor/small.lua). A function reads
-- sizes, strides and addresses as Lua's numbers, and checks with those numbers that all elements
-- lie in their storages: in the interpreter, every pointer and every whole number of 64
-- bits is an object. For the same reason elements are read by `loader`'s functions, indices as
-- numbers of 32 bits, and C functions get addresses as numbers.
-- @module operands

local ffi, c_structs, raw_memory = import('ffi', 'core.c_structs', 'parallel.memory')
local blocks, formulas = import('tensor.blocks', 'tensor.formulas')

local tonumber, type, select = tonumber, type, select
local cast = ffi.cast
local bor, band, SIGN = bit.bor, bit.band, bit.tobit(0x80000000)

local tools = {}

-- MAX: the most elements of a new tensor, and the most places in working memory; functions that
-- write places check this themselves. MAX_PLACE: the greatest distance of an element from its
-- tensor's first one, in elements.
local MAX, MAX_PLACE = blocks.MAX, 2 ^ 30

-- ------------------------------------------------------------------- operands

local intptr = ffi.typeof('intptr_t')

--- The address of memory that a cdata is, or points to.
function tools.address(memory)
  return tonumber(cast(intptr, memory))
end

--- An operand: what functions know of a tensor, as plain numbers. Those are the number of
-- dimensions n, from 1 to 3; three sizes s0, s1, s2 and strides t0, t1, t2, of which those of fewer
-- dimensions are the last ones, behind sizes of 1; the address `at` of the first element, and that
-- of the storage's struct. Compiled code needs no memory for the operands of a call, unless it
-- comes to a loop, or compares one with another table. So functions with loops have operands of
-- their own, which calls fill in.
function tools.operand()
  return { n = 0, at = 0, storage = 0, is_view = false,
    s0 = 1, s1 = 1, s2 = 1, t0 = 0, t1 = 0, t2 = 0 }
end

-- The number of dimensions of a tensor (0 if there are none, or more than 3), its sizes and
-- strides.
local function geometry(c)
  local n = c.nDimension
  if n == 1 then return 1, 1, 1, tonumber(c.size[0]), 0, 0, tonumber(c.stride[0]) end
  if n == 2 then
    return 2, 1, tonumber(c.size[0]), tonumber(c.size[1]),
      0, tonumber(c.stride[0]), tonumber(c.stride[1])
  end
  if n == 3 then
    return 3, tonumber(c.size[0]), tonumber(c.size[1]), tonumber(c.size[2]),
      tonumber(c.stride[0]), tonumber(c.stride[1]), tonumber(c.stride[2])
  end
  return 0, 0, 0, 0, 0, 0, 0
end

local VIEW = c_structs.flags.VIEW -- of a storage that has another one's memory

-- Sets where the elements of an operand are, which has its sizes and strides; false unless all lie
-- in the storage of the tensor with the struct c.
local function set_place(o, c, width)
  if o.s0 < 1 or o.s1 < 1 or o.s2 < 1 or o.t0 < 0 or o.t1 < 0 or o.t2 < 0 then return false end
  local storage, offset = c.storage, tonumber(c.storageOffset)
  local last = (o.s0 - 1) * o.t0 + (o.s1 - 1) * o.t1 + (o.s2 - 1) * o.t2
  if offset < 0 or offset + last >= tonumber(storage.size) or last > MAX_PLACE then return false end
  o.at = tonumber(cast(intptr, storage.data)) + width * offset
  o.storage, o.is_view = tonumber(cast(intptr, storage)), band(storage.flag, VIEW) ~= 0
  return true
end

--- Makes a function that returns the struct of a tensor of the type; nil for other values.
function tools.struct_reader(dtype)
  local structs, fetch_struct = dtype.structs, dtype.fetch_struct
  return function(value)
    return type(value) == 'userdata' and (structs[value] or fetch_struct(value)) or nil
  end
end

--- Makes a function that sets an operand to a tensor of the type; it returns false for what is
-- none, has no or more than 3 dimensions, or does not lie in its storage.
function tools.reader(dtype)
  local structs, fetch_struct, width = dtype.structs, dtype.fetch_struct, ffi.sizeof(dtype.ctype)
  return function(o, value)
    local c = type(value) == 'userdata' and (structs[value] or fetch_struct(value))
    if not c then return false end
    o.n, o.s0, o.s1, o.s2, o.t0, o.t1, o.t2 = geometry(c)
    return (set_place(o, c, width))
  end
end

--- Makes a function that sets an operand to the row of all elements of a contiguous tensor,
-- whatever its sizes are; it returns false for other tensors.
function tools.row_reader(dtype)
  local struct_of, width = tools.struct_reader(dtype), ffi.sizeof(dtype.ctype)
  local dense = formulas.dense
  return function(o, value)
    local c = struct_of(value)
    if not c then return false end
    o.n, o.s0, o.s1, o.s2, o.t0, o.t1, o.t2 = 1, 1, 1, dense(c), 0, 0, 1
    return (set_place(o, c, width))
  end
end

--- Sets an operand to contiguous elements from an address on, of no storage.
function tools.set_dense(o, at, n, s0, s1, s2)
  o.n, o.at, o.storage, o.is_view = n, at, 0, false
  o.s0, o.s1, o.s2, o.t0, o.t1, o.t2 = s0, s1, s2, s1 * s2, s2, 1
end

-- ---------------------------------------------------------- what operands are like

--- Returns the number of elements of an operand.
function tools.count(o) return o.s0 * o.s1 * o.s2 end

--- The size of an operand along dimension d, which counts from 0 to 2.
function tools.size(o, d) return d == 0 and o.s0 or d == 1 and o.s1 or o.s2 end

--- The stride of an operand along dimension d.
function tools.stride(o, d) return d == 0 and o.t0 or d == 1 and o.t1 or o.t2 end

--- Three numbers with x in the place of the one for dimension d.
function tools.with(d, x, x0, x1, x2)
  return d == 0 and x or x0, d == 1 and x or x1, d == 2 and x or x2
end

--- The dimension that a call gives for a tensor of n dimensions; nil if there is none.
function tools.dimension(dim, n)
  if type(dim) == 'number' and dim >= 1 and dim <= n and dim % 1 == 0 then return dim + 2 - n end
end

--- Tells whether an operand has these sizes.
function tools.is_sized(o, n, s0, s1, s2)
  return o.n == n and o.s0 == s0 and o.s1 == s1 and o.s2 == s2
end

--- Tells whether two operands have the same sizes, except along dimension d.
function tools.fit_beside(d, a, b)
  return a.n == b.n and (d == 0 or a.s0 == b.s0) and (d == 1 or a.s1 == b.s1)
    and (d == 2 or a.s2 == b.s2)
end

--- Tells whether elements with the sizes of one operand and the strides of another one follow each
-- other without gaps.
function tools.is_dense(sizes, strides)
  local s1, s2 = sizes.s1, sizes.s2
  return (s2 == 1 or strides.t2 == 1) and (s1 == 1 or strides.t1 == s2)
    and (sizes.s0 == 1 or strides.t0 == s1 * s2)
end
local is_dense = tools.is_dense

--- Tells whether all elements of an operand are at places of their own.
function tools.is_distinct(o)
  local s0, s1, s2, t0, t1, t2 = o.s0, o.s1, o.s2, o.t0, o.t1, o.t2
  if s0 == 1 then t0 = 1e15 end
  if s1 == 1 then t1 = 1e15 end
  if s2 == 1 then t2 = 1e15 end
  -- In the order of the strides, each must be greater than what those behind it span.
  if t0 < t1 then s0, s1, t0, t1 = s1, s0, t1, t0 end
  if t1 < t2 then s1, s2, t1, t2 = s2, s1, t2, t1 end
  if t0 < t1 then s1, t0, t1 = s0, t1, t0 end
  local span = s2 == 1 and 0 or (s2 - 1) * t2
  if t2 < 1 or t1 <= span then return false end
  span = span + (s1 == 1 and 0 or (s1 - 1) * t1)
  return t0 > span
end

--- Tells whether two operands, of any types, may have elements in common.
function tools.overlap(a, b)
  return a.storage == b.storage or a.is_view or b.is_view
end

-- -------------------------------------------------------------------- elements

local UNITS = { [1] = 'uint8_t *', [2] = 'int16_t *', [4] = 'int32_t *', [8] = 'int32_t *' }

--- Pointers by which elements of so many bytes are copied: to whole numbers of up to 32 bits.
function tools.bits(width)
  return ffi.typeof(UNITS[width])
end

local function move_one(to, i, from, j)
  to[i] = from[j]
end

local function move_two(to, i, from, j)
  i, j = 2 * i, 2 * j
  to[i], to[i + 1] = from[j], from[j + 1]
end

--- A function that copies element j of `from` to element i of `to`, with all bits of a nan.
function tools.mover(width)
  return width == 8 and move_two or move_one
end

--- A function that sets the elements at n places, to which r points as `bits` tells, to a number.
function tools.filler(dtype)
  local width, convert = ffi.sizeof(dtype.ctype), dtype.convert
  local number = tools.memory(dtype, 1)
  local number_bits = cast(tools.bits(width), number)
  return function(r, places, n, value)
    number[0] = convert(value)
    if width == 8 then
      local low, high = number_bits[0], number_bits[1]
      for m = 0, n - 1 do
        local i = 2 * places[m]
        r[i], r[i + 1] = low, high
      end
    else
      local bits = number_bits[0]
      for m = 0, n - 1 do r[places[m]] = bits end
    end
  end
end

local NAN, INFINITY = math.abs(0 / 0), math.huge

local function load_double(p, words, i)
  local high = words[2 * i + 1]
  if band(high, 0x7ff00000) ~= 0x7ff00000 then return p[i] end
  local value = words[2 * i] == 0 and band(high, 0xfffff) == 0 and INFINITY or NAN
  return high < 0 and -value or value
end

local function load_float(p, words, i)
  local all = words[i]
  if band(all, 0x7f800000) ~= 0x7f800000 then return p[i] end
  local value = band(all, 0x7fffff) == 0 and INFINITY or NAN
  return all < 0 and -value or value
end

local function load_whole(p, _, i)
  return p[i]
end

--- A function of two pointers to the same elements, one to their type and one as `bits` gives it,
-- and a position, that returns the element as `dtype.load` does (tensor/elements.lua), but does not
-- allocate. Not for Long and Half.
function tools.loader(dtype)
  if dtype.name == 'Double' then return load_double end
  return dtype.name == 'Float' and load_float or load_whole
end

local LETTERS = { Byte = 'B', Char = 'b', Short = 'h', Int = 'i', Long = 'l', Float = 'f',
  Double = 'd' }

--- Makes a function that returns an inner loop of numpy's and its data by a name and a signature,
-- in which x stands for the element type; nil where there is no such loop.
function tools.loop_finder(dtype)
  return function(name, signature)
    local loop, data = formulas.inner_loop(name, (signature:gsub('x', LETTERS[dtype.name])))
    return loop, data
  end
end

--- Copies bytes from one address to another.
function tools.copy(to, from, bytes) ffi.C.th_copy(to, from, bytes) end

--- Sets bytes from an address on.
function tools.fill(to, byte, bytes) ffi.C.th_fill(to, byte, bytes) end

local kept = {}

--- Working memory for so many elements of a type: the cdata, and its address, which stays valid.
function tools.memory(dtype, count)
  local memory = raw_memory.working_memory(dtype.ctype, count)
  kept[#kept + 1] = memory
  return memory, tools.address(memory)
end

-- ----------------------------------------------------------------- new tensors

--- A new contiguous tensor of n dimensions with the last n of three sizes: the block, the address
-- of its elements and three strides; nil if it is large. `publish` makes its userdata.
function tools.new(dtype, n, s0, s1, s2)
  local count = s0 * s1 * s2
  if count > MAX then return nil end
  local block = blocks.new(dtype, count, n)
  local size, stride = block.size, block.stride
  size[n - 1], stride[n - 1] = s2, 1
  if n >= 2 then size[n - 2], stride[n - 2] = s1, s2 end
  if n == 3 then size[0], stride[0] = s0, s1 * s2 end
  return block, tonumber(cast(intptr, block.own.data)), s1 * s2, s2, 1
end

tools.publish = blocks.publish

-- Gives a tensor the last n of three sizes; false where Python has to.
local function resize(dtype, r, n, a, b, c)
  if n == 1 then a = c elseif n == 2 then a, b = b, c end
  local done = dtype.resize_to(r, n, a, b, c)
  return done
end

--- Makes a function that sets an operand to a result with n dimensions and three sizes: r, where
-- each of its elements has a place of its own; or, if r is nil, a new tensor, whose block it
-- returns as well. It returns false where Python has to make or to resize the result.
function tools.result_setter(dtype, read)
  return function(o, r, n, s0, s1, s2)
    if r == nil then
      local block, at = tools.new(dtype, n, s0, s1, s2)
      if not block then return false end
      tools.set_dense(o, at, n, s0, s1, s2)
      return true, block
    end
    return read(o, r) and tools.is_sized(o, n, s0, s1, s2) and tools.is_distinct(o)
  end
end

--- Makes a function that returns the address of a contiguous result of n dimensions with the last n
-- of three sizes, and its block if r is nil, for a new tensor. It returns nil unless the result is
-- contiguous and has another storage than the operand `source`. The result is resized if need be:
-- all else must have been checked before.
function tools.dense_results(dtype)
  local struct_of, read, result = tools.struct_reader(dtype), tools.reader(dtype), tools.operand()
  return function(r, source, n, s0, s1, s2)
    if r == nil then
      local block, to = tools.new(dtype, n, s0, s1, s2)
      return to, block
    end
    local c = struct_of(r)
    if not c or c.storage ~= nil and tools.address(c.storage) == source.storage then return nil end
    local m, r0, r1, r2 = geometry(c)
    if (m ~= n or r0 ~= s0 or r1 ~= s1 or r2 ~= s2) and not resize(dtype, r, n, s0, s1, s2) then
      return nil
    end
    return read(result, r) and is_dense(result, result) and result.at or nil
  end
end

-- --------------------------------------------------------------------- places

local longs = c_structs.dtypes[c_structs.LONG + 1]
local long_storages, fetch_storage = longs.storage_structs, longs.fetch_storage
local words = ffi.typeof('int32_t *')
local given = ffi.new('double[3]')

-- Reads the sizes in a LongStorage; returns how many there are, or nil.
local function read_sizes(value)
  local c = type(value) == 'userdata' and (long_storages[value] or fetch_storage(value))
  local n = c and tonumber(c.size) or 0
  if n < 1 or n > 3 then return nil end
  local p = cast(words, c.data)
  for i = 0, n - 1 do
    if p[2 * i + 1] ~= 0 then return nil end
    given[i] = p[2 * i]
  end
  return n
end

--- Returns the number of sizes that a call gives, from 1 to 3, as numbers or as a LongStorage, and
-- three sizes, as `geometry` has them; nil if they are not all whole numbers above 0.
function tools.sizes(...)
  local n, a, b, c = select('#', ...), ...
  if n == 1 and type(a) ~= 'number' then
    n = read_sizes(a)
    a, b, c = given[0], given[1], given[2]
  end
  if n == 1 then
    a, b, c = 1, 1, a
  elseif n == 2 then
    a, b, c = 1, a, b
  elseif n ~= 3 then
    return nil
  end
  if type(a) ~= 'number' or type(b) ~= 'number' or type(c) ~= 'number' or not (a >= 1 and b >= 1)
    or not (c >= 1) or a % 1 ~= 0 or b % 1 ~= 0 or c % 1 ~= 0 then
    return nil
  end
  return n, a, b, c
end

tools.words = words

--- Working memory for the places of up to MAX elements of two tensors.
tools.places = raw_memory.working_memory('int32_t', MAX)
tools.others = raw_memory.working_memory('int32_t', MAX)

local following = raw_memory.working_memory('int32_t', MAX) -- the places of contiguous elements
for m = 0, MAX - 1 do following[m] = m end

-- Sets the places of elements with three sizes and strides. The loops run over elements alone:
-- nests of loops end too soon for LuaJIT, which compiles no loop that ends at its first turn. So
-- sizes of 1 at the end are moved to the front.
local function set_places(out, s0, s1, s2, t0, t1, t2)
  if s2 == 1 and s1 == 1 then
    s0, s2, t0, t2 = 1, s0, 0, t0
  elseif s2 == 1 then
    s0, s1, s2, t0, t1, t2 = 1, s0, s1, 0, t0, t1
  end
  for m = 0, s2 - 1 do out[m] = m * t2 end
  local count = s1 * s2
  for m = s2, count - 1 do out[m] = out[m - s2] + t1 end
  for m = count, s0 * count - 1 do out[m] = out[m - count] + t0 end
end

--- Writes the places of an operand's elements to memory as long as `tools.places`: the distances
-- from its first element, in elements. Returns false for more than MAX elements.
function tools.locate(out, o)
  local n = tools.count(o)
  if n > MAX then return false end
  if is_dense(o, o) then
    for m = 0, n - 1 do out[m] = m end
  else
    set_places(out, o.s0, o.s1, o.s2, o.t0, o.t1, o.t2)
  end
  return true
end

--- Returns memory with the places of an operand's elements: shared memory if they are contiguous,
-- otherwise the given one, which they are written to; nil for more than MAX elements.
function tools.located(memory, o)
  if is_dense(o, o) then return tools.count(o) <= MAX and following or nil end
  return tools.locate(memory, o) and memory or nil
end

-- The loops below check all indices and then say whether all are numbers of 1 to limit: a bit is
-- set in `bad` for any other. indices: pointer to numbers of 32 bits, two for each index.

-- Sets n places to `factor` for each position before that of a contiguous index.
local function set_positions(out, n, indices, factor, limit)
  local bad = 0
  for m = 0, n - 1 do
    local index = indices[2 * m]
    bad = bor(bad, indices[2 * m + 1], band(bor(index - 1, limit - index), SIGN))
    out[m] = index - 1
  end
  if factor ~= 1 then
    for m = 0, n - 1 do out[m] = factor * out[m] end
  end
  return bad == 0
end

local index_places = raw_memory.working_memory('int32_t', MAX)

-- Adds to places `factor` for each position before that of an index; at_places: where these are.
local function add_positions(out, n, indices, at_places, factor, limit)
  local bad = 0
  for m = 0, n - 1 do
    local at = 2 * at_places[m]
    local index = indices[at]
    bad = bor(bad, indices[at + 1], band(bor(index - 1, limit - index), SIGN))
    out[m] = out[m] + factor * (index - 1)
  end
  return bad == 0
end

--- Writes the places of the elements of o that the indices of a tensor name along dimension d, one
-- for each index. Returns false if an index is not from 1 to the size of o, or there are too many.
-- @param o an operand with the sizes of the indices in all other dimensions
function tools.locate_indexed(out, index, o, d)
  local s0, s1, s2, n = index.s0, index.s1, index.s2, tools.count(index)
  local indices, limit, step = cast(words, index.at), tools.size(o, d), tools.stride(o, d)
  local at_places = tools.located(index_places, index)
  if not at_places then return false end
  if index.n == 1 and is_dense(index, index) then
    return (set_positions(out, n, indices, step, limit))
  end
  set_places(out, s0, s1, s2, d == 0 and 0 or o.t0, d == 1 and 0 or o.t1, d == 2 and 0 or o.t2)
  return (add_positions(out, n, indices, at_places, step, limit))
end

return tools
