--- Runs the inputs of a session, whose locals outlive the input that declares them.
-- An input that mentions locals of the session is compiled as a function within a chunk that
-- declares these names; then the function's upvalues are joined to those of the session, so that it
-- and the functions of former inputs share the variables. The locals that an input itself declares
-- are taken over where it ends, by functions whose upvalues they are (engine/input_reader.py).
-- Where it ends with an error, their values are.
-- @module session_locals

local host, errors, shell = import('host', 'core.errors', 'engine.shell')

local session_locals = {}

local getinfo, getlocal, huge = debug.getinfo, debug.getlocal, math.huge
local getupvalue, setupvalue, upvaluejoin = debug.getupvalue, debug.setupvalue, debug.upvaluejoin
local find, gmatch, match, sub = string.find, string.gmatch, string.match, string.sub
local concat, rawequal = table.concat, rawequal
local stack_depth = errors.stack_depth

local KEEP = host.KEEP

-- The cell of each local of the session: a function and the index of its upvalue that is the local.
local cells = {}
local order = {} -- the names, in the order in which they were first declared

local function set_cell(name, holder, index)
  if not cells[name] then order[#order + 1] = name end
  cells[name] = { holder = holder, index = index }
end

-- A function with one upvalue, which has a value.
local function closure_over(value)
  return function() return value end
end

local is_lent = false -- whether the variables are those of a function, which is about to go on
local are_locals_kept = false -- whether the input that runs has handed over its locals

-- Keeps the locals that are upvalues of some functions; engine/input_reader.py inserts calls.
local function keep(...)
  for i = 1, select('#', ...) do
    local taker = select(i, ...)
    for index = 1, huge do
      local name = getupvalue(taker, index)
      if not name then break end
      set_cell(name, taker, index)
    end
  end
  are_locals_kept = true
end

-- The level of a function for the caller; nil where it is not running. It is looked for from the
-- outermost level on, near which it is.
local function level_of(f)
  for level = stack_depth(), 2, -1 do
    if getinfo(level, 'f').func == f then return level - 1 end
  end
end

-- Takes over the values of the locals of a function that has raised an error. The first variables
-- that are active are those that it declares outside of blocks, in order.
local function keep_values(f, declared)
  local level = level_of(f)
  if not level then return end
  local index = 1
  for name in gmatch(declared, '%S+') do
    local active, value = getlocal(level, index)
    if active ~= name then return end
    set_cell(name, closure_over(value), 1)
    index = index + 1
  end
end

-- The function that holds the value of a name of the session in an upvalue, and its index; nil for
-- other names.
local function cell_of(name)
  local cell = cells[name]
  if cell then return cell.holder, cell.index end
  local number = match(name, '^_(%d+)$')
  if number and rawget(_G, name) == nil then
    local value = shell.result(tonumber(number))
    if value ~= nil then return closure_over(value), 1 end
  end
end

-- The function that a source is, within a chunk that declares the names of some cells.
local function compile_within(source, name, names)
  local text = 'local ' .. concat(names, ',') .. ' return function(...) ' .. source .. '\nend'
  local outer, message, incomplete = shell.compile(text, name)
  if not outer then return nil, message, incomplete end
  return outer()
end

-- The function that a source is, with the locals of the session as upvalues.
local function compile_with_locals(source, name, mentioned)
  local names, joins = { KEEP }, { [KEEP] = { holder = closure_over(keep), index = 1 } }
  for word in gmatch(mentioned, '%S+') do
    local holder, index = cell_of(word)
    if holder then
      names[#names + 1] = word
      joins[word] = { holder = holder, index = index }
    end
  end
  local f, message, incomplete = compile_within(source, name, names)
  if not f then return nil, message, incomplete end
  local index = 1
  local upvalue = getupvalue(f, index)
  while upvalue do
    upvaluejoin(f, index, joins[upvalue].holder, joins[upvalue].index)
    index = index + 1
    upvalue = getupvalue(f, index)
  end
  return f
end

local function mentions_any(mentioned)
  for name in gmatch(mentioned, '%S+') do
    if cell_of(name) then return true end
  end
  return false
end

-- Compiles an input in the first of its forms that compiles: a call at its end is an expression
-- rather than a statement. Returns the function, whether it returns values behind a nil, and the
-- source of the form that takes over locals; or nil, the message, and whether only the end is
-- missing.
local function compile_any(name, expression, statements, keeping, trailing, trailing_keeping)
  local f = shell.compile(expression, name)
  if f then return f, true, expression end
  f = trailing and shell.compile(trailing, name)
  if f then return f, true, trailing_keeping end
  local message, incomplete
  f, message, incomplete = shell.compile(statements, name)
  if f then return f, false, keeping end
  return nil, message, incomplete
end

-- The traceback of a chunk that was compiled as a function within another one.
local function as_main_chunk(frames, name)
  local last = 'in function <' .. sub(name, 2) .. ':1>'
  if sub(frames, -#last) ~= last then return frames end
  return sub(frames, 1, -#last - 1) .. 'in main chunk'
end

-- A traceback without what is below the input: the function that has opened the prompt.
local function within_input(frames, name)
  local place, at = '\n\t' .. sub(name, 2) .. ':', 0
  local last
  repeat last, at = at, find(frames, place, at + 1, true) until not at
  local ends = find(frames, '\n', last + 1, true)
  return ends and sub(frames, 1, ends - 1) or frames
end

--- Runs an input of a session.
-- @param name the chunk's name
-- @param number the number by which its result is known, or nil
-- @param quiet whether values are neither printed nor kept
-- @param before_values called before the values are printed, or nil
-- @param mentioned the names in it
-- @param declared the names of the locals that it declares outside of blocks, in order
-- @param ... its forms: as `return nil, ...`; as statements; these with calls that take over the
--   locals; and, or nil, statements with an expression behind them, without and with such calls
-- @return nil, or the message and the traceback of the error, or whether only the end is missing
--   where it does not compile
function session_locals.enter(name, number, quiet, before_values, mentioned, declared, ...)
  local f, has_values, source = compile_any(name, ...)
  if not f then return has_values, source end
  local is_joined = declared ~= '' or mentions_any(mentioned)
  if is_joined then
    local message, incomplete
    f, message, incomplete = compile_with_locals(source, name, mentioned)
    if not f then return message, incomplete end
  end
  f = shell.prepare_input(f)
  are_locals_kept = declared == ''
  local function handler(object)
    if not are_locals_kept then pcall(keep_values, f, declared) end
    return errors.handle_error(object)
  end
  shell.number_results(number)
  local message, frames = shell.run_input(f, has_values, quiet, before_values, handler)
  shell.number_results(nil)
  if not message then return nil end
  if is_lent then frames = within_input(frames, name) end
  return message, is_joined and as_main_chunk(frames, name) or frames
end

--- Sets a local of the session where there is one of that name, and otherwise a global.
function session_locals.set_variable(name, value)
  local cell = cells[name]
  if cell then
    setupvalue(cell.holder, cell.index, value)
  else
    rawset(_G, name, value)
  end
end

--- Lets the inputs of a session use the variables of a frame of the program instead of its own.
-- Returns a function that ends this; it calls `give(variable, value)` for each local that the
-- inputs have set.
function session_locals.lend_locals(frame, give)
  local own_cells, own_order, lent = cells, order, {}
  cells, order, is_lent = {}, {}, true
  for i, variable in ipairs(frame.variables) do
    lent[i] = variable.kind == 'local' and closure_over(variable.value) or frame.func
    if variable.kind == 'local' then set_cell(variable.name, lent[i], 1) end
    if variable.kind == 'upvalue' then set_cell(variable.name, frame.func, variable.index) end
  end
  return function()
    for i, variable in ipairs(frame.variables) do
      local _, value = getupvalue(lent[i], 1)
      if variable.kind == 'local' and not rawequal(value, variable.value) then
        give(variable, value)
      end
    end
    cells, order, is_lent = own_cells, own_order, false
  end
end

--- The locals of the session: a list of names in the order of their declaration, and their values
-- by name.
function session_locals.all()
  local names, values = {}, {}
  for i, name in ipairs(order) do
    local cell = cells[name]
    local _, value = getupvalue(cell.holder, cell.index)
    names[i], values[name] = name, value
  end
  return names, values
end

--- The value of a name that inputs see before the globals: of a local of the session, or the result
-- of an input. nil for other names.
function session_locals.value_of(name)
  local holder, index = cell_of(name)
  if holder then return (select(2, getupvalue(holder, index))) end
end

--- Calls a function with the name and value of each variable that the program has made, and whether
-- it is a local of the session. No code of the program is run: fields are read raw.
function session_locals.each_variable(f)
  local names, values = session_locals.all()
  for _, name in ipairs(names) do f(name, values[name], true) end
  local hidden = rawget(_G, '_preloaded_')
  for name, value in next, _G do
    local is_global = type(name) == 'string' and values[name] == nil
    if is_global and not (type(hidden) == 'table' and rawget(hidden, name)) then f(name, value) end
  end
end

return session_locals
