--- The memory that raw pointers may write: elements of blocks and stores, and working memory.
-- A test forbids arrays of FFI elsewhere, but for small ones of a fixed length. Tests can guard it
-- (tests/guard).
-- @module memory

local raw_memory = {}
local ffi = require 'ffi'
local C, cast = ffi.C, ffi.cast
local error = error

ffi.cdef[[
void *th_calloc(size_t, size_t) __asm__("calloc");
void th_free(void *) __asm__("free");
]]

--- Zeros outside of the memory that Lua's collector counts, and that take no room before they are
-- used; freed with the pointer that is returned.
function raw_memory.working_memory(ctype, count)
  local memory = C.th_calloc(count, ffi.sizeof(ctype))
  if memory == nil then error('not enough memory', 0) end
  return ffi.gc(cast(ffi.typeof(ctype .. ' *'), memory), C.th_free)
end

--- An object of a struct that ends in `data[?]`, with zeros for so many elements, and a pointer to
-- these, which are freed with the object.
-- @param make the type of the struct
function raw_memory.with_elements(make, count)
  local object = make(count)
  return object, object.data
end

--- Working memory with the numbers of a list.
function raw_memory.numbers(ctype, list)
  local memory = raw_memory.working_memory(ctype, #list)
  for i = 1, #list do memory[i - 1] = list[i] end
  return memory
end

return raw_memory
