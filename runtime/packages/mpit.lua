--- The module libmpiT: those functions of mpiT's C library by which programs train, over MPI. The
-- package's own Lua files, which programs bring, load it. All return 0, as MPI does for success,
-- and write results to storages; requests and states of messages are tables here.
-- @module mpit

local bridge, errors, standard_output = import('core.bridge', 'core.errors', 'packages.output')

require 'mpi'
local python = bridge.python_half 'mpi'

-- The types of elements are the names of those of storages, operations those of mpi4py.
local mpiT = {
  COMM_WORLD = 0, SUCCESS = 0, ANY_SOURCE = 'any_source', ANY_TAG = 'any_tag',
  BYTE = 'Byte', UNSIGNED_CHAR = 'Byte', CHAR = 'Char', SHORT = 'Short', INT = 'Int', LONG = 'Long',
  LONG_LONG_INT = 'Long', FLOAT = 'Float', DOUBLE = 'Double',
}
for name in ('SUM PROD MAX MIN LAND LOR LXOR BAND BOR BXOR'):gmatch('%u+') do
  mpiT[name] = name:lower()
end

-- The first elements of a storage as a tensor, which has its memory.
local function elements(storage, count, kind)
  local class = torch[kind .. 'Tensor']
  if count == 0 then return class() end
  if torch.typename(storage) ~= ('torch.%sStorage'):format(kind) then
    errors.fail(('mpiT: a torch.%sStorage expected, got %s')
      :format(kind, torch.typename(storage) or type(storage)))
  end
  return class(storage, 1, count)
end

local function note(status, source, tag, is_cancelled)
  if status then status.SOURCE, status.TAG, status.cancelled = source, tag, is_cancelled end
end

-- ----------------------------------------------------------- the process and its like

function mpiT.Init() return 0 end
mpiT.Init_MTF, mpiT.Init_MTS, mpiT.Init_MTM = mpiT.Init, mpiT.Init, mpiT.Init

function mpiT.Finalize()
  python.finish(0)
  return 0
end

function mpiT.Abort(_, status)
  standard_output.end_all(status or 1, 'mpiT.Abort', '')
  errors.fail('mpiT.Abort')
end

function mpiT.Comm_rank(comm, into)
  into[1] = python.identity(comm)
  return 0
end

function mpiT.Comm_size(comm, into)
  into[1] = select(2, python.identity(comm))
  return 0
end

function mpiT.Request() return {} end
function mpiT.Status() return {} end
mpiT.Wtime = require('mpi').time

-- ---------------------------------------------------------------------- to all others

-- Functions with the arguments of MPI in C, which return the communicator, mpi4py's method and the
-- arguments of that. A form with `I` before it gets a request as well.
local forms = {}

function forms.Barrier(comm) return comm, 'Barrier' end

function forms.Bcast(storage, count, kind, root, comm)
  return comm, 'Bcast', elements(storage, count, kind), root
end

function forms.Allreduce(input, output, count, kind, operation, comm)
  return comm, 'Allreduce', elements(input, count, kind), elements(output, count, kind), operation
end

function forms.Reduce(input, output, count, kind, operation, root, comm)
  local into = python.identity(comm) == root and elements(output, count, kind) or nil
  return comm, 'Reduce', elements(input, count, kind), into, operation, root
end

-- The elements of all processes, which the root alone has; nil: all have them.
local function of_all(storage, each, kind, root, comm)
  local rank, size = python.identity(comm)
  return (root == nil or root == rank) and elements(storage, each * size, kind) or nil
end

function forms.Allgather(input, count, kind, output, each, kind_out, comm)
  return comm, 'Allgather', elements(input, count, kind), of_all(output, each, kind_out, nil, comm)
end

function forms.Gather(input, count, kind, output, each, kind_out, root, comm)
  local into = of_all(output, each, kind_out, root, comm)
  return comm, 'Gather', elements(input, count, kind), into, root
end

function forms.Scatter(input, count, kind, output, each, kind_out, root, comm)
  local from = of_all(input, count, kind, root, comm)
  return comm, 'Scatter', from, elements(output, each, kind_out), root
end

function forms.Send(storage, count, kind, to, tag, comm)
  return comm, 'Send', elements(storage, count, kind), to, tag
end

function forms.Recv(storage, count, kind, source, tag, comm)
  return comm, 'Recv', elements(storage, count, kind), source, tag
end

local function now(comm, method, ...)
  python.call(method, true, comm, ...)
  return 0
end

local function later(request, comm, method, ...)
  request.number = python.call(method, false, comm, ...)
  return 0
end

for name, form in pairs(forms) do
  mpiT[name] = function(...) return now(form(...)) end
  mpiT['I' .. name:lower()] = function(...) return later(select(-1, ...), form(...)) end
end

function mpiT.Recv(storage, count, kind, source, tag, comm, status)
  note(status, select(2, python.receive(comm, elements(storage, count, kind), source, tag)))
  return 0
end

-- ----------------------------------------------------------------- requests, messages

function mpiT.Test(request, flag, status)
  local done, source, tag, is_cancelled = python.test(request.number or 0, false)
  flag[1] = done and 1 or 0
  note(status, source, tag, is_cancelled)
  return 0
end

function mpiT.Wait(request, status)
  note(status, select(2, python.test(request.number or 0, true)))
  return 0
end

function mpiT.Cancel(request)
  python.cancel(request.number)
  return 0
end

function mpiT.Test_cancelled(status, flag)
  flag[1] = status.cancelled and 1 or 0
  return 0
end

function mpiT.Probe(source, tag, comm, status)
  note(status, select(2, python.probe(comm, true, source, tag)))
  return 0
end

function mpiT.Iprobe(source, tag, comm, flag, status)
  local is_there, from, with = python.probe(comm, false, source, tag)
  flag[1] = is_there and 1 or 0
  note(status, from, with)
  return 0
end

errors.make_public(mpiT)
_G.mpiT = mpiT
return mpiT
