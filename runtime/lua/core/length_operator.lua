--- `#` of tables whose metatable has `__len`, as the reference's LuaJIT has it.
-- For this LuaJIT, `#` of a table is the number of its elements. So in sources that may use such
-- tables, `#x` is compiled as a call, `((0i)(x,"x"))`. To call the imaginary number 0i is to call a
-- function of ours, which needs no name that a program could hide or see. Once LuaJIT has compiled
-- such a call, it takes no longer than `#` of a plain table does.
--
-- Such a source defines a class or `__len`, requires a module that is not loaded yet, or runs
-- another file; so do all that are compiled after it.
-- @module length_operator

local tokens = import 'core.tokens'

local type, rawget, pcall, error, tostring = type, rawget, pcall, error, tostring
local find, match, gmatch, sub, format = string.find, string.match, string.gmatch, string.sub,
  string.format
local concat, sort, ipairs, huge = table.concat, table.sort, ipairs, math.huge
local getmetatable, getinfo = debug.getmetatable, debug.getinfo
local getlocal, getupvalue = debug.getlocal, debug.getupvalue
local loaded = package.loaded
local first, last_of, text_end = tokens.first, tokens.last, tokens.text_end
local comment_end = tokens.comment_end

local length_operator = {}

-- ------------------------------------------------------------------- the length

local function name_of_variable(name, level)
  for i = 1, huge do
    local variable = getlocal(level + 1, i)
    if variable == name then return 'local' end
    if not variable then break end
  end
  local f = getinfo(level + 1, 'f').func
  for i = 1, huge do
    local variable = getupvalue(f, i)
    if variable == name then return 'upvalue' end
    if not variable then return 'global' end
  end
end

-- Raises LuaJIT's error for a value without length. what: the name of a variable; or of a field,
-- behind a point; or nil.
local function fail(value, what)
  local field = what and match(what, '^%.(.*)')
  if field then
    what = format("field '%s' (a %s value)", field, type(value))
  elseif what then
    what = format("%s '%s' (a %s value)", name_of_variable(what, 3), what, type(value))
  else
    what = format('a %s value', type(value))
  end
  error('attempt to get length of ' .. what, 3)
end

local function plain_length(value) return #value end

local function callable(value)
  local mt = getmetatable(value)
  if mt and rawget(mt, '__call') then return value end
  error(format('attempt to call a %s value', type(value)), 0)
end

local function call_line() end -- the debugger's, with a line: see debugging/line_calls.lua

--- Sets the function that calls of lines are for.
function length_operator.call_lines_by(f)
  call_line = f
end

local function length(_, value, what)
  local kind = type(value)
  if kind == 'table' then
    local mt = getmetatable(value)
    if mt == nil then return #value end
    local f = rawget(mt, '__len')
    if f == nil then return #value end
    if type(f) ~= 'function' then f = callable(f) end
    local result = f(value, value)
    return result
  end
  if kind == 'string' then return #value end
  if what == true then return call_line(value) end -- a tail call: it looks at levels
  if kind ~= 'userdata' and kind ~= 'cdata' then fail(value, what) end
  local ok, result = pcall(plain_length, value)
  if ok then return result end
  if find(tostring(result), 'attempt to get length of', 1, true) then fail(value, what) end
  error(result, 0)
end

require('ffi').metatype('complex', { __call = length })

-- ------------------------------------------------------------------- the source

local CLOSING = { ['('] = ')', ['['] = ']', ['{'] = '}' }

-- The position of the bracket that closes the one at a position.
local function closing(source, at)
  local depth = 0
  while at do
    local token = sub(source, at, at)
    local last = last_of(source, at)
    if last == at then
      if CLOSING[token] then
        depth = depth + 1
      elseif token == ')' or token == ']' or token == '}' then
        depth = depth - 1
        if depth == 0 then return at end
      end
    end
    at = first(source, last + 1)
  end
end

local RESERVED = {}
for word in gmatch('and break do else elseif end false for function goto if in local nil not or '
    .. 'repeat return then true until while', '%a+') do
  RESERVED[word] = true
end

-- An index that is a text, as in x['field'].
local INDEX = '^%[%s*(["\'])([%a_][%w_]*)%1%s*%]$'

