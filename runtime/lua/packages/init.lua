--- The packages that are part of th, and the names under which `require` finds them.
-- Those that are globals in the reference's th are loaded at the start.
-- @module packages

local th = ...

local loaded = package.loaded

loaded.paths = th.chunk('packages/paths')(th)
loaded.libpaths = loaded.paths
th.chunk('packages/require')(th)
loaded.sys = th.chunk('packages/sys')(th)
loaded['sys.colors'], loaded['sys.fpath'] = sys.COLORS, sys.fpath -- luacheck: ignore 113
loaded.libsys = loaded.sys
loaded.xlua = th.chunk('packages/xlua')(th)
loaded['xlua.OptionParser'], loaded['xlua.Profiler'] = true, true
th.chunk('packages/trepl')(th)

-- The backend of nn comes before the module of nn that loads the original's C library.
package.preload['nn.THNN'] = function() return th.load_thnn() end

-- LuaFileSystem, where it is not installed: this searcher comes after those that look for files.
local last = #package.loaders
table.insert(package.loaders, last, function(name)
  if name == 'lfs' then return function() return th.chunk('packages/lfs')(th) end end
end)

-- Modules of the reference's packages that programs load by their own names.
loaded.libtorch = th.torch
for part in ('Tensor File CmdLine FFInterface Tester TestSuite test'):gmatch('%a+') do
  loaded['torch.' .. part] = true
end

