--- The package md5: MD5 sums of strings, and the cipher that Lua's package makes of them.
-- @module md5

local host, errors, python_calls = import('host', 'core.errors', 'core.python_calls')
local text, bxor = errors.check_string, bit.bxor
local byte, char, sub, rep = string.byte, string.char, string.sub, string.rep
local concat, clock = table.concat, os.time

local MAX_KEY, BLOCK = 256, 16 -- bytes

local function sum(s) return (python_calls.ask(host.md5, s)) end

-- The bytes of two strings of one length, each combined with the other's.
local function combined(a, b)
  local out = {}
  for i = 1, #a do out[i] = char(bxor(byte(a, i), byte(b, i))) end
  return concat(out)
end

-- Enciphers or deciphers: the sum of the seed and the key is combined with the first 16 bytes,
-- then the sum of what was enciphered there and the key with the next ones, and so on.
local function run(message, key, seed, is_cipher)
  if #key > MAX_KEY then errors.fail(('key too long (> %d)'):format(MAX_KEY)) end
  local block, out = seed .. rep('\0', BLOCK - #seed), {}
  for at = 1, #message, BLOCK do
    local part = sub(message, at, at + BLOCK - 1)
    local result = combined(part, sub(sum(block .. key), 1, #part))
    out[#out + 1] = result
    local cipher = is_cipher and part or result
    block = cipher .. sub(block, #cipher + 1)
  end
  return concat(out)
end

local md5 = { _VERSION = 'MD5 1.3 (in th)', _DESCRIPTION = 'Checksum facilities for Lua' }

--- The sum of a string, as 16 bytes.
function md5.sum(...)
  return sum(text(1, select('#', ...), (...)))
end

--- The sum of a string, as hexadecimal digits.
function md5.sumhexa(...)
  local s = sum(text(1, select('#', ...), (...)))
  return (s:gsub('.', function(c) return ('%02x'):format(byte(c)) end))
end

--- A string of the bits in which two strings of one length differ.
function md5.exor(...)
  local a, b = ...
  local n = select('#', ...)
  a, b = text(1, n, a), text(2, n, b)
  if #a ~= #b then errors.argument_error(2, 'lengths must be equal') end
  return combined(a, b)
end

--- Enciphers a message.
-- @param seed at most 16 bytes; by default the time
function md5.crypt(...)
  local message, key, seed = ...
  local n = select('#', ...)
  if n == 2 then seed, n = tostring(clock()), 3 end
  seed = text(3, n, seed)
  message, key = text(1, n, message), text(2, n, key)
  if #seed > BLOCK then errors.fail(('seed too long (> %d)'):format(BLOCK)) end
  return char(#seed) .. seed .. run(message, key, seed, false)
end

--- Deciphers what crypt has returned.
function md5.decrypt(...)
  local cipher, key = ...
  local n = select('#', ...)
  cipher = text(1, n, cipher)
  local length = byte(cipher) or 0
  if #cipher < length + 1 or length > BLOCK then
    errors.argument_error(1, 'invalid cyphered string')
  end
  return run(sub(cipher, length + 2), text(2, n, key), sub(cipher, 2, length + 1), true)
end

return md5
