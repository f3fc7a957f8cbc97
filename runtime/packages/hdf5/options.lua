--- hdf5: how a dataset is stored.
-- @module hdf5_options

local hdf5 = ...
local errors = import 'core.errors'

local Options = torch.class('hdf5.DataSetOptions', hdf5)
hdf5.DataSetOptions = hdf5.DataSetOptions or torch.getconstructortable('hdf5.DataSetOptions')

local DEFLATE = 6

function Options.__init() end

--- Stores the data in chunks, of which a part can be read alone, and behind which rows can be
-- appended. Gets a size for each dimension.
function Options:setChunked(...)
  for i = 1, select('#', ...) do errors.check_argument(i + 1, (select(i, ...)), 'number') end
  self._chunking = { ... }
  return self
end

--- Compresses the chunks.
-- @param level from 0 to 9; 6 by default
function Options:setDeflate(level)
  if level then errors.check_argument(2, level, 'number') end
  self._deflate = level or DEFLATE
  return self
end

--- Makes chunks that are larger than a tensor as large as it.
function Options:adjustForData(tensor)
  errors.check_argument(2, tensor, 'torch.Tensor')
  if not self._chunking then return end
  if #self._chunking ~= tensor:nDimension() then
    errors.fail(('Chunk size must have same number of dimensions as data! Chunk size has %d '
      .. 'dimensions; data has %d'):format(#self._chunking, tensor:nDimension()))
  end
  local sizes = {}
  for i, size in ipairs(self._chunking) do sizes[i] = math.min(size, tensor:size(i)) end
  self:setChunked(unpack(sizes))
end

--- Torch7: HDF5's list of properties. Here the options themselves are passed on.
function Options:creationProperties() return self end

function Options.close() end

function Options:__tostring()
  return ('[DataSetOptions: chunking=%s]')
    :format(self._chunking and table.concat(self._chunking, 'x') or 'none')
end

errors.make_public(Options, 'setChunked setDeflate adjustForData __tostring')
