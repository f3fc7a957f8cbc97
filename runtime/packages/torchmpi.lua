--- The module torchmpi.ffi: the functions of torchmpi's C library, over MPI on the processor. The
-- package's own Lua files, which programs bring, call them; tensors come as pointers to their
-- structs, and handles go back as they came.
-- @module torchmpi

local bridge, c_structs, errors = import('core.bridge', 'core.c_structs', 'core.errors')

require 'mpi'
local python = bridge.python_half 'mpi'

-- The communicators by their levels, of which each divides the processes of one before; of a level
-- whether its parts are equally large, and its name.
local levels = { [0] = { number = 0, is_cartesian = true, name = 'global' } }
local level, collective_level = 0, 0
local wants_cartesian = false

local function current() return levels[level].number end
local function collective() return levels[collective_level].number end



-- ----------------------------------------------------------------------- tensors, numbers

local collectives = {}

function collectives.broadcast(call, _, x, root) return call('Bcast', x, root) end

function collectives.allreduce(call, _, input, output)
  return call('Allreduce', input == output and 'in_place' or input, output, 'sum')
end

function collectives.reduce(call, comm, input, output, root)
  local is_root = python.identity(comm) == root
  if input == output then
    return call('Reduce', is_root and 'in_place' or input, is_root and output or nil, 'sum', root)
  end
  return call('Reduce', input, is_root and output or nil, 'sum', root)
end

function collectives.sendreceive(call, _, x, source, to)
  return call('Sendrecv_replace', x, to, 0, source, 0)
end

-- Gathers the elements of all processes, one behind the other; their numbers may differ.
function collectives.allgather(call, comm, input, output)
  local rank, size = python.identity(comm)
  local counts, total = torch.DoubleTensor(size):zero(), 0
  counts[rank + 1] = input:nElement()
  call('Allreduce', 'in_place', counts, 'sum')
  if counts:sum() > output:nElement() then
    local sizes = output:size()
    sizes[#sizes] = counts:sum() / output:stride(1)
    output:resize(sizes)
  end
  local flat = output:view(-1)
  for source = 0, size - 1 do
    local part = counts[source + 1] > 0 and flat:narrow(1, total + 1, counts[source + 1])
    if part and source == rank then part:copy(input) end
    if part then call('Bcast', part, source) end
    total = total + counts[source + 1]
  end
end

local function run(name, waits, comm, ...)
  local function call(method, ...) return python.call(method, waits, comm, ...) end
  return (collectives[name](call, comm, ...))
end

local function tensor_function(name, is_async)
  return function(...)
    local arguments = { ... }
    for i = 1, select('#', ...) do
      if type(arguments[i]) == 'cdata' then
        arguments[i] = c_structs.owner_of(arguments[i])
          or errors.fail('torchmpi: the pointer is not that of a tensor')
      end
    end
    return (run(name, not is_async, collective(), unpack(arguments, 1, select('#', ...))))
  end
end

local CLASSES = { uint8_t = 'Byte', char = 'Char', short = 'Short', int = 'Int', long = 'Long',
  float = 'Float', double = 'Double' }

local function number_function(name, type)
  return function(value, ...)
    local x = torch[CLASSES[type] .. 'Tensor']{ value }
    if name:find('reduce') then run(name, true, current(), x, x, ...)
    else run(name, true, current(), x, ...) end
    return x[1]
  end
end

-- ----------------------------------------------------------------------------- the library

local C = {}

function C.torchmpi_start() end

function C.torchmpi_stop()
  C.torchmpi_barrier()
  python.finish(0)
end

function C.torchmpi_rank() return (python.identity(current())) end
function C.torchmpi_size() return (select(2, python.identity(current()))) end
function C.torchmpi_barrier() python.call('Barrier', true, current()) end
function C.torchmpi_has_nccl() return 0 end
C.torchmpi_has_gloo, C.torchmpi_has_gloo_cuda = C.torchmpi_has_nccl, C.torchmpi_has_nccl
function C.torchmpi_free_ipc_descriptors() end
function C.torchmpi_set_cartesian_communicator() wants_cartesian = true end
function C.torchmpi_set_tree_communicator() wants_cartesian = false end

function C.torchmpi_push_communicator(name)
  local number, are_equal = python.split(current(), name)
  levels[#levels + 1] = { number = number, name = name,
    is_cartesian = are_equal and wants_cartesian }
  return #levels
end

function C.torchmpi_set_communicator(new)
  if not levels[new] then
    errors.fail(('torchmpi: a communicator from 0 to %d expected, got %s')
      :format(#levels, tostring(new)))
  end
  level = new
end

function C.torchmpi_is_cartesian_communicator() return levels[level].is_cartesian end
function C.torchmpi_set_collective_span(first) collective_level = first end

function C.torchmpi_num_nodes_in_communicator() return python.count_machines(current()) end

function C.torchmpi_communicator_names()
  local lines = {}
  for i = 0, #levels do
    local rank, size = python.identity(levels[i].number)
    lines[#lines + 1] = ('l : %d -> key(%s) (%d in intracomm, I am rank %d) cartesian: %s%s\n')
      :format(i, levels[i].name, size, rank, tostring(levels[i].is_cartesian),
        i == level and ' * ' or '')
  end
  return ('current: %d intra\n'):format(level) .. table.concat(lines)
end

--- Waits for what an asynchronous function has begun, whose handle is a number.
function C.torchmpi_synchronize_handle(handle)
  if handle then python.test(handle, true) end
end

-- Functions of one kind for each element type; and what only the original's own ways to compute
-- have use for: how large pieces are, and how many threads there are.
local settings = {}

setmetatable(C, { __index = function(_, name)
  local short = name:match('^torchmpi_(.*)$') or name
  local plain, is_async = short:gsub('^async_', '')
  local collective_name = plain:gsub('^p2p_', ''):match('^(%l+)_TH%u%l+Tensor$')
  if collectives[collective_name] then return tensor_function(collective_name, is_async == 1) end
  local scalar, type = short:match('^(%l+)_([%l%d_]+)$')
  if collectives[scalar] and CLASSES[type] then return number_function(scalar, type) end
  local verb, setting = short:match('^(%l%lt)_(.*)$')
  if verb == 'set' then return function(value) settings[setting] = value or 0 end end
  if verb == 'get' then return function() return settings[setting] or 0 end end
  errors.fail(('torchmpi: %s is not provided here'):format(name))
end })

for name, f in pairs(C) do C[name] = errors.public(f) end

--- Sets the library: torchmpi.start calls this.
return function(with_cuda)
  if with_cuda then errors.fail('torchmpi: there is no GPU here: torchmpi.start(false)') end
  require('torchmpi.env').C = C
end
