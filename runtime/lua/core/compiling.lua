--- Compiles what programs load as the reference's LuaJIT does: for loadstring, load, loadfile,
-- dofile and require, it changes sources that this LuaJIT would refuse, or compile to something
-- else (`length_operator.lua`).
--
-- This LuaJIT refuses calls whose parenthesis begins a line: as in Lua 5.1, they might also be
-- statements of their own. Where it has refused a chunk for that, the parenthesis is moved up
-- behind the function that it calls, so that all else stays in its line, and the chunk is compiled
-- again.
-- @module compiling

local host, errors, escapes = import('host', 'core.errors', 'core.escapes')
local length_operator, tokens = import('core.length_operator', 'core.tokens')
local python_calls = import 'core.python_calls'

local compiling = {}

local type, error, select, pcall, format = type, error, select, pcall, string.format
local find, gsub, match, sub = string.find, string.gsub, string.match, string.sub
local tonumber, first_token, last_of, count_lines = tonumber, tokens.first, tokens.last,
  tokens.count_lines
local visible_name = escapes.visible_name
local open, dump, version = io.open, string.dump, jit.version
local searchpath = package.searchpath

-- Lua's functions that this module replaces.
local loadstring, load, loadfile, dofile = loadstring, load, loadfile, dofile

-- luacheck: globals package.loaders

local BYTECODE = '^\27'

-- A file's text as loadfile reads it: a first line that begins with # does not count.
local function read(path)
  local file = open(path, 'rb')
  local text = file and file:read('*a')
  if file then file:close() end
  return text and (gsub(text, '^#[^\n]*', ''))
end

local REFUSED = ':(%d+): ambiguous syntax %(function call x new statement%)'

-- The source with the parenthesis that is the first token of a line moved up behind the last token
-- before; nil where there is no such line.
local function moved(source, line)
  local last, current = 0, 1
  while true do
    local at = first_token(source, last + 1)
    if not at then return nil end
    local lines = count_lines(sub(source, last + 1, at - 1))
    current = current + lines
    if current == line and lines > 0 and sub(source, at, at) == '(' then
      return sub(source, 1, last) .. '(' .. sub(source, last + 1, at - 1) .. ' '
        .. sub(source, at + 1)
    end
    last = last_of(source, at)
    current = current + count_lines(sub(source, at, last))
  end
end

-- Compiles a source that was refused with a message, with its calls moved. Returns what loadstring
-- does, and the source that was compiled.
local function compile_moved(source, message, ...)
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
  return f or nil, refused, source
end

local add_lines = function() return nil end

--- Sets the function that returns a file's source with calls of the debugger, or nil.
-- @param f gets the source, and the name of its chunk
function compiling.add_lines_by(f)
  add_lines = f
end

-- Compiles a source as th changes it; nil where that is not needed, or a function has then reached
-- a limit of LuaJIT: calls need more room.
local function changed(source, name, ...)
  local with_lines = find(name, '^@') and add_lines(source, name)
  local other = length_operator.rewritten(with_lines or source) or with_lines
  return other and loadstring(other, name, ...)
end

-- Returns the function that was compiled of a source, or of the source as th changes it.
local function finished(f, message, source, ...)
  if not f then
    if not find(message, REFUSED) then return nil, message end
    f, message, source = compile_moved(source, message, ...)
    if not f then return nil, message end
  end
  return not find(source, BYTECODE) and changed(source, ...) or f
end

-- Makes what stands for one of Lua's functions that compile a source.
local function replacing(compile)
  return function(...)
    local source, name = ...
    -- A tail call: Lua's function names itself in errors about its arguments.
    if type(source) ~= 'string' or name ~= nil and type(name) ~= 'string' then
      return compile(...)
    end
    local f, message = compile(...)
    return finished(f, message, source, name or source, select(3, ...))
  end
end

_G.loadstring, _G.load = replacing(loadstring), replacing(load)

-- Returns loadfile's results, with the control codes of the file's name as digits in the message.
local function named(path, f, message)
  local first, last = find(message or '', path, 1, true)
  if not first or visible_name(path) == path then return f, message end
  return f, sub(message, 1, first - 1) .. visible_name(path) .. sub(message, last + 1)
end

function _G.loadfile(...)
  local path = ...
  if type(path) ~= 'string' then return loadfile(...) end
  local source = read(path) -- once: what a pipe has told is gone
  if not source then return named(path, loadfile(...)) end
  local f, message = errors.results(pcall(loadstring, source, '@' .. path, select(2, ...)))
  return finished(f, message, source, '@' .. path, select(2, ...))
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

-- Loads a module's file as loadfile does, by bytecode that is kept of it (core/bytecode.py): where
-- the debugger has no calls in it, and it does not depend on what was loaded before.
local function load_module(path)
  local source = length_operator.is_expected() and read(path)
  if not source or add_lines(source, '@' .. path) then return load_file(path) end
  local bytecode = python_calls.ask(host.kept_bytecode, path, version)
  if not bytecode then
    local f, message = load_file(path)
    if not f then return nil, message end
    bytecode = dump(f)
    python_calls.ask(host.keep_bytecode, path, version, bytecode)
  end
  return loadstring(bytecode)
end

local search_files = package.loaders[2]
local note_module -- told the name and the path of each module that is found

--- Sets the function that is told the name and the path of each Lua file that is found.
function compiling.note_modules_by(f)
  note_module = f
end

--- The searcher of package.loaders for Lua files.
function compiling.search_files(...)
  local name = ...
  local known = type(name) == 'string' and type(package.path) == 'string'
  local path = known and searchpath(name, package.path)
  if not path then return pass(search_files(...)) end
  local f, message = load_module(path)
  if not f then
    error(format("error loading module '%s' from file '%s':\n\t%s", name, path, message), 0)
  end
  note_module(name, path)
  return f
end
package.loaders[2] = compiling.search_files

return compiling
