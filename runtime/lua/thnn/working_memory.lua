--- Working memory for calls of nn's backend that jobs compute, and copies of the operands in it.
-- A finalizer of the program may run within a job: so jobs get copies of the operands, and results
-- are copied from there, unless a storage has moved.
-- @module working_memory

local th = ...
local ffi = require 'ffi'
local host, dense, moves = th.host, th.formulas.dense, th.blocks.moves
local tonumber, cast = tonumber, ffi.cast

local intptr = ffi.typeof('intptr_t')

local working = {
  MAX_WORK = 999999, -- multiplications up to which Python never shares them out
  ROOM = 1048576,    -- bytes of all operands and results
}
th.thnn_working = working

local function copy(to, from, bytes) ffi.C.th_copy(to, from, bytes) end
working.copy = copy

function working.sizes_of(c)
  local sizes = {}
  for d = 1, c.nDimension do sizes[d] = tonumber(c.size[d - 1]) end
  return sizes
end

function working.product(list, first)
  local all = 1
  for i = first or 1, #list do all = all * list[i] end
  return all
end

-- Whether a tensor is contiguous, of these sizes.
function working.fits(c, sizes)
  local n = #sizes
  if c.nDimension ~= n then return false end
  for d = 1, n do
    if c.size[d - 1] ~= sizes[d] then return false end
  end
  return dense(c) > 0
end

-- The geometry as jobs take it: the memory, which must stay, and its address.
function working.geometry_of(g)
  local list = {}
  for name in ('size kernel stride padding dilation count'):gmatch('%a+') do
    for d = 1, 3 do list[#list + 1] = g[name][d] end
  end
  local address, count = th.ask(host.thnn_windows, unpack(list))
  local memory = th.working_memory('int32_t', count)
  local to = tonumber(cast(intptr, memory))
  copy(to, address, 4 * count)
  return memory, to
end

local memory = th.working_memory('char', working.ROOM)
local place = tonumber(cast(intptr, memory))
local uses = 0 -- a call within another one, of a finalizer, uses the same memory

function working.address(c, size)
  return tonumber(cast(intptr, c.storage.data)) + size * tonumber(c.storageOffset)
end

function working.apart(p, n, q, m)
  return p + n <= q or q + m <= p
end

local addresses = { memory = memory } -- which anchors the memory
for size in pairs{ [4] = true, [8] = true } do
  addresses[size] = { gemm = th.ask(host.blas, 'gemm', size) or 0,
    axpy = th.ask(host.blas, 'axpy', size) or 0 }
end

local address, apart = working.address, working.apart
working.addresses = addresses

-- Copies three sources to working memory, and what the result r has if it is added to.
-- Tensors with 0 elements are absent. Returns a number for `finish`; where all five are in
-- working memory; and where r, s and c are. nil if a storage has moved meanwhile.
function working.begin(size, before, a, na, b, nb, c, nc, r, nr, s, ns, add)
  local pa = na > 0 and address(a, size) or 0
  local pb = nb > 0 and address(b, size) or 0
  local pc = nc > 0 and address(c, size) or 0
  local pr = address(r, size)
  local ps = ns > 0 and address(s, size) or 0
  if moves() ~= before or ns > 0 and not apart(pr, nr * size, ps, ns * size) then return nil end
  uses = uses + 1
  local ta = place
  local tb = ta + 8 * na
  local tc = tb + 8 * nb
  local tr = tc + 8 * nc
  local ts = tr + 8 * nr
  if na > 0 then copy(ta, pa, na * size) end
  if nb > 0 then copy(tb, pb, nb * size) end
  if nc > 0 then copy(tc, pc, nc * size) end
  if add then copy(tr, pr, nr * size) end
  return uses, ta, tb, tc, tr, ts, pr, ps, pc
end

function working.finish(mine, before, tr, pr, nr, ts, ps, ns)
  if moves() ~= before or uses ~= mine then return nil end
  copy(pr, tr, nr)
  if ns > 0 then copy(ps, ts, ns) end
  return true
end
