--- The services for front ends: their own functions, the files of modules, samples of values.
-- @module front_ends

local host, torch, bridge, errors = import('host', 'torch', 'core.bridge', 'core.errors')
local front_end, python_calls, calls = import('core.front_end', 'core.python_calls', 'engine.calls')
local completion, session_locals = import('engine.completion', 'engine.session_locals')
local deserialize, gpu, provided = import('files.deserialize', 'packages.gpu', 'packages.provided')
local penlight, required = import('packages.penlight', 'packages.require')
local interrupts, loading = import('stopping.interrupts', 'stopping.loading')
local compiling = import 'core.compiling'

local stdout = io.stdout
local write, flush = getmetatable(stdout).__index.write, getmetatable(stdout).__index.flush

local front_ends = {}

-- A function of Lua that calls a Python function with values: tensors, numbers and strings. A table
-- of numbers is passed as a tensor. The text that Python returns is printed.
local function caller(f)
  return function(...)
    local n = select('#', ...)
    local values = { ... }
    for i = 1, n do
      local value = values[i]
      if type(value) == 'table' then
        local ok, tensor = pcall(torch.DoubleTensor, value)
        value = ok and tensor or value
      end
      values[i] = bridge.to_python(value)
    end
    flush(stdout)
    local text = python_calls.ask(f, unpack(values, 1, n))
    if text then write(stdout, text) end
  end
end

--- Makes a global function of a Python function that gets values.
function front_ends.define(name, f)
  _G[name] = caller(f)
  local known = _G._preloaded_
  if type(known) == 'table' then known[name] = true end -- who() leaves it out
end

--- Sets the Python function by which packages show pictures; without one they write files.
function front_ends.show_pictures_by(f)
  front_end.show_picture = caller(f)
end

--- Runs a chunk with functions that call Python, and returns the table that the chunk returns.
function front_ends.module(chunk, ...)
  local functions = { ... }
  for i, f in ipairs(functions) do
    functions[i] = function(...) return python_calls.ask(f, ...) end
  end
  return chunk(unpack(functions))
end

--- Calls a function of such a table.
function front_ends.call(f, ...)
  return f(...)
end

-- ------------------------------------------------- variables in files, and modules anew

local save, load, trusting = torch.save, torch.load, deserialize.trusting

--- Writes the value of a variable to a file; returns false where it has none, nil, or the message
-- and the traceback of an error.
function front_ends.save_variable(name, path)
  local value = completion.value_at(name)
  if value == nil then return false end
  return calls.run(save, path, value)
end

--- Sets a variable to what `save_variable` has written, functions among it.
function front_ends.load_variable(name, path)
  return calls.run(function() session_locals.set_variable(name, (trusting(load, path))) end)
end

--- Calls a function of reloading.lua.
function front_ends.reloading(name, ...)
  return import 'engine.reloading'[name](...)
end

local searchpath = package.searchpath

--- Returns the file from which `require` would load a module, without loading anything: '' for a
-- module that is there already, nil for one that is not found.
function front_ends.find_module(name)
  if gpu.lacks_gpu(name) then return nil end
  if package.loaded[name] or package.preload[name] or provided.provides(name) then return '' end
  return searchpath(name, package.path) or searchpath(name, package.cpath) or nil
end

--- The packages that `th --install` brings: see packages/sources.lua.
function front_ends.package_sources()
  return import 'packages.sources'
end

--- The packages that there cannot be: lines of a name, what it is and what to do, between tabs.
function front_ends.impossible_packages()
  local lines = {}
  for name, about in pairs(required.impossible_packages) do
    lines[#lines + 1] = table.concat({ name, unpack(about) }, '\t')
  end
  return table.concat(lines, '\n')
end

--- The names of Penlight's modules: those that are hardly a program's own, and the others.
function front_ends.penlight_names()
  return penlight.distinct .. '\n' .. penlight.common
end

front_ends.penlight_advice = penlight.advice

-- Files in which a program may stop call the debugger at their lines.
compiling.add_lines_by(function(source, name)
  return import 'debugging.line_calls'.for_file(source, name)
end)

-- The debugger's half in Lua.
local function debugger() return import 'debugging.stepper' end

--- Stops the program where it calls this, and asks the debugger what is to be done.
function front_end.enter_debugger()
  if not host.has_debugger() then errors.fail('there is no debugger here: it is at the prompt, and '
    .. 'in scripts of th') end
  loading.count_loops()
  debugger().stop('call')
end

--- Opens the prompt in a script.
function front_end.open_prompt()
  if not host.has_prompt() then
    errors.fail('the prompt is opened by `th`, or in a script that it runs; at the prompt '
      .. 'debugger() stops a function')
  elseif coroutine.running() then
    errors.fail('the prompt cannot be opened in a coroutine')
  end
  io.stdout:flush()
  debugger().open_prompt()
end

--- Asks the debugger while the program runs.
interrupts.attend_by(function(reason) debugger().stop(reason) end)

--- Makes the debugger's module a global of the program.
function front_ends.offer_debugger()
  rawset(_G, 'debugger', import 'packages.debugger')
  _G._preloaded_.debugger = true
end

--- Keeps the frames of each error of an input from now on, for `%debug`.
function front_ends.keep_frames()
  errors.note_errors_by(function() debugger().keep_frames() end)
end

--- Lets go of the frames of the last error.
function front_ends.forget_frames()
  debugger().forget_frames()
end

--- Answers a request about the frames of the last error, or about breakpoints.
function front_ends.debug(request)
  return calls.between_inputs(debugger().answer, request)
end

--- Begins to take samples of which line of the program runs (see packages/sampler.lua).
function front_ends.start_samples()
  import 'packages.sampler'.start()
end

--- Ends it; returns lines of place, state of LuaJIT and number of samples, with tabs between them.
function front_ends.end_samples()
  return import 'packages.sampler'.stop()
end

return front_ends
