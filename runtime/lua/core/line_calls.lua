--- Calls whose parenthesis begins a line, as the reference's LuaJIT compiles them.
-- This LuaJIT refuses them: as in Lua 5.1, they might also be statements of their own. Where it has
-- refused a chunk for that, the parenthesis is moved up behind the function that it calls, so that
-- all else stays in its line, and the chunk is compiled again.
-- @module line_calls

local th = ...

local type, error, pcall, tonumber = type, error, pcall, tonumber
local find, match, sub, gsub = string.find, string.match, string.sub, string.gsub
local select, format = select, string.format
local open = io.open
local searchpath = package.searchpath

-- Lua's functions that this module replaces.
local loadstring, load, loadfile, dofile = loadstring, load, loadfile, dofile

-- luacheck: globals package.loaders

local REFUSED = ':(%d+): ambiguous syntax %(function call x new statement%)'

-- ------------------------------------------------------------------ the source

-- The position of the last character of a text in long brackets that begin at a position.
local function bracket_end(source, at)
  local level = match(source, '^%[(=*)%[', at)
  if not level then return nil end
  local _, last = find(source, ']' .. level .. ']', at, true)
  return last or #source
end

local function string_end(source, at)
  local quote = match(source, '^["\']', at)
  if not quote then return nil end
  local last = at
  repeat
    last = find(source, '[\\' .. quote .. ']', last + 1)
    if not last then return #source end
    local escaped = sub(source, last, last) == '\\'
    if escaped then last = last + 1 end
  until not escaped
  return last
end

local function token_end(source, at)
  local _, word_end = find(source, '^[%w_]+', at)
  return word_end or string_end(source, at) or bracket_end(source, at) or at
end

-- The position of the next token behind white space and comments.
local function token_start(source, at)
  while true do
    at = find(source, '%S', at)
    if not at or sub(source, at, at + 1) ~= '--' then return at end
    at = (bracket_end(source, at + 2) or find(source, '\n', at, true) or #source) + 1
  end
end

local function count_lines(text)
  local _, lines = gsub(text, '\n', '')
  return lines
end

-- The source with the parenthesis that is the first token of a line moved up behind the last token
-- before; nil where there is no such line.
local function moved(source, line)
  local last, current = 0, 1
  while true do
    local at = token_start(source, last + 1)
    if not at then return nil end
    local lines = count_lines(sub(source, last + 1, at - 1))
    current = current + lines
    if current == line and lines > 0 and sub(source, at, at) == '(' then
      return sub(source, 1, last) .. '(' .. sub(source, last + 1, at - 1) .. ' '
        .. sub(source, at + 1)
    end
    last = token_end(source, at)
    current = current + count_lines(sub(source, at, last))
  end
end

-- -------------------------------------------------------------------- compiling

-- Compiles a source that was refused with a message; returns what loadstring does.
local function compile_again(source, message, ...)
  local f, refused, line = nil, message, nil
  while not f do
    local former = line
    line = tonumber(match(refused, REFUSED))
    -- Each turn must come further: otherwise the parenthesis was not found.
    if not line or former and line <= former then break end
    local better = moved(source, line)
    if not better then break end
    source = better
    f, refused = loadstring(source, ...)
  end
  if f then return f end
  return nil, refused
end

local function is_text(value)
  return value == nil or type(value) == 'string'
end

-- A file's text as loadfile reads it: a first line that begins with # does not count.
local function read(path)
  local file = open(path, 'rb')
  local text = file and file:read('*a')
  if file then file:close() end
  return text and gsub(text, '^#[^\n]*', '')
end

-- Makes what stands for one of Lua's functions that compile a source.
local function compiling(compile)
  return function(...)
    local source, name = ...
    -- A tail call: Lua's function names itself in errors about its arguments.
    if type(source) ~= 'string' or not is_text(name) then return compile(...) end
    local f, message = compile(...)
    if f then return f end
    if not find(message, REFUSED) then return nil, message end
    return compile_again(source, message, name or source, select(3, ...))
  end
end

_G.loadstring, _G.load = compiling(loadstring), compiling(load)

function _G.loadfile(...)
  local path = ...
  if type(path) ~= 'string' then return loadfile(...) end
  local f, message = loadfile(...)
  if f then return f end
  local source = find(message, REFUSED) and read(path)
  if not source then return nil, message end
  return compile_again(source, message, '@' .. path, select(2, ...))
end

local load_file = _G.loadfile

-- A call whose results pass through here is no tail call, and leaves a frame.
local function pass(...) return ... end

function _G.dofile(...)
  local path = ...
  if type(path) ~= 'string' then return dofile(...) end
  local f, message = load_file(path)
  if not f then error(message, 0) end
  return pass(pass(f)()) -- the chunk has no name in tracebacks, as f() would give it
end

local load_module = package.loaders[2]

--- The searcher of package.loaders for Lua files.
function th.search_files(name, ...)
  local ok, found = pcall(load_module, name, ...)
  if ok then return found end
  local path = type(found) == 'string' and find(found, REFUSED) and searchpath(name, package.path)
  if not path then error(found, 0) end
  local f, message = load_file(path)
  if f then return f end
  error(format("error loading module '%s' from file '%s':\n\t%s", name, path, message), 0)
end
package.loaders[2] = th.search_files
