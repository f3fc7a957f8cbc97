--- hdf5: tensors in HDF5 files, with the interface of Deepmind's package for Torch7. The files are
-- read and written by h5py (runtime/packages/hdf5.py), which knows files, groups and datasets by
-- numbers; the objects here have such numbers in the fields that hold HDF5's own in the original.
-- @module hdf5

local bridge, errors = import('core.bridge', 'core.errors')

local home, typename = os.getenv('HOME'), torch.typename
local python = bridge.python_half 'hdf5'

local hdf5 = { _debugMode = false }
_G.hdf5 = hdf5

local function log(message) print('hdf5: ' .. tostring(message)) end

hdf5._logger = { debug = function() end, warn = log, error = log }

--- Prints from now on what is read and written.
function hdf5.debugMode()
  hdf5._debugMode = true
  hdf5._logger.debug = log
end

function hdf5._inDebugMode() return hdf5._debugMode end

--- Lets objects of a class be serialized as the table of their fields: torch.File would take the
-- methods `read` and `write`, which the class has for something else, for what does this.
function hdf5._write_as_fields(class)
  function class.__write(object, file)
    local fields = {}
    for key, value in pairs(object) do fields[key] = value end
    file:writeObject(fields)
  end

  function class.__read(object, file)
    for key, value in pairs(file:readObject()) do object[key] = value end
  end
end

-- ---------------------------------------------------------------------------------------- options

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

-- --------------------------------------------------------------------------------------- datasets

--- Describes an object of HDF5 as text: its number, name and kind.
function hdf5._describeObject(id, kind)
  return ('(%d %s %s)'):format(id, python.name_of(id), kind)
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
  return python.read_all(self._datasetID)
end

