--- The standard input of a notebook: io.read and io.lines ask the front end for a line.
-- The formats are those of Lua 5.1. The answers are kept here until they are read, since nobody can
-- see what C's own buffer holds.
-- @module input

-- ask(whole) returns an answer; nil where the input has ended; false where the front end does not
-- answer.
local ask = ...

local type, error, select, tonumber, unpack = type, error, select, tonumber, unpack
local find, match, sub = string.find, string.match, string.sub
local io, stdin = io, io.stdin
local methods = getmetatable(stdin).__index
local read, lines, old_io_lines, old_io_read = methods.read, methods.lines, io.lines, io.read
local default_input = io.input

local NO_INPUT = 'this front end does not answer io.read'
local ended = false -- whether the input has ended, for the format that is being read
local rest = ''     -- what has been answered and not yet been read

-- Asks for more; returns whether there is more.
local function more(whole)
  if ended then return false end
  local answer = ask(whole)
  if answer == false then error(NO_INPUT, 0) end
  ended = not answer
  rest = rest .. (answer and answer .. '\n' or '')
  return not ended
end

local function take(length)
  local text = sub(rest, 1, length)
  rest = sub(rest, length + 1)
  return text
end

local function read_line(keep)
  if rest == '' then more() end
  if rest == '' then return nil end
  local line = take(find(rest, '\n', 1, true) or #rest)
  return keep and line or (match(line, '^(.-)\n$') or line)
end

local function read_number()
  while not find(rest, '%S') and more() do end -- luacheck: ignore 542
  local start, word = match(rest, '^%s*()([+-]?[%w.]+[+-]?%d*)')
  local long = word
  while word and #word > 0 and not tonumber(word) do word = sub(word, 1, -2) end
  if not long or word == '' then return nil end
  rest = sub(rest, start + #word)
  return tonumber(word)
end

local function read_all()
  while more(true) do end -- luacheck: ignore 542
  return take(#rest)
end

local function read_bytes(n)
  if rest == '' then more() end
  if rest == '' then return nil end
  while #rest < n and more() do end -- luacheck: ignore 542
  return take(n)
end

local READERS = {
  ['*l'] = read_line, ['*n'] = read_number, ['*a'] = read_all,
  ['*L'] = function() return read_line(true) end,
}

local function read_one(wanted)
  if type(wanted) == 'number' then return read_bytes(wanted) end
  local reader = type(wanted) == 'string' and READERS[sub(wanted, 1, 2)]
  if not reader then error('invalid format', 0) end
  return reader()
end

local function read_each(...)
  ended = false
  local n = select('#', ...)
  if n == 0 then return read_line() end
  local results = {}
  for i = 1, n do
    results[i] = read_one((select(i, ...)))
    if results[i] == nil then return unpack(results, 1, i) end
  end
  return unpack(results, 1, n)
end

local function checked(ok, ...)
  if not ok then error((...), 2) end -- the calls on the way here are tail calls
  return ...
end

local function read_asked(...)
  return checked(pcall(read_each, ...))
end

local function is_asked(file)
  return file == stdin and io.type(file) == 'file'
end

function methods.read(file, ...)
  if is_asked(file) then return read_asked(...) end
  return read(file, ...)
end

function methods.lines(file, ...)
  if is_asked(file) then return function() return read_asked() end end
  return lines(file, ...)
end

function io.read(...)
  if is_asked(default_input()) then return read_asked(...) end
  return old_io_read(...)
end

function io.lines(...)
  if (...) == nil and is_asked(default_input()) then return function() return read_asked() end end
  return old_io_lines(...)
end

return {
  --- Forgets what was answered and not read: a cell begins with nothing.
  forget = function() rest = '' end,
}
