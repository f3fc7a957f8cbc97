--- Calls the debugger at the lines of a source, so that it need not look at those of all others.
-- A hook is called at each line of all code, and LuaJIT compiles none of it meanwhile. So a file
-- in which a program may stop is compiled with a call in front of each statement that begins a
-- line, and all runs as fast as without a debugger, but for these calls. They need no name: to call
-- the imaginary number 0i is to call a function of ours (see core/length_operator.lua).
-- @module line_calls

local length_operator, tokens = import('core.length_operator', 'core.tokens')

local find, format, gmatch, match, sub = string.find, string.format, string.gmatch, string.match,
  string.sub
local concat = table.concat
local first, last_of, count_lines = tokens.first, tokens.last, tokens.count_lines

local line_calls = {}

-- The names of chunks of files that were compiled with the calls, and without them.
local with_calls, without_calls = {}, {}
local is_wanted = function() return false end

local function set_of(words)
  local set = {}
  for word in gmatch(words, '%S+') do set[word] = true end
  return set
end

-- Words behind which no statement begins, and those that begin none.
local CONTINUED = set_of 'and in local not or return if while until for elseif function goto'
local NO_BEGINNING = set_of 'and do else elseif end false in nil not or then true until'

-- Tells whether a statement may begin behind a token: one that ends a statement, or opens a block.
local function ends_statement(source, at, last)
  local token = sub(source, at, last)
  if token == '.' then return sub(source, at - 2, at) == '...' end
  return find(token, '^[%w_"\'%[)%]};]') and token ~= '[' and not CONTINUED[token]
end

local function begins_statement(source, at)
  local word = match(source, '^[%a_][%w_]*', at)
  return word and not NO_BEGINNING[word]
end

-- Calls a function with the line and the position of each statement that begins a line.
local function each_statement(source, f)
  local line, last, is_free = 1, 0, true
  while true do
    local at = first(source, last + 1)
    if not at then return end
    local lines = count_lines(sub(source, last + 1, at - 1))
    line = line + lines
    if is_free and (lines > 0 or last == 0) and begins_statement(source, at) then f(line, at) end
    last = last_of(source, at)
    is_free = ends_statement(source, at, last)
    line = line + count_lines(sub(source, at, last))
  end
end

-- A source, which LuaJIT has compiled before, with the calls.
local function rewritten(source)
  local pieces, copied = {}, 0
  each_statement(source, function(line, at)
    pieces[#pieces + 1] = sub(source, copied + 1, at - 1)
    pieces[#pieces + 1] = format('do local _=(0i)(%d,true)end ', line)
    copied = at - 1
  end)
  return concat(pieces) .. sub(source, copied + 1)
end

-- Tells whether a program stops itself, by a call of a debugger. Most files do not have the words,
-- which are looked for without a pattern: that takes a thirtieth of the time.
local function stops_itself(source)
  if find(source, 'mobdebug', 1, true) then return true end
  return find(source, 'debugger', 1, true)
    and (find(source, 'fb.debugger', 1, true) or find(source, '%f[%w_]debugger%s*%('))
end

--- The source of a file with the calls where a program may stop in it; nil where it may not.
function line_calls.for_file(source, name)
  local stops = is_wanted(name, source) or stops_itself(source);
  (stops and with_calls or without_calls)[name] = true
  return stops and rewritten(source)
end

--- Sets the function that tells whether the file of a chunk's name and a source has breakpoints,
-- and the one that is called with each line.
function line_calls.serve(wants, on_line)
  is_wanted = wants
  length_operator.call_lines_by(on_line)
end

--- Tells whether a chunk was compiled with the calls, and each time that it was compiled.
function line_calls.has_calls(name)
  return with_calls[name] and not without_calls[name]
end

--- The names of the chunks of files that were compiled without the calls, as keys of a table.
function line_calls.plain_files()
  return without_calls
end

--- The lines of a source at which it calls, as keys of a table.
function line_calls.lines(source)
  local lines = {}
  each_statement(source, function(line) lines[line] = true end)
  return lines
end

return line_calls
