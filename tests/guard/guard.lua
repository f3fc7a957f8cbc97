--- Guard mode: pieces of memory behind which, or before which, nothing is accessible.
-- With TH_GUARD=1 in the environment, each piece of memory that raw pointers may write ends where a
-- page of memory ends, and what lies behind is not accessible: what reads or writes there, be it a
-- loop of LuaJIT's or numpy's, BLAS or memcpy, ends the process at once. With TH_GUARD=front each
-- piece begins at a page, and what lies before it is not accessible. What was freed stays not
-- accessible, too, until much else was freed after it.
--
-- It is loaded behind runtime/lua/parallel/memory.lua, in each Lua state, which has pieces of its
-- own. In one, __init__.py lets numpy take its memory from here; in another, it has the system call
-- `report` where memory was accessed that must not be.
-- @module guard

local raw_memory = ...
local ffi = require 'ffi'
local C, cast = ffi.C, ffi.cast

local mode = os.getenv('TH_GUARD')

ffi.cdef[[
void *th_map(void *, size_t, int, int, int, long) __asm__("mmap");
int th_unmap(intptr_t, size_t) __asm__("munmap");
int th_protect(intptr_t, size_t, int) __asm__("mprotect");
intptr_t th_write(int, const char *, size_t) __asm__("write");
int th_set_action(int, const void *, void *) __asm__("sigaction");
]]

local IN_FRONT = mode == 'front'
local PAGE = 4096
-- What is not accessible behind or before each piece is more than a page, since loops may step far.
local GAP = 16 * PAGE
-- The system lets a process have 65,530 mappings; a piece takes two, and there are those of the
-- engine, of numpy and of threads. What is beyond this number is not guarded.
local MOST_LIVE = 12000
-- So much that was freed last stays not accessible.
local MOST_FREED, MOST_FREED_BYTES = 1024, 2 ^ 27
local NONE, READ_WRITE = 0, 3
local PRIVATE_ANONYMOUS_NO_RESERVE = 0x4022
local SEGMENTATION_FAULT = 11

-- What each piece's first page begins with, also when the piece was freed. `report` looks for it.
local Header = ffi.typeof[[struct {
  uint64_t magic; double at, bytes; int32_t is_freed; char what[64];
} *]]
local MAGIC = 0x6472617567206874ULL
local intptr = ffi.typeof('intptr_t')

local starts, lengths, live = {}, {}, 0 -- piece -> its first page; the bytes of all its pages
local freed, oldest, newest, freed_bytes = {}, 1, 0, 0 -- number in order -> first page

local guard = {}
raw_memory.guard = guard

local function address_of(pointer)
  return tonumber(cast(intptr, pointer))
end

-- The largest power of two, up to 64, that divides a number of bytes: as elements of any type that
-- may lie in these need it.
local function alignment(bytes)
  local align = 1
  while align < 64 and bytes % (2 * align) == 0 do align = 2 * align end
  return align
end

--- The address of so many bytes, which are 0 and guarded; nil if too many pieces live, or the
-- system has no more memory.
-- @param what what a message calls them, of at most 60 bytes
function guard.allocate(bytes, what)
  if live >= MOST_LIVE then return nil end
  local room = math.ceil(bytes / PAGE) * PAGE
  local before = PAGE + (IN_FRONT and GAP or 0) -- a page for the header
  local length = before + room + GAP
  local page = address_of(C.th_map(nil, length, READ_WRITE, PRIVATE_ANONYMOUS_NO_RESERVE, -1, 0))
  if page == -1 then return nil end
  local first = page + before
  local at = IN_FRONT and first or first + room - bytes
  at = at - at % alignment(bytes)
  local header = cast(Header, page)
  header.magic, header.at, header.bytes = MAGIC, at, bytes
  ffi.copy(header.what, what)
  C.th_protect(page, before, NONE)
  C.th_protect(first + room, GAP, NONE)
  starts[at], lengths[page], live = page, length, live + 1
  return at
end

-- What is called here may run finalizers, which free other pieces, and Ctrl-C may end it anywhere:
-- so a piece is first taken out of the list, and one that is no longer there is passed over.
local function unmap_oldest()
  local page = freed[oldest]
  local length = page and lengths[page]
  freed[oldest], oldest = nil, oldest + 1
  if not length then return end
  lengths[page], freed_bytes = nil, freed_bytes - length
  C.th_unmap(page, length)
end

--- Frees a piece; whether there was one at this address.
function guard.free(at)
  local page = starts[at]
  if not page then return false end
  starts[at], live = nil, live - 1
  C.th_protect(page, PAGE, READ_WRITE)
  cast(Header, page).is_freed = 1
  C.th_protect(page, lengths[page], NONE)
  freed[newest + 1], newest, freed_bytes = page, newest + 1, freed_bytes + lengths[page]
  while newest - oldest >= MOST_FREED or newest >= oldest and freed_bytes > MOST_FREED_BYTES do
    unmap_oldest()
  end
  return true
end

