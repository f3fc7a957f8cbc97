--- The packages that are part of th, and the names under which `require` finds them.
-- Those that are globals in the reference's th are loaded at the start, those of provided.lua when
-- they are required.
-- @module packages

local th = ...

local loaded = package.loaded

loaded.paths = th.chunk('packages/paths')(th)
loaded.libpaths = loaded.paths
th.chunk('packages/require')(th)
loaded.sys = th.chunk('packages/sys')(th)
loaded['sys.colors'], loaded['sys.fpath'] = sys.COLORS, sys.fpath
loaded.libsys = loaded.sys
loaded.xlua = th.chunk('packages/xlua')(th)
loaded['xlua.OptionParser'], loaded['xlua.Profiler'] = true, true
th.chunk('packages/trepl')(th)
th.chunk('packages/provided')(th)
th.chunk('packages/gpu')(th)

-- The backend of nn comes before the module of nn that loads the original's C library.
package.preload['nn.THNN'] = th.provide('nn.THNN', function()
  th.thnn = th.thnn or th.chunk('thnn/door')(th)
  return th.thnn
end)

-- Modules of the reference's packages that programs load by their own names.
loaded.libtorch = th.torch
for part in ('Tensor File CmdLine FFInterface Tester TestSuite test'):gmatch('%a+') do
  loaded['torch.' .. part] = true
end

