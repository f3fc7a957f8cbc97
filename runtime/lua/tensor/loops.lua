--- The loops of apply, map and map2 for one element type, over any strides.
-- This chunk is loaded once for each type, and again for each function in the program's source that
-- runs over many elements, so that LuaJIT compiles the loop and that function as one trace.
-- The function may do anything, such as resize the tensors: so each access reads the struct again.
-- From then on finalizers of the program wait, at most until all is done.
-- Torch7: its loops assign the function's result through FFI. Here it is converted in the same way:
-- true is 1, and whole numbers beyond 32 bits wrap.
-- @module loops

local load, convert, ctype = ...
local errors, finalizers = import('core.errors', 'core.finalizers')
local interrupts, blocks = import('stopping.interrupts', 'tensor.blocks')

local type, tonumber, min = type, tonumber, math.min
local CHUNK = 2 ^ 20 -- elements between two checks for Ctrl-C

local loops = {}

-- The state of a traversal of a tensor's elements in order. Dimensions whose elements are at equal
-- distances are joined, so that the innermost dimension, the run, is as long as possible.
-- at: the position in the storage. left: the elements that are left of the run. step: its stride.
-- counts: the indices, from 0, in the outer dimensions.
local function cursor(c)
  local sizes, strides, n, total = {}, {}, 0, c.nDimension > 0 and 1 or 0
  for d = 0, c.nDimension - 1 do
    local size, stride = tonumber(c.size[d]), tonumber(c.stride[d])
    total = total * size
    if size ~= 1 or d == 0 then
      if n > 0 and (strides[n] == stride * size or sizes[n] == 1) then
        sizes[n], strides[n] = sizes[n] * size, stride
      else
        n = n + 1
        sizes[n], strides[n] = size, stride
      end
    end
  end
  local counts = {}
  for d = 1, n do counts[d] = 0 end
  return {
    struct = c, n = n, sizes = sizes, strides = strides, counts = counts, total = total,
    at = tonumber(c.storageOffset), left = sizes[n] or 0, step = strides[n] or 0,
  }
end
loops.cursor = cursor

-- Advances a cursor by `run` elements, no more than are left of its run.
local function advance(k, run)
  k.at, k.left = k.at + run * k.step, k.left - run
  if k.left > 0 then return end
  local d = k.n
  k.at, k.left = k.at - k.sizes[d] * k.strides[d], k.sizes[d]
  d = d - 1
  while d >= 1 do
    k.counts[d], k.at = k.counts[d] + 1, k.at + k.strides[d]
    if k.counts[d] < k.sizes[d] then return end
    k.at, k.counts[d] = k.at - k.sizes[d] * k.strides[d], 0
    d = d - 1
  end
end

local moves = blocks.moves
local exceeded = errors.storage_exceeded
local begin_work, end_work = finalizers.begin_work, finalizers.end_work

local function read(c, at)
  begin_work()
  local storage = c.storage
  if storage == nil or at >= storage.size then exceeded() end
  local value = load(storage.data, at)
  return value
end

local function number_of(r)
  local kind = type(r)
  if kind == 'boolean' then return 1 end
  local n = kind == 'cdata' and tonumber(r)
  if not n then
    if kind == 'userdata' then kind = 'void *' end
    errors.fail(("cannot convert '%s' to '%s'"):format(kind, ctype))
  end
  return n
end

local function write(c, at, r)
  if type(r) ~= 'number' then r = number_of(r) end
  begin_work()
  local storage = c.storage
  if storage == nil or at >= storage.size then exceeded() end
  storage.data[at] = convert(r)
end

local function pause(left)
  end_work()
  if left > 0 then interrupts.poll() end
end

-- The functions *_dense run over elements with stride 1 as long as the storage stays the same, and
-- return how many elements they have done. LuaJIT removes the comparisons of struct and storage
-- from a trace in which the function f cannot change these. The next element is loaded at the end
-- of a turn, so that each turn begins with the call: where LuaJIT finds another function than the
-- one it has compiled, it can make a loop of its own from there. The last element is left to the
-- caller, so that there always is a next one to load. Code that is not compiled compares the number
-- of moves first, since each pointer that it reads is an object.

-- c: the struct. at: the position of the first element. n: how many elements there are.
local function apply_dense(c, at, n, f)
  begin_work()
  local storage = c.storage
  local memory, size = storage.data, storage.size
  if at + n > size then return 0 end
  local data, following = memory + at, memory + at + 1
  local x, before = load(data, 0), moves()
  for i = 0, n - 2 do
    local r = f(x)
    begin_work()
    if c.storage ~= storage
      or moves() ~= before and (storage.data ~= memory or storage.size ~= size) then
      if r then write(c, at + i, r) end
      return i + 1
    end
    if r then
      if type(r) ~= 'number' then r = number_of(r) end
      data[i] = convert(r)
    end
    x = load(following, i)
  end
  return n - 1
end

-- Runs over two tensors like apply_dense over one, and sets the elements of the first one.
local function map_dense(c, at, d, bt, n, f)
  begin_work()
  local storage, other = c.storage, d.storage
  local memory, size, memory2, size2 = storage.data, storage.size, other.data, other.size
  if at + n > size or bt + n > size2 then return 0 end
  local data, following = memory + at, memory + at + 1
  local data2, following2 = memory2 + bt, memory2 + bt + 1
  local x, y, before = load(data, 0), load(data2, 0), moves()
  for i = 0, n - 2 do
    local r = f(x, y)
    begin_work()
    if c.storage ~= storage or d.storage ~= other
      or moves() ~= before and (storage.data ~= memory or storage.size ~= size
      or other.data ~= memory2 or other.size ~= size2) then
      if r then write(c, at + i, r) end
      return i + 1
    end
    if r then
      if type(r) ~= 'number' then r = number_of(r) end
      data[i] = convert(r)
    end
    y = load(following2, i)
    x = load(following, i)
  end
  return n - 1
end

function loops.apply(x, f)
  local c, left = x.struct, x.total
  while left > 0 do
    local run, at, step, first = min(x.left, CHUNK), x.at, x.step, 0
    if step == 1 then first = apply_dense(c, at, run, f) end
    for i = first, run - 1 do
      local p = at + i * step
      local r = f(read(c, p))
      if r then write(c, p, r) end
    end
    advance(x, run)
    left = left - run
    pause(left)
  end
end

function loops.map(x, y, f)
  local c, d, left = x.struct, y.struct, x.total
  while left > 0 do
    local run, first = min(x.left, y.left, CHUNK), 0
    local p, q, s, t = x.at, y.at, x.step, y.step
    if s == 1 and t == 1 then first = map_dense(c, p, d, q, run, f) end
    for i = first, run - 1 do
      local r = f(read(c, p + i * s), read(d, q + i * t))
      if r then write(c, p + i * s, r) end
    end
    advance(x, run)
    advance(y, run)
    left = left - run
    pause(left)
  end
end

function loops.map2(x, y, z, f)
  local c, d, e, left = x.struct, y.struct, z.struct, x.total
  while left > 0 do
    local run = min(x.left, y.left, z.left, CHUNK)
    local p, q, o, s, t, u = x.at, y.at, z.at, x.step, y.step, z.step
    for i = 0, run - 1 do
      local r = f(read(c, p + i * s), read(d, q + i * t), read(e, o + i * u))
      if r then write(c, p + i * s, r) end
    end
    advance(x, run)
    advance(y, run)
    advance(z, run)
    left = left - run
    pause(left)
  end
end

return loops
