--- What front ends bring along and ask for: their own functions, modules' files, samples.
-- @module front_ends

local th = ...
local shell = th.shell

local stdout = io.stdout
local write, flush = getmetatable(stdout).__index.write, getmetatable(stdout).__index.flush

-- A function of Lua that calls a Python function with values: tensors, numbers and strings. A table
-- of numbers is passed as a tensor. The text that Python returns is printed.
local function caller(f)
  return function(...)
    local n = select('#', ...)
    local values = { ... }
    for i = 1, n do
      local value = values[i]
      if type(value) == 'table' then
        local ok, tensor = pcall(th.torch.DoubleTensor, value)
        value = ok and tensor or value
      end
      values[i] = th.to_python(value)
    end
    flush(stdout)
    local text = th.ask(f, unpack(values, 1, n))
    if text then write(stdout, text) end
  end
end

--- Makes a global function of a Python function that gets values.
function shell.define(name, f)
  _G[name] = caller(f)
  local known = _G._preloaded_
  if type(known) == 'table' then known[name] = true end -- who() leaves it out
end

--- Sets the Python function by which packages show pictures; without one they write files.
function shell.show_pictures_by(f)
  th.show_picture = caller(f)
end

--- Runs a chunk with functions that call Python, and returns the table that the chunk returns.
function shell.module(chunk, ...)
  local functions = { ... }
  for i, f in ipairs(functions) do
    functions[i] = function(...) return th.ask(f, ...) end
  end
  return chunk(unpack(functions))
end

--- Calls a function of such a table.
function shell.call(f, ...)
  return f(...)
end

-- ------------------------------------------------- variables in files, and modules anew

local save, load, trusting = th.torch.save, th.torch.load, th.serial.trusting

--- Writes the value of a variable to a file; returns false where it has none, nil, or the message
-- and the traceback of an error.
function shell.save_variable(name, path)
  local value = th.value_at(name)
  if value == nil then return false end
  return th.protected(save, path, value)
end

--- Sets a variable to what `save_variable` has written, functions among it.
function shell.load_variable(name, path)
  return th.protected(function() th.set_variable(name, (trusting(load, path))) end)
end

--- Sets a variable: a local of the session, or otherwise a global.
function shell.set_variable(name, value)
  th.set_variable(name, value)
end

local reloading

--- Calls a function of reloading.lua.
function shell.reloading(name, ...)
  reloading = reloading or th.chunk('reloading')(th)
  return reloading[name](...)
end

local searchpath = package.searchpath

--- Where `require` would find a module, without loading anything: its file, '' for a module that
-- is there already, or nil.
function shell.find_module(name)
  if th.lacks_gpu(name) then return nil end
  if package.loaded[name] or package.preload[name] or th.provides(name) then return '' end
  return searchpath(name, package.path) or searchpath(name, package.cpath) or nil
end

--- The packages that `th --install` brings: see packages/sources.lua.
function shell.package_sources()
  return th.chunk('packages/sources')()
end

--- The packages that there cannot be: lines of a name, what it is and what to do, between tabs.
function shell.impossible_packages()
  local lines = {}
  for name, about in pairs(th.impossible_packages) do
    lines[#lines + 1] = table.concat({ name, unpack(about) }, '\t')
  end
  return table.concat(lines, '\n')
end

local debugging

-- The debugger's half in Lua.
local function debugger()
  debugging = debugging or th.chunk('debugging/init')(th)
  return debugging
end

--- Stops the program where it calls this, and asks the debugger what is to be done.
function th.enter_debugger()
  if not th.host.has_debugger() then th.fail('there is no debugger here: it is at the prompt, and '
    .. 'in scripts of th') end
  th.loading.count_loops()
  debugger().stop('call')
end

--- Opens the prompt in a script.
function th.open_prompt()
  if not th.host.has_prompt() then
    th.fail('the prompt is opened by `th`, or in a script that it runs; at the prompt debugger() '
      .. 'stops a function')
  elseif coroutine.running() then
    th.fail('the prompt cannot be opened in a coroutine')
  end
  io.stdout:flush()
  debugger().open_prompt()
end

--- Asks the debugger while the program runs.
function th.attend()
  debugger().stop('attention')
end

--- Makes the debugger's module a global of the program.
function shell.offer_debugger()
  rawset(_G, 'debugger', th.chunk('packages/debugger')(th))
  _G._preloaded_.debugger = true
end

--- Keeps the frames of each error of an input from now on, for `%debug`.
function shell.keep_frames()
  th.note_error = function() debugger().keep_frames() end
end

--- Lets go of the frames of the last error.
function shell.forget_frames()
  debugger().forget_frames()
end

--- Answers a request about the frames of the last error, or about breakpoints.
function shell.debug(request)
  return th.between_inputs(debugger().answer, request)
end

local sampler

--- Begins to take samples of which line of the program runs (see packages/sampler.lua).
function shell.start_samples()
  sampler = sampler or th.chunk('packages/sampler')(th)
  sampler.start()
end

--- Ends it; returns lines of place, state of LuaJIT and number of samples, with tabs between them.
function shell.end_samples()
  return sampler.stop()
end
