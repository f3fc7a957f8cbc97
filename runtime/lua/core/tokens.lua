--- Finds the tokens of Lua sources. LuaJIT has compiled these before, so their syntax is right.
-- @module tokens

local find, match, sub, gsub = string.find, string.match, string.sub, string.gsub

local tokens = {}

-- The position of the last character of a text in long brackets that begin at a position.
local function bracket_end(source, at)
  local level = match(source, '^%[(=*)%[', at)
  if not level then return nil end
  local _, last = find(source, ']' .. level .. ']', at, true)
  return last or #source
end

-- The position of the last character of a text in quotes that begins at a position.
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

--- The position of the last character of a text, in quotes or long brackets, that begins at a
-- position; nil where none does.
function tokens.text_end(source, at)
  return string_end(source, at) or bracket_end(source, at)
end

--- The position of the last character of the token that begins at a position: a word, a number, a
-- text, or one character of whatever else.
function tokens.last(source, at)
  local _, word_end = find(source, '^[%w_]+', at)
  return word_end or tokens.text_end(source, at) or at
end

--- The position of the last character of the comment that begins at a position.
function tokens.comment_end(source, at)
  return bracket_end(source, at + 2) or find(source, '\n', at, true) or #source
end

--- The position of the next token behind white space and comments; nil at the source's end.
function tokens.first(source, at)
  while true do
    at = find(source, '%S', at)
    if not at or sub(source, at, at + 1) ~= '--' then return at end
    at = tokens.comment_end(source, at) + 1
  end
end

--- The number of line ends in a text.
function tokens.count_lines(text)
  local _, lines = gsub(text, '\n', '')
  return lines
end

return tokens
