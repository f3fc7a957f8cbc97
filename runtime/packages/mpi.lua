--- The package mpi: several processes that run one program, each with a rank, from 0 on. What they
-- tell each other goes by MPI: tensors from memory to memory, other values serialized.
--
-- The modules torchmpi.ffi and libmpiT, by which the Lua files of these packages reach MPI, are
-- torchmpi.lua and mpit.lua beside this one.
-- @module mpi

local bridge, errors, deserialize = import('core.bridge', 'core.errors', 'files.deserialize')
local output = import 'packages.output'

local python = bridge.python_half 'mpi'
local rank, size = python.start()

-- An error that nothing catches, and os.exit, end the other processes, too: they may wait for this
-- one for ever.
if size > 1 then
  output.end_all_by(function(status, message, traceback)
    if not message then return python.finish(status) end
    python.finish(status, ('th: rank %d: %s\n%s\n'):format(rank, message, traceback))
  end)
end

local WORLD = 0
local OPERATIONS = { sum = true, prod = true, max = true, min = true, land = true, lor = true,
  band = true, bor = true, bxor = true }

local mpi = { async = {} }

function mpi.rank() return rank end

function mpi.size() return size end

--- Waits until all processes have called this.
function mpi.barrier() python.call('Barrier', true, WORLD) end

--- The seconds since some time in the past.
mpi.time = require('socket').gettime

local function is_tensor(x) return type(x) == 'userdata' and torch.isTensor(x) end

local function check_rank(at, value, default)
  if value == nil then return default end
  if type(value) ~= 'number' then errors.type_error(at, 'number', value) end
  if value % 1 ~= 0 or value < 0 or value >= size then
    errors.argument_error(at, ('a rank from 0 to %d expected, got %s'):format(size - 1, value))
  end
  return value
end

local function check_operation(at, name)
  name = name or 'sum'
  if OPERATIONS[name] then return name end
  errors.argument_error(at, ("'sum', 'prod', 'max', 'min' or another operation of MPI expected, "
    .. 'got %s'):format(tostring(name)))
end

-- ------------------------------------------------------------------- values of other kinds

local function pack(value) return torch.serialize(value) end

local function read(text)
  return text and deserialize.trusting(torch.deserialize, text)
end

local function read_all(...)
  local values = { ... }
  for i = 1, #values do values[i] = read(values[i]) end
  return #values > 0 and values or nil
end

-- A number as a tensor, which then has the result.
local function reduced(name, x, ...)
  if type(x) ~= 'number' then errors.type_error(1, 'tensor or number', x) end
  return mpi[name](torch.DoubleTensor{ x }, ...)[1]
end

-- The functions for values that are no tensors, by name.
local of_values = {
  broadcast = function(x, root)
    root = check_rank(2, root, 0)
    return read(python.exchange('bcast', WORLD, root, rank == root and pack(x) or ''))
  end,
  allreduce = function(...) return reduced('allreduce', ...) end,
  reduce = function(...) return reduced('reduce', ...) end,
  allgather = function(x) return read_all(python.exchange('allgather', WORLD, 0, pack(x))) end,
  gather = function(x, root)
    return read_all(python.exchange('gather', WORLD, check_rank(2, root, 0), pack(x)))
  end,
  scatter = function(list, root)
    root = check_rank(2, root, 0)
    local texts = {}
    if rank == root then
      if type(list) ~= 'table' then errors.type_error(1, 'table', list) end
      if #list ~= size then
        errors.argument_error(1, ('%d values expected, got %d'):format(size, #list))
      end
      for i = 1, size do texts[i] = pack(list[i]) end
    end
    return read(python.exchange('scatter', WORLD, root, unpack(texts)))
  end,
  send = function(x, to, tag) python.send(WORLD, pack(x), check_rank(2, to, 0), tag or 0) end,
  receive = function(_, from, tag)
    local text, source, received_tag = python.receive(WORLD, nil, check_rank(2, from, 'any_source'),
      tag or 'any_tag')
    return read(text), source, received_tag
  end,
}

-- ------------------------------------------------------------------------------ tensors

-- A tensor for one of x from each process: in a first dimension.
local function gathered(x)
  return x.new():resize(torch.LongStorage{ size, unpack(x:size():totable()) })
end

-- For each function of tensors: its result, the method of mpi4py's communicators that it calls, and
-- the method's arguments.
local of_tensors = {
  broadcast = function(x, root) return x, 'Bcast', x, check_rank(2, root, 0) end,
  allreduce = function(x, operation)
    return x, 'Allreduce', 'in_place', x, check_operation(2, operation)
  end,
  reduce = function(x, root, operation)
    root, operation = check_rank(2, root, 0), check_operation(3, operation)
    if rank == root then return x, 'Reduce', 'in_place', x, operation, root end
    return x, 'Reduce', x, nil, operation, root
  end,
  allgather = function(x)
    local all = gathered(x)
    return all, 'Allgather', x, all
  end,
  gather = function(x, root)
    root = check_rank(2, root, 0)
    local all = rank == root and gathered(x) or nil
    return all, 'Gather', x, all, root
  end,
  send = function(x, to, tag) return x, 'Send', x, check_rank(2, to, 0), tag or 0 end,
  receive = function(x, from, tag)
    return x, 'Recv', x, check_rank(2, from, 'any_source'), tag or 'any_tag'
  end,
  scatter = function(part, x, root)
    root = check_rank(2, root, 0)
    if rank ~= root then return part, 'Scatter', nil, part, root end
    if not is_tensor(x) then errors.type_error(1, 'tensor', x) end
    if x:nElement() ~= size * part:nElement() then
      errors.argument_error(1, ('%d elements expected, got %d')
        :format(size * part:nElement(), x:nElement()))
    end
    return part, 'Scatter', x, part, root
  end,
}

-- ------------------------------------------------------------------------- the functions

local Request = {}
Request.__index = Request

--- Waits until it is done; returns what the function without `async` returns.
function Request:wait()
  python.test(self.number, true)
  return self.value
end

--- Tells whether it is done.
function Request:test() return (python.test(self.number, false)) end

local function now(value, method, ...)
  python.call(method, true, WORLD, ...)
  return value
end

local function later(value, method, ...)
  return setmetatable({ number = python.call(method, false, WORLD, ...), value = value }, Request)
end

for name, prepare in pairs(of_tensors) do
  mpi[name] = function(x, ...)
    if not is_tensor(x) then return of_values[name](x, ...) end
    return now(prepare(x, ...))
  end
  mpi.async[name] = function(x, ...)
    if not is_tensor(x) then errors.type_error(1, 'tensor', x) end
    return later(prepare(x, ...))
  end
end

--- Receives into a tensor, or another value: returns it, and the sender's rank and the tag.
function mpi.receive(x, from, tag)
  if not is_tensor(x) then return of_values.receive(x, from, tag) end
  local _, source, received_tag = python.receive(WORLD, x, check_rank(2, from, 'any_source'),
    tag or 'any_tag')
  return x, source, received_tag
end

--- Gives each process its part of what the root has: of a table its value, of a tensor as many
-- elements as `part` has, into that.
function mpi.scatter(x, root, part)
  if not part then return of_values.scatter(x, root) end
  return now(of_tensors.scatter(part, x, root))
end

function mpi.async.scatter(x, root, part)
  if not is_tensor(part) then errors.type_error(3, 'tensor', part) end
  return later(of_tensors.scatter(part, x, root))
end

errors.make_public(mpi)
errors.make_public(mpi.async)
errors.make_public(Request, 'wait test')

return mpi