-- The last position of one step of an operand, such as a field or a call, which begins at a
-- position; nil where there is none. And the name of the field.
local function step_end(source, at)
  local token = sub(source, at, at)
  if token == '.' then
    local start = sub(source, at + 1, at + 1) ~= '.' and first(source, at + 1)
    if not start then return nil end
    local last = last_of(source, start)
    return last, '.' .. sub(source, start, last)
  elseif token == ':' then
    local start = sub(source, at + 1, at + 1) ~= ':' and first(source, at + 1)
    return start and last_of(source, start)
  end
  local last = text_end(source, at)
  if not last then
    last = CLOSING[token] and closing(source, at)
    local _, key = match(last and sub(source, at, last) or '', INDEX)
    return last, key and '.' .. key
  end
  return last
end

-- The last position of the operand of a # that begins at a position, and its name; nil where the
-- operand is a constant or has an operator itself.
local function operand_end(source, at)
  local last, name, inner
  local word = match(source, '^[%a_][%w_]*', at)
  if word then
    if RESERVED[word] then return nil end
    last, name = at + #word - 1, word
  elseif sub(source, at, at) == '(' then
    last = closing(source, at)
    inner, name = operand_end(source, first(source, at + 1))
    if not inner or first(source, inner + 1) ~= last then name = nil end
  elseif sub(source, at, at + 2) == '...' then
    return at + 2
  end
  while last do
    local following = first(source, last + 1)
    if not following then break end
    if sub(source, following, following) == '^' then return nil end -- it comes before the #
    local further, field = step_end(source, following)
    if not further then break end
    last, name = further, field
  end
  return last, name
end

-- The position of the first # of some code from a position on; nil where there is none. What lies
-- between is passed over quickly: packages have many lines.
local function next_hash(source, at)
  while true do
    at = find(source, '[#"\'%[-]', at)
    if not at or sub(source, at, at) == '#' then return at end
    at = (first(source, at) == at and last_of(source, at) or comment_end(source, at)) + 1
  end
end

-- The source with each # as a call; nil where there is none.
local function with_calls(source)
  local places, texts = {}, {} -- where texts get in, in place of a # or behind what is there
  local function add(place, text)
    if not texts[place] then places[#places + 1] = place end
    texts[place] = text .. (texts[place] or '')
  end
  local at = next_hash(source, 1)
  while at do
    local stop, name = operand_end(source, first(source, at + 1))
    if stop then
      add(at, '((0i)(')
      add(stop, (name and ',"' .. name .. '"' or '') .. '))')
    end
    at = next_hash(source, at + 1)
  end
  if #places == 0 then return nil end
  sort(places)
  local pieces, copied = {}, 0
  for _, place in ipairs(places) do
    local is_hash = sub(source, place, place) == '#'
    pieces[#pieces + 1] = sub(source, copied + 1, is_hash and place - 1 or place)
    pieces[#pieces + 1] = texts[place]
    copied = place
  end
  return concat(pieces) .. sub(source, copied + 1)
end

-- ------------------------------------------------------------------ which sources

local are_expected = false

local function requires_others(source)
  for _, word in ipairs{ 'dofile', 'include', 'loadfile' } do
    if find(source, word, 1, true) then return true end
  end
  for name in gmatch(source, 'require%s*(%b())') do
    name = match(name, '^%(%s*["\']([^"\']*)["\']%s*%)$')
    if not name or loaded[name] == nil then return true end
  end
  for name in gmatch(source, 'require%s*["\']([^"\']*)["\']') do
    if loaded[name] == nil then return true end
  end
  return false
end

--- Tells whether there may be such tables, so that each source from now on is compiled with calls.
function length_operator.is_expected()
  return are_expected
end

--- A source with a call in place of each `#`; nil where there is nothing to replace. LuaJIT must
-- have compiled the source before.
function length_operator.rewritten(source)
  if not are_expected then
    are_expected = find(source, '__len', 1, true) or find(source, 'torch.class', 1, true)
      or requires_others(source)
  end
  if not are_expected or not find(source, '#', 1, true) then return nil end
  return with_calls(source)
end

return length_operator
