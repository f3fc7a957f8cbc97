--- The packages that are part of th and are loaded when a program requires them.
--
-- A searcher that comes before those for files finds them, and leaves a name to these where the
-- user has a module that runs here. That is a file on package.path that does not load the C library
-- of the package's original, or a C module that is not built against Torch7's own C core. So an
-- original that was only cloned, or built for another program, does not hide ours.
-- @module provided

local host, errors, python_calls = import('host', 'core.errors', 'core.python_calls')

local provided = {}

provided.C_CORE = 'luaT_' -- in the names of functions of the reference's C core

local searchpath = package.searchpath

-- Module name -> what Lua files of the original load: a C library, or a module that loads it; true
-- where they load none.
local PROVIDED = {
  cjson = true, ['cjson.safe'] = true, csvigo = 'csvigo.File', debugger = true, env = true,
  ['fb.debugger'] = true, gnuplot = true, hdf5 = 'hdf5._config', image = 'libimage',
  itorch = 'itorch._env', lfs = true, libmpiT = true, md5 = true,
  mobdebug = true, mpi = true, signal = 'signal.ffi', ['signal.complex'] = true,
  ['signal.fft'] = 'fftw3', socket = true, tds = 'tds.env',
  ['tds.elem'] = 'tds.env', threads = 'libthreads', ['threads.queue'] = 'libthreads',
  ['threads.serialize'] = 'MemoryFile', ['threads.sharedserialize'] = 'MemoryFile',
  ['torchmpi.ffi'] = 'libtorchmpi',
}

-- Modules whose chunk is not the one of their name, in which lines stand for dots.
local CHUNKS = {
  ['cjson.safe'] = 'cjson', ['threads.sharedserialize'] = 'threads_serialize',
  ['fb.debugger'] = 'debugger', mobdebug = 'debugger', env = 'dok', libmpiT = 'mpit',
  ['torchmpi.ffi'] = 'torchmpi', gnuplot = 'gnuplot.init', image = 'image.init',
}

-- Modules of the original that are fields of a package here.
local FIELDS = {
  ['itorch.Plot'] = 'Plot', ['tds.hash'] = 'Hash', ['tds.vec'] = 'Vec',
  ['threads.safe'] = 'safe', ['threads.threads'] = 'Threads',
}

--- Tells whether `require` loads a module of ours for a name.
function provided.provides(name)
  local library = PROVIDED[name]
  if not library then return false end
  local file = searchpath(name, package.path)
  if file then return library ~= true and python_calls.ask(host.file_mentions, file, library) end
  file = searchpath(name, package.cpath)
  return not file or python_calls.ask(host.file_mentions, file, provided.C_CORE)
end

--- A loader of a module of ours for `require`, which calls a function. Where that fails, the module
-- may be required again: Lua's require alone would call that a loop.
function provided.provide(name, load)
  local function finish(ok)
    if not ok then package.loaded[name] = nil end
  end
  return function() return errors.finally(finish, load) end
end

--- A searcher for package.loaders.
function provided.search(name)
  local package_name = name:match('^[^.]+')
  if FIELDS[name] and provided.provides(package_name) then
    return function() return require(package_name)[FIELDS[name]] end
  end
  if not provided.provides(name) then return end
  local chunk = CHUNKS[name] or name:gsub('%.', '_')
  return provided.provide(name, function() return import.instance('packages.' .. chunk, name) end)
end

return provided
