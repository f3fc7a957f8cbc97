--- Shows control codes as digits: sent to a terminal, they could move the cursor, or make it type.
-- @module escapes

local escapes = {}

local byte, find, format, gsub = string.byte, string.find, string.format, string.gsub

local function escaped(code)
  return (gsub(code, '.', function(c) return format('\\%03d', byte(c)) end))
end

--- A text from a file, or a program's, with its control codes but newline and tab as digits.
function escapes.visible(text)
  if not find(text, '[%c\194]') then return text end
  return (gsub(gsub(text, '[%z\1-\8\11-\31\127]', escaped), '\194[\128-\159]', escaped))
end

--- A text with blanks behind it, as wide as a column.
function escapes.padded(text, width)
  return text .. (' '):rep(width - #text)
end

--- A name in one line: with newlines and tabs as digits, too.
function escapes.visible_name(name)
  return (gsub(escapes.visible(name), '[\t\n]', escaped))
end
local MAX_TEXT = 40 -- characters of a value that are shown

--- A text in one line; of a long one the beginning, and what marks that.
function escapes.shortened(text, mark)
  text = text:gsub('\n', '\\n')
  return #text <= MAX_TEXT and text or text:sub(1, MAX_TEXT) .. mark
end

return escapes
