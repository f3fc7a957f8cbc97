--- hdf5: a dataset, which is read into tensors, whole or in part.
-- @module hdf5_dataset

local th, hdf5 = ...
local torch = th.torch

local type, ipairs = type, ipairs

local python = th.python_half 'hdf5'

--- What HDF5 has by a number, as text.
function hdf5._describeObject(id, kind)
  return ('(%d %s %s)'):format(id, python.name(id), kind)
end

local DataSet = torch.class('hdf5.HDF5DataSet', hdf5)

function DataSet:__init(parent, id)
  self._parent, self._datasetID = parent, id
  hdf5._logger.debug('Initialising ' .. tostring(self))
end

function DataSet:__tostring()
  return '[HDF5DataSet ' .. hdf5._describeObject(self._datasetID, 'DATASET') .. ']'
end

--- All elements, as a tensor of the type that the file has them in.
function DataSet:all()
  return python.all(self._datasetID)
end

--- The elements of a part: of each dimension a number, or a table of the first and the last.
function DataSet:partial(...)
  local ranges = { ... }
  local limits = torch.LongStorage(2 * #ranges)
  for i, range in ipairs(ranges) do
    if type(range) ~= 'table' then range = { range, range } end
    limits[2 * i - 1], limits[2 * i] = range[1], range[2]
  end
  return python.partial(self._datasetID, limits)
end

--- The sizes, as a table.
function DataSet:dataspaceSize()
  return { python.sizes(self._datasetID) }
end

--- The function that makes empty tensors of the dataset's type, and that type's name.
function DataSet:getTensorFactory()
  local name = python.type(self._datasetID)
  return torch.factory(name), name
end

function DataSet:close()
  hdf5._logger.debug('Closing ' .. tostring(self))
  python.close(self._datasetID)
end

th.make_public(DataSet, 'all partial dataspaceSize getTensorFactory close __init __tostring')
