--- The packages that th brings along: which module of ours `require` finds under which name.
-- Loaded at the start are those that the reference's th has among its globals.
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

-- LuaFileSystem, where the user has none: after all other searchers have failed.
local last = #package.loaders
table.insert(package.loaders, last, function(name)
  if name == 'lfs' then return function() return th.chunk('packages/lfs')(th) end end
end)

-- Parts of the reference's packages by which programs load them.
loaded.libtorch = th.torch
for part in ('Tensor File CmdLine FFInterface Tester TestSuite test'):gmatch('%a+') do
  loaded['torch.' .. part] = true
end

