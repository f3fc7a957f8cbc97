--- Calls whose parenthesis begins a line, as the reference's LuaJIT compiles them.
-- This LuaJIT refuses them: as in Lua 5.1, they might also be statements of their own. Where it has
-- refused a chunk for that, the parenthesis is moved up behind the function that it calls, so that
-- all else stays in its line, and the chunk is compiled again.
-- @module line_calls

local tokens = import 'core.tokens'

local tonumber, find, match, sub = tonumber, string.find, string.match, string.sub
local first, last_of, count_lines = tokens.first, tokens.last, tokens.count_lines
local loadstring = loadstring -- Lua's own

local line_calls = {}

local REFUSED = ':(%d+): ambiguous syntax %(function call x new statement%)'

-- The source with the parenthesis that is the first token of a line moved up behind the last token
-- before; nil where there is no such line.
local function moved(source, line)
  local last, current = 0, 1
  while true do
    local at = first(source, last + 1)
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

--- Tells whether Lua has refused a chunk because of such a call, by the message.
function line_calls.are_refused(message)
  return find(message, REFUSED) ~= nil
end

--- Compiles a source that was refused with a message, with its calls moved.
-- @return what loadstring does; and the source that was compiled
function line_calls.compile(source, message, ...)
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

return line_calls
