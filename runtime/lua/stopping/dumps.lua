--- Reads and writes bytecode as string.dump gives it: LuaJIT's format, version 2.
-- A dump is a head, then the prototypes of functions, inner ones first, then a byte 0. The fields
-- of a prototype here: `start` and `stop` of all its bytes, `count` of instructions, the addresses
-- `code`, `upvalues`, `constants` and `debug` (nil in stripped dumps) in the dump, the `children`.
-- Addresses are offsets from the dump's first byte.
-- @module dumps

local ffi = require 'ffi'
local bit = require 'bit'
local buffer = require 'string.buffer'

local band, bor, lshift, rshift = bit.band, bit.bor, bit.lshift, bit.rshift
local cast, new = ffi.cast, ffi.new
local char, sub = string.char, string.sub

local HEAD = '\27LJ\2'
local STRIPPED = 2 -- a flag of the dump
local HAS_CHILDREN = 1 -- a flag of a prototype

-- Types of constants.
local CHILD, TABLE, COMPLEX, STRING = 0, 1, 4, 5
-- Types of constants in tables.
local TABLE_INT, TABLE_NUMBER, TABLE_STRING = 3, 4, 5

local dumps = {}

-- A number of seven bits a byte at an offset, and the offset behind it.
local function read_number(p, at)
  local value, shift = 0, 0
  while true do
    local byte = p[at]
    at = at + 1
    value = bor(value, lshift(band(byte, 127), shift))
    if byte < 128 then return value, at end
    shift = shift + 7
  end
end

--- Writes a number of seven bits a byte to a buffer.
function dumps.put_number(out, value)
  while value > 127 do
    out:put(char(bor(band(value, 127), 128)))
    value = rshift(value, 7)
  end
  out:put(char(value))
end
local put_number = dumps.put_number

local function skip_numbers(p, at, count)
  for _ = 1, count do
    while p[at] > 127 do at = at + 1 end
    at = at + 1
  end
  return at
end

local function skip_table_constant(p, at)
  local kind
  kind, at = read_number(p, at)
  if kind >= TABLE_STRING then return at + kind - TABLE_STRING end
  return skip_numbers(p, at, kind == TABLE_INT and 1 or kind == TABLE_NUMBER and 2 or 0)
end

local function skip_table(p, at)
  local elements, fields
  elements, at = read_number(p, at)
  fields, at = read_number(p, at)
  for _ = 1, elements + 2 * fields do at = skip_table_constant(p, at) end
  return at
end

-- Counts the prototypes among so many constants that begin at an offset.
local function count_children(p, at, constants)
  local children = 0
  for _ = 1, constants do
    local kind
    kind, at = read_number(p, at)
    if kind == CHILD then
      children = children + 1
    elseif kind == TABLE then
      at = skip_table(p, at)
    elseif kind >= STRING then
      at = at + kind - STRING
    else
      at = skip_numbers(p, at, kind == COMPLEX and 4 or 2)
    end
  end
  return children
end

-- The bytes that one instruction's line takes.
local function line_size(lines)
  return lines < 256 and 1 or lines < 65536 and 2 or 4
end

local function read_prototype(p, at, stop, stripped)
  local f = { stop = stop, flags = p[at], parameters = p[at + 1], frame = p[at + 2],
    upvalue_count = p[at + 3] }
  local debug_size = 0
  f.object_count, at = read_number(p, at + 4)
  f.number_count, at = read_number(p, at)
  f.count, at = read_number(p, at)
  if not stripped then
    debug_size, at = read_number(p, at)
    f.has_debug_size = true
    if debug_size > 0 then
      f.first_line, at = read_number(p, at)
      f.lines, at = read_number(p, at)
      f.line_size = line_size(f.lines)
      f.debug = stop - debug_size
    end
  end
  f.code = at
  f.upvalues = at + 4 * f.count
  f.constants = f.upvalues + 2 * f.upvalue_count
  f.constants_stop = stop - debug_size
  return f
end