-- The bytes of a piece; nil if there is none at this address.
local function size_of(at)
  local page = starts[at]
  if not page then return nil end
  C.th_protect(page, PAGE, READ_WRITE)
  local bytes = cast(Header, page).bytes
  C.th_protect(page, PAGE, NONE)
  return bytes
end

-- ------------------------------------------------------------------- numpy

ffi.cdef[[
void *th_calloc(size_t, size_t) __asm__("calloc");
void *th_realloc(void *, size_t) __asm__("realloc");
void th_free(void *) __asm__("free");
void *th_move(intptr_t, intptr_t, size_t) __asm__("memmove");
]]

local function allocate_for_numpy(bytes)
  local at = guard.allocate(tonumber(bytes), 'memory of an array of numpy')
  return at and cast('void *', at) or C.th_calloc(1, bytes)
end

local function free_of_numpy(pointer)
  if not guard.free(address_of(pointer)) then C.th_free(pointer) end
end

local function reallocate_for_numpy(pointer, bytes)
  local bytes_before = size_of(address_of(pointer))
  if not bytes_before then return C.th_realloc(pointer, bytes) end
  local new = allocate_for_numpy(bytes)
  C.th_move(address_of(new), address_of(pointer), math.min(bytes_before, tonumber(bytes)))
  free_of_numpy(pointer)
  return new
end

local callbacks = {} -- LuaJIT frees those that nobody refers to

local function callback(ctype, f)
  local made = cast(ctype, f)
  callbacks[#callbacks + 1] = made
  return address_of(made)
end

--- The addresses of malloc, calloc, realloc and free, as numpy calls them, for a Lua state that
-- nothing else uses: LuaJIT must not be within its own compiled code when it is called.
function guard.for_numpy()
  jit.off()
  return callback('void *(*)(void *, size_t)', function(_, bytes)
    return allocate_for_numpy(bytes)
  end), callback('void *(*)(void *, size_t, size_t)', function(_, count, size)
    return allocate_for_numpy(count * size)
  end), callback('void *(*)(void *, void *, size_t)', function(_, pointer, bytes)
    return reallocate_for_numpy(pointer, bytes)
  end), callback('void (*)(void *, void *, size_t)', function(_, pointer)
    free_of_numpy(pointer)
  end)
end

-- ------------------------------------------------------------------ faults

-- The header of the piece that an address is in, behind or before; nil if there is none near.
local function header_near(address)
  local page = address - address % PAGE
  for _ = 1, 2 ^ 16 do
    if C.th_protect(page, PAGE, READ_WRITE) ~= 0 then return nil end
    local header = cast(Header, page)
    if header.magic == MAGIC then return header end
    page = page - PAGE
  end
end

-- What lies at an address that must not be accessed.
local function description(address)
  local header = header_near(address)
  if not header then return ('access to address 0x%x, where no memory is'):format(address) end
  local text, at, bytes = ffi.string(header.what), header.at, header.bytes
  local place = address < at and ('%d bytes before'):format(at - address)
    or address < at + bytes and ('byte %d of'):format(address - at)
    or ('%d bytes behind'):format(address - at - bytes)
  return ('access to %s %s, which has %d bytes%s'):format(place, text, bytes,
    header.is_freed ~= 0 and ' and was freed' or '')
end

--- Lets the system tell on the standard error what was accessed where a process ends by it; for a
-- Lua state that nothing else uses.
function guard.report()
  jit.off()
  local size = 256 -- at least that of a struct sigaction
  local before, action = ffi.new('intptr_t[?]', size / 8), ffi.new('intptr_t[?]', size / 8)
  callbacks[#callbacks + 1] = before
  action[0] = callback('void (*)(int, intptr_t *, void *)', function(_, info)
    C.th_set_action(SEGMENTATION_FAULT, before, nil) -- which the access meets when it is repeated
    local address = tonumber(info[2])
    local ok, text = pcall(description, address)
    C.th_protect(address - address % PAGE, PAGE, NONE) -- `description` may have made it accessible
    text = 'TH_GUARD: ' .. (ok and text or 'access to memory that must not be accessed') .. '\n'
    C.th_write(2, text, #text)
  end)
  local SIGINFO = 4
  cast('int *', action + 17)[0] = SIGINFO -- behind the mask of 1,024 bits
  C.th_set_action(SEGMENTATION_FAULT, action, before)
end

-- ------------------------------------------- memory of raw pointers in Lua

local plain_memory, plain_elements = raw_memory.working_memory, raw_memory.with_elements
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

function raw_memory.working_memory(ctype, count)
  local at = allocate(count * ffi.sizeof(ctype), ('working memory of %d %s'):format(count, ctype))
  if not at then return plain_memory(ctype, count) end
  return ffi.gc(cast(ffi.typeof(ctype .. ' *'), at), free)
end

function raw_memory.with_elements(make, count)
  local object = make(0)
  local bytes = ffi.sizeof(make, count) - ffi.sizeof(make, 0)
  local at = allocate(bytes, ('the elements of a %s'):format(tostring(make):match('TH%w+')))
  if not at then return plain_elements(make, count) end
  ffi.gc(object, function() guard.free(at) end)
  return object, cast(ffi.typeof(object.own.data), at)
end
