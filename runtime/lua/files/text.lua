--- Reads and writes numbers of one type in ascii files, as C's scanf and printf do.
-- This chunk is loaded once for each element type, so that each has functions, and with them
-- traces, of its own.
-- @module file_text

local dtype = ...
local ffi, errors, files = import('ffi', 'core.errors', 'files.files')
local raw_memory, interrupts = import('parallel.memory', 'stopping.interrupts')
local buffer = require 'string.buffer'

local tonumber, min, cast = tonumber, math.min, ffi.cast
local fill = files.fill
local load, convert = dtype.load, dtype.convert

local PIECE = 2 ^ 16 -- bytes of text that are collected before they are written to the file
local CHECK = 2 ^ 16 -- numbers between two checks for Ctrl-C
local PLUS, MINUS, CAPITAL_N, SMALL_N = ('+-Nn'):byte(1, 4)
local LOOKAHEAD = 8  -- bytes behind a number that could still belong to it ('e+05', 'inity')

local text_access = {}

ffi.cdef[[
double strtod(const char *, char **); float strtof(const char *, char **);
long long strtoll(const char *, char **, int);
void th_skip_number(const char *, char **) __asm__("strtod");
]]
local stop_of = ffi.new('char *[1]')

local parse -- the number that a text begins with; sets stop_of[0] to its end

-- Makes `parse` from a C function for floating-point numbers. A text such as 'nan(123)' gives the
-- bits of a nan, and C's result then must not come to Lua (see tensor/elements.lua): the text is
-- only skipped.
local function parser(convert_text)
  return function(text)
    local at = (text[0] == PLUS or text[0] == MINUS) and 1 or 0
    if text[at] ~= SMALL_N and text[at] ~= CAPITAL_N then return convert_text(text, stop_of) end
    ffi.C.th_skip_number(text, stop_of)
    return text[0] == MINUS and -raw_memory.nan or raw_memory.nan
  end
end

if dtype.name == 'Double' then
  parse = parser(ffi.C.strtod)
elseif dtype.name == 'Float' or dtype.name == 'Half' then
  parse = parser(ffi.C.strtof)
else
  function parse(text) return ffi.C.strtoll(text, stop_of, 10) end
end

local is_space = ffi.new('uint8_t[256]')
for c = 9, 13 do is_space[c] = 1 end
is_space[32] = 1

-- Characters that can continue a number.
local can_continue = ffi.new('uint8_t[256]')
for c in ('0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.+-_('):gmatch('.') do
  can_continue[c:byte()] = 1
end

local function at_character(data, at)
  return cast('uint8_t *', data)[at]
end

--- Reads the next number; returns whether there was one, and the number.
function text_access.scan(w, object)
  local m, stop, at = w.memory, min(w.stop, tonumber(w.memory.size)), w.at
  if w.readable == 0 then fill(w, object, 1) end
  while true do
    while at < stop and is_space[at_character(m.data, at)] ~= 0 do at = at + 1 end
    -- Torch7: white space before a text that is no number is consumed in a file on disk, and not
    -- in a file in memory.
    if w.stream ~= 0 then w.at = at end
    local used, value = 0, nil
    if at < stop then
      -- C's function reads up to the zero byte behind the text.
      if m.data[min(stop, tonumber(m.size) - 1)] ~= 0 then
        errors.fail('provided CharStorage must be terminated by 0')
      end
      value = parse(m.data + at)
      used = min(tonumber(stop_of[0] - m.data), stop) - at
      local behind = stop - at - used
      if behind >= LOOKAHEAD or used > 0 and behind > 0
        and can_continue[at_character(m.data, at + used)] == 0 then
        if used > 0 then w.at = at + used end
        return used > 0, value
      end
    end
    local present = min(w.stop, tonumber(m.size)) - w.at
    local wanted = present < 4096 and present + LOOKAHEAD or 2 * present
    if stop == at then wanted = 1 end
    local skipped = at - w.at
    if fill(w, object, wanted) <= present then -- fill may have moved the bytes in the memory
      if used > 0 then w.at = w.at + skipped + used end
      return used > 0, value
    end
    m, stop, at = w.memory, min(w.stop, tonumber(w.memory.size)), w.at
  end
end

local scan = text_access.scan

local append -- appends the text of element i to a string buffer
if dtype.name == 'Double' or dtype.name == 'Float' or dtype.name == 'Half' then
  local is_double = dtype.name == 'Double'
  local form = is_double and '%.17g' or '%.9g'
  -- The part of an element that has its sign.
  local signed = ffi.typeof(dtype.name == 'Half' and 'int16_t *' or 'int32_t *')
  local parts, high = is_double and 2 or 1, is_double and ffi.abi('le') and 1 or 0
  function append(text, data, i)
    local v = load(data, i)
    if v == v then
      text:putf(form, v)
    else
      text:put(cast(signed, data)[parts * i + high] < 0 and '-nan' or 'nan')
    end
  end
else
  function append(text, data, i) text:putf('%d', data[i]) end
end

local function put_text(w, object, text)
  local from, n = text:ref()
  return files.put(w, object, from, n) == n
end

local line = buffer.new()

--- Writes n elements; returns how many were written.
function text_access.write(w, object, data, n)
  local text = n == 1 and line:reset() or buffer.new()
  local spacing, done = w.spacing ~= 0, 0
  for i = 0, n - 1 do
    append(text, data, i)
    if spacing then text:put(i < n - 1 and ' ' or '\n') end
    if #text >= PIECE then
      if not put_text(w, object, text) then return done end
      text:reset()
      done = i + 1
    end
    if i % CHECK == CHECK - 1 then interrupts.poll() end
  end
  return (#text == 0 or put_text(w, object, text)) and n or done
end

--- Reads elements [from, to); returns how many there were.
function text_access.read(w, object, data, from, to)
  for i = from, to - 1 do
    local is_number, value = scan(w, object)
    if not is_number then return i - from end
    data[i] = dtype.name == 'Half' and convert(value) or value
    if i % CHECK == CHECK - 1 then interrupts.poll() end
  end
  return to - from
end

return text_access
