--- The memory that raw pointers may write: elements of blocks and stores, and working memory.
-- A test forbids arrays of FFI elsewhere, but for small ones of a fixed length. In guard mode
-- (guard.lua) all of it is guarded.
-- @module memory

local th = ...
local ffi = require 'ffi'
local C, cast, guard = ffi.C, ffi.cast, th.guard
local error, tonumber = error, tonumber

ffi.cdef[[
void *th_calloc(size_t, size_t) __asm__("calloc");
void th_free(void *) __asm__("free");
]]

--- Zeros outside of the memory that Lua's collector counts, and that take no room before they are
-- used; freed with the pointer that is returned.
function th.working_memory(ctype, count)
  local memory = C.th_calloc(count, ffi.sizeof(ctype))
  if memory == nil then error('not enough memory', 0) end
  return ffi.gc(cast(ffi.typeof(ctype .. ' *'), memory), C.th_free)
end

--- An object of a struct that ends in `data[?]`, with zeros for so many elements, and a pointer to
-- these, which are freed with the object.
-- @param make the type of the struct
function th.with_elements(make, count)
  local object = make(count)
  return object, object.data
end

--- Working memory with the numbers of a list.
function th.numbers(ctype, list)
  local memory = th.working_memory(ctype, #list)
  for i = 1, #list do memory[i - 1] = list[i] end
  return memory
end

if not guard then return end

local plain_memory, plain_elements = th.working_memory, th.with_elements
local intptr = ffi.typeof('intptr_t')
local PATIENCE = 10000 -- allocations until garbage is looked for again where that gained nothing
local waiting = 0

-- The address of guarded memory; nil where too much is guarded even when garbage was collected.
local function allocate(bytes, what)
  local at = guard.allocate(bytes, what)
  waiting = waiting - 1
  if at or waiting > 0 then return at end
  collectgarbage()
  collectgarbage() -- what finalizers of the first have kept
  at = guard.allocate(bytes, what)
  if not at then waiting = PATIENCE end
  return at
end

local function free(pointer)
  guard.free(tonumber(cast(intptr, pointer)))
end

function th.working_memory(ctype, count)
  local at = allocate(count * ffi.sizeof(ctype), ('working memory of %d %s'):format(count, ctype))
  if not at then return plain_memory(ctype, count) end
  return ffi.gc(cast(ffi.typeof(ctype .. ' *'), at), free)
end

function th.with_elements(make, count)
  local object = make(0)
  local bytes = ffi.sizeof(make, count) - ffi.sizeof(make, 0)
  local at = allocate(bytes, ('the elements of a %s'):format(tostring(make):match('TH%w+')))
  if not at then return plain_elements(make, count) end
  ffi.gc(object, function() guard.free(at) end)
  return object, cast(ffi.typeof(object.own.data), at)
end