--- The elements of a part: of each dimension a number, or a table of the first and the last.
function DataSet:partial(...)
  local ranges = { ... }
  local limits = torch.LongStorage(2 * #ranges)
  for i, range in ipairs(ranges) do
    if type(range) ~= 'table' then range = { range, range } end
    errors.check_argument(i + 1, range[1], 'number')
    errors.check_argument(i + 1, range[2], 'number')
    limits[2 * i - 1], limits[2 * i] = tonumber(range[1]), tonumber(range[2])
  end
  return python.read_part(self._datasetID, limits)
end

--- The sizes, as a table.
function DataSet:dataspaceSize()
  return { python.sizes_of(self._datasetID) }
end

--- The function that makes empty tensors of the dataset's type, and that type's name.
function DataSet:getTensorFactory()
  local name = python.type_name(self._datasetID)
  return torch.factory(name), name
end

function DataSet:close()
  hdf5._logger.debug('Closing ' .. tostring(self))
  python.close(self._datasetID)
end

errors.make_public(DataSet, 'all partial dataspaceSize getTensorFactory close __init __tostring')

-- ----------------------------------------------------------------------------------------- groups

local Group = torch.class('hdf5.HDF5Group', hdf5)

-- A file may have a group under several names: `_groups` has those of the file by their addresses,
-- and false for those that are being read.
function Group:__init(parent, id)
  self._parent, self._groupID, self._children = parent, id, {}
  self._groups = type(parent) == 'table' and parent._groups or {}
  hdf5._logger.debug('Initialising ' .. tostring(self))
  for number, kind, address, name in python.children(id):gmatch('(%d+) (%l+) (%S+) (%Z+)') do
    if kind == 'other' then errors.fail('Unsupported data type at ' .. name) end
    local child = self._groups[address]
    if child == false then
      errors.fail(("Unable to read from '%s' in %s - no such data path (%s)")
        :format(name, tostring(self), 'it is a group inside of itself'))
    elseif kind == 'dataset' then
      child = hdf5.HDF5DataSet(self, tonumber(number))
    elseif not child then
      self._groups[address] = false
      child = hdf5.HDF5Group(self, tonumber(number))
      self._groups[address] = child
    end
    self._children[name] = child
  end
end

function Group:__tostring()
  return ('[HDF5Group %d %s]'):format(self._groupID, python.name_of(self._groupID))
end

-- A name for HDF5; tables that are written may have other keys than strings.
local function check_name(name)
  if type(name) ~= 'string' then
    errors.fail(("the name of what is written to an HDF5 file is a string, not a %s (%s)")
      :format(type(name), tostring(name)))
  end
  return name
end

function Group:createChild(name)
  if not name or name == '' then errors.fail('no name given for child') end
  local child = hdf5.HDF5Group(self, python.require_group(self._groupID, check_name(name)))
  self._children[name] = child
  return child
end

function Group:getOrCreateChild(name)
  local child = self._children[name] or self:createChild(name)
  if not child._groupID then
    errors.fail(("HDF5Group: '%s' in %s is data, no group"):format(name, tostring(self)))
  end
  return child
end

local function check_tensor(data)
  if type(data) ~= 'userdata' then
    errors.fail(('torch-hdf5: writing data of type %s is not supported'):format(type(data)))
  elseif not (typename(data) or ''):find('Tensor$') then
    errors.fail('torch-hdf5: writing non-Tensor userdata is not supported')
  end
end

local store = {}

function store.write(group, name, tensor, options)
  if not options then return python.write(group._groupID, name, tensor, nil, nil) end
  errors.check_argument(4, options, 'hdf5.DataSetOptions')
  options:adjustForData(tensor)
  local chunks = options._chunking and torch.LongStorage(options._chunking)
  return python.write(group._groupID, name, tensor, chunks, options._deflate)
end

function store.append(group, name, tensor)
  return python.append(group._groupID, name, tensor)
end

-- Writes or appends data at a path: a tensor, or a table of which each field is written to a child.
local function put(group, method, path, data, options)
  local name = check_name(path[1])
  hdf5._logger.debug(('%s %s as %s in %s'):format(method, typename(data) or type(data), name,
    tostring(group)))
  if #path > 1 then
    put(group:getOrCreateChild(name), method, { unpack(path, 2) }, data, options)
  elseif type(data) == 'table' then
    local child = group:getOrCreateChild(name)
    for key, value in pairs(data) do put(child, method, { key }, value, options) end
  else
    check_tensor(data)
    group._children[name] = hdf5.HDF5DataSet(group, store[method](group, name, data, options))
  end
end

-- The methods that write, or append, at the path that a table has.
for method in pairs(store) do
  Group[method] = function(self, path, data, options)
    if type(path) ~= 'table' then
      errors.fail(('HDF5Group:%s() expects table as first parameter'):format(method))
    elseif not data then
      errors.fail(('HDF5Group:%s() requires data as parameter'):format(method))
    elseif #path == 0 then
      errors.fail('HDF5Group: descended too far')
    end
    put(self, method, path, data, options)
  end
end

--- Returns the group or dataset at a path, which is a table of names.
function Group:read(path)
  if type(path) ~= 'table' then errors.fail('HDF5Group:read() expects table as first parameter') end
  if #path == 0 then return self end
  local child = self._children[path[1]]
  if not child then
    errors.fail(("HDF5Group:read() - no such child '%s' for %s"):format(path[1], tostring(self)))
  end
  if #path == 1 then return child end
  return child:read({ unpack(path, 2) })
end

local function all_of(group, known)
  local values = {}
  for name, child in pairs(group._children) do
    known[child] = known[child] or (child._children and all_of(child, known) or child:all())
    values[name] = known[child]
  end
  return values
end

--- All that is in the group, as a table of tensors and tables.
function Group:all() return all_of(self, {}) end

function Group:close()
  for _, child in pairs(self._children) do child:close() end
  hdf5._logger.debug('Closing ' .. tostring(self))
  python.close(self._groupID)
end

hdf5._write_as_fields(Group)
errors.make_public(Group,
  'createChild getOrCreateChild write append read all close __init __tostring '
  .. '__write __read')

-- ------------------------------------------------------------------------------------------ files

local File = torch.class('hdf5.HDF5File', hdf5)

function File:__init(filename, id)
  if type(filename) ~= 'string' then
    errors.fail('HDF5File.__init() requires a filename - perhaps you want HDF5File.create()?')
  elseif type(id) ~= 'number' then
    errors.fail('HDF5File.__init() requires a fileID - perhaps you want HDF5File.create()?')
  end
  self._filename, self._fileID = filename, id
  hdf5._logger.debug('Opening ' .. tostring(self))
  self._rootGroup = hdf5.HDF5Group(self, python.require_group(id, '/'))
end

function File:filename() return self._filename end

function File:__tostring()
  return ('[HDF5File: %s %s]'):format(hdf5._describeObject(self._fileID, 'FILE'), self._filename)
end

function File:close()
  hdf5._logger.debug('Closing ' .. tostring(self))
  python.close(self._fileID)
end

local function parts_of(path)
  errors.check_argument(2, path, 'string')
  local parts = {}
  for part in path:gmatch('[^/]+') do parts[#parts + 1] = part end
  return parts
end

-- The methods that write, or append, at a path such as '/group/data'.
for _, method in ipairs{ 'write', 'append' } do
  File[method] = function(self, path, data, options)
    local parts = parts_of(path)
    if type(data) ~= 'userdata' and type(data) ~= 'table' then
      errors.fail(('HDF5File:%s() requires a tensor or table as its second parameter')
        :format(method))
    elseif #parts > 0 then
      self._rootGroup[method](self._rootGroup, parts, data, options)
    elseif type(data) ~= 'table' then
      errors.fail('HDF5File:write() - must provide a table when writing to the root location')
    else
      for key, value in pairs(data) do
        self._rootGroup[method](self._rootGroup, { key }, value, options)
      end
    end
  end
end

--- The group or dataset at a path; the group of all without a path.
function File:read(path)
  hdf5._logger.debug(('Reading %s from %s'):format(path or '/', tostring(self)))
  return self._rootGroup:read(parts_of(path or '/'))
end

--- All that is in the file, as a table of tensors and tables.
function File:all() return self._rootGroup:all() end

local MODES = { r = 'r', ['r+'] = 'r+', w = 'w', ['w-'] = 'x' } -- as h5py names them

--- Opens a file, or makes it.
-- @param mode 'r' or 'r+': there is a file, to be read, or to be changed, too; 'w' makes one anew,
--   'w-' where there is none; 'a', or nil, changes one or makes it
function hdf5.HDF5File.open(filename, mode)
  errors.check_argument(1, filename, 'string')
  if filename:sub(1, 2) == '~/' and home then filename = paths.concat(home, filename:sub(3)) end
  filename = paths.concat(filename)
  local folder = paths.dirname(filename)
  if not paths.dirp(folder) then errors.fail('HDF5File.open: no such directory ' .. folder) end
  if mode == nil or mode == 'a' then mode = paths.filep(filename) and 'r+' or 'w' end
  if not MODES[mode] then errors.fail(("Unknown mode '%s' for hdf5.open()"):format(mode)) end
  local id = python.open_file(filename, MODES[mode])
  return errors.finally(function(done) if not done then pcall(python.close, id) end end,
    hdf5.HDF5File, filename, id)
end

hdf5._write_as_fields(File)
errors.make_public(File,
  'open write append read all close filename __init __tostring __write __read')

hdf5.open = hdf5.HDF5File.open

return hdf5
