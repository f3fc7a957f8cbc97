--- The packages that are part of th, and the names under which `require` finds them. Packages that
-- are globals in the reference's th are loaded at the start, those of provided.lua when they are
-- required.
-- @module packages

local torch, provided = import('torch', 'packages.provided')

local loaded = package.loaded

loaded.paths = import 'packages.paths'
loaded.libpaths = loaded.paths
import 'packages.require'
loaded.sys = import 'packages.sys'
loaded['sys.colors'], loaded['sys.fpath'] = sys.COLORS, sys.fpath
loaded.libsys = loaded.sys
loaded.xlua = import 'packages.xlua'
loaded['xlua.OptionParser'], loaded['xlua.Profiler'] = true, true
loaded.dok = import 'packages.dok'
loaded['dok.inline'] = true
import 'packages.trepl'
table.insert(package.loaders, 2, provided.search)
import 'packages.gpu'

-- The backend of nn comes before the module of nn that loads the original's C library.
package.preload['nn.THNN'] = provided.provide('nn.THNN', function()
  return import 'thnn.entries'
end)

-- Modules of the reference's packages that programs load by their own names.
loaded.libtorch = torch
for part in ('Tensor File CmdLine FFInterface Tester TestSuite test'):gmatch('%a+') do
  loaded['torch.' .. part] = true
end

