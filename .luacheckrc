-- The Lua half of the runtime runs in LuaJIT. It completes Lua's own libraries (122, 142, 143),
-- and writes `not (x < y)` where nan must count as true (581).
std = 'luajit'
-- What each module finds in its environment (runtime/engine/init.lua), besides LuaJIT's own.
read_globals = { 'import', 'torch', 'paths', 'sys', 'xlua' }
max_line_length = 100
ignore = { '122', '142', '143', '581' }
