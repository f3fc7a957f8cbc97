--- The package md5: MD5 sums of strings.
-- @module md5

local host, errors, python_calls = import('host', 'core.errors', 'core.python_calls')

local md5 = { _VERSION = 'MD5 1.3 (in th)', _DESCRIPTION = 'Checksum facilities for Lua' }

--- The sum of a string, as 16 bytes.
function md5.sum(...)
  return (python_calls.ask(host.md5, errors.check_string(1, select('#', ...), (...))))
end

--- The sum of a string, as hexadecimal digits.
function md5.sumhexa(...)
  local sum = python_calls.ask(host.md5, errors.check_string(1, select('#', ...), (...)))
  return (sum:gsub('.', function(c) return ('%02x'):format(c:byte()) end))
end

return md5
