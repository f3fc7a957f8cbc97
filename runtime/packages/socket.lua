--- The package socket: the time, waiting and the machine's name. Programs that only measure time
-- need no more of LuaSocket; its connections are errors here.
-- @module socket

local host, errors, python_calls = import('host', 'core.errors', 'core.python_calls')

local socket = { _VERSION = 'LuaSocket 3.0.0 (in th, without connections)', dns = {} }

--- The seconds since the beginning of 1970, with their fraction.
function socket.gettime() return (python_calls.ask(host.clock)) end

--- Waits for some seconds.
function socket.sleep(...)
  local given = ...
  local seconds = type(given) ~= 'boolean' and tonumber(given)
  if not seconds then errors.type_error(1, 'number', given, select('#', ...) == 0) end
  if seconds > 0 then python_calls.ask(host.os_sleep, seconds) end
end

--- The machine's name.
function socket.dns.gethostname()
  local _, name = paths.uname()
  return name
end

local CONNECTING = { 'bind', 'connect', 'connect4', 'connect6', 'select', 'tcp', 'tcp4', 'tcp6',
  'udp', 'udp4', 'udp6' }

for _, name in ipairs(CONNECTING) do
  socket[name] = function()
    errors.fail(('socket.%s: connections are not provided here, only socket.gettime, socket.sleep '
      .. 'and socket.dns.gethostname; for more, install LuaSocket for LuaJIT (luarocks install '
      .. 'luasocket)')
      :format(name))
  end
end

return socket
