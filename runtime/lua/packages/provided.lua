--- The packages that are part of th and are loaded when a program requires them.
--
-- A searcher that comes before those for files finds them, and leaves a name to these where the
-- user has a module that runs here. That is a file on package.path that does not load the C library
-- of the package's original, or a C module that is not built against Torch7's own C core. So an
-- original that was only cloned, or built for another program, does not hide ours.
-- @module provided

local th = ...
local host = th.host

local loaders, searchpath = package.loaders, package.searchpath

-- Module name -> the chunk that makes it; and what Lua files of the original load: a C
-- library, or a module that loads it.
local PROVIDED = {
  bit32 = { chunk = 'packages/bit32' },
  cjson = { chunk = 'packages/cjson/init' },
  ['cjson.safe'] = { chunk = 'packages/cjson/safe' },
  dok = { chunk = 'packages/dok' },
  csvigo = { chunk = 'packages/csvigo' },
  gnuplot = { chunk = 'packages/gnuplot/init' },
  hdf5 = { chunk = 'packages/hdf5/init', library = 'hdf5._config' },
  image = { chunk = 'packages/image/init', library = 'libimage' },
  lfs = { chunk = 'packages/lfs' },
  md5 = { chunk = 'packages/md5' },
  signal = { chunk = 'packages/signal/init', library = 'signal.ffi' },
  ['signal.complex'] = { chunk = 'packages/signal/complex' },
  ['signal.convolution'] = { chunk = 'packages/signal/convolution', library = 'signal.ffi' },
  ['signal.extramath'] = { chunk = 'packages/signal/extramath' },
  ['signal.fft'] = { chunk = 'packages/signal/fft', library = 'fftw3' },
  ['signal.wavelet'] = { chunk = 'packages/signal/wavelet' },
  socket = { chunk = 'packages/socket' },
  threads = { chunk = 'packages/threads/init', library = 'libthreads' },
  ['threads.serialize'] = { chunk = 'packages/threads/serialize', library = 'MemoryFile' },
  ['threads.sharedserialize'] = {
    chunk = 'packages/threads/sharedserialize', library = 'MemoryFile',
  },
  tds = { chunk = 'packages/tds/init', library = 'tds.env' },
}

--- Whether `require` loads a module of ours for a name.
function th.provides(name)
  local ours = PROVIDED[name]
  if not ours then return false end
  local file = searchpath(name, package.path)
  if file then return ours.library and th.ask(host.file_mentions, file, ours.library) end
  file = searchpath(name, package.cpath)
  return not file or th.ask(host.file_mentions, file, th.C_CORE)
end

table.insert(loaders, 2, function(name)
  if not th.provides(name) then return end
  return function() return th.chunk(PROVIDED[name].chunk)(th) end
end)