-- Takes the last `count` elements off a list, and returns them.
local function take(list, count)
  local taken = {}
  for i = count, 1, -1 do taken[i], list[#list] = list[#list], nil end
  return taken
end

--- The prototypes in a dump, in its order, so that the last one is the whole; and the offset of the
-- first. nil for what is not a dump of this version.
function dumps.read(dump)
  if sub(dump, 1, #HEAD) ~= HEAD then return nil end
  local p = cast('const uint8_t *', dump)
  local flags, at = read_number(p, #HEAD)
  local stripped = band(flags, STRIPPED) ~= 0
  if not stripped then
    local length
    length, at = read_number(p, at)
    at = at + length
  end
  local all, open, first = {}, {}, at
  while true do
    local size, content = read_number(p, at)
    if size == 0 then break end
    local f = read_prototype(p, content, content + size, stripped)
    f.start = at
    local has_children = band(f.flags, HAS_CHILDREN) ~= 0
    f.children = take(open, has_children and count_children(p, f.constants, f.object_count) or 0)
    all[#all + 1], open[#open + 1] = f, f
    at = f.stop
  end
  return all, first
end

-- ----------------------------------------------------------------------- writing

local body, rest = buffer.new(), buffer.new()

-- The offset behind the names of the upvalues.
local function skip_names(p, at, count)
  for _ = 1, count do
    while p[at] ~= 0 do at = at + 1 end
    at = at + 1
  end
  return at
end

-- Writes the names of the local variables, each with the instructions where it is visible.
local function put_variables(out, p, at, places)
  local last, last_written = 0, 0
  while p[at] ~= 0 do
    local name_stop = p[at] < 7 and at + 1 or skip_names(p, at, 1) -- below 7: the compiler's own
    out:putcdata(p + at, name_stop - at)
    local distance, behind = read_number(p, name_stop)
    local length, stop = read_number(p, behind)
    local start = last + distance
    local written = places[start]
    put_number(out, written - last_written)
    put_number(out, places[start + length] - written)
    at, last, last_written = stop, start, written
  end
  out:put('\0')
end

local function put_debug(out, p, f, change)
  local names = f.debug + f.line_size * f.count
  local names_end = skip_names(p, names, math.min(f.upvalue_count, change.upvalue_count))
  local variables = skip_names(p, names, f.upvalue_count)
  if change.code then
    local size = f.line_size
    for i = 0, change.count - 1 do out:putcdata(p + f.debug + size * change.lines[i], size) end
  else
    out:putcdata(p + f.debug, names - f.debug)
  end
  out:putcdata(p + names, names_end - names)
  for _ = f.upvalue_count + 1, change.upvalue_count do out:put('\0') end
  if change.code then
    put_variables(out, p, variables, change.places)
  else
    out:putcdata(p + variables, f.stop - variables)
  end
end

--- Writes a prototype with changes to a buffer. Fields of `change`: `frame`, `upvalue_count` and
-- the indices `added` (a list) of upvalues; and where instructions change, `count` of them, `code`,
-- `lines` (for each the old instruction whose line it has), `places` (for each old number of an
-- instruction, counted as in the names of variables, the new one).
function dumps.put(out, p, f, change)
  rest:reset()
  if f.debug then put_debug(rest, p, f, change) end
  local debug_size = #rest
  body:reset()
  body:put(char(f.flags, f.parameters, change.frame, change.upvalue_count))
  put_number(body, f.object_count)
  put_number(body, f.number_count)
  put_number(body, change.count or f.count)
  if f.has_debug_size then put_number(body, debug_size) end
  if f.debug then
    put_number(body, f.first_line)
    put_number(body, f.lines)
  end
  body:putcdata(change.code or p + f.code, 4 * (change.count or f.count))
  body:putcdata(p + f.upvalues, 2 * math.min(f.upvalue_count, change.upvalue_count))
  for _, index in ipairs(change.added or {}) do
    body:putcdata(new('uint16_t[1]', index), 2)
  end
  body:putcdata(p + f.constants, f.constants_stop - f.constants)
  put_number(out, #body + debug_size)
  out:put(body, rest)
end

return dumps
