--- hdf5: a file.
-- @module hdf5_file

local hdf5 = ...
local bridge, errors = import('core.bridge', 'core.errors')

local home = os.getenv('HOME')

local python = bridge.python_half 'hdf5'

local File = torch.class('hdf5.HDF5File', hdf5)

function File:__init(filename, id)
  if type(filename) ~= 'string' then
    errors.fail('HDF5File.__init() requires a filename - perhaps you want HDF5File.create()?')
  elseif type(id) ~= 'number' then
    errors.fail('HDF5File.__init() requires a fileID - perhaps you want HDF5File.create()?')
  end
  self._filename, self._fileID = filename, id
  hdf5._logger.debug('Opening ' .. tostring(self))
  self._rootGroup = hdf5.HDF5Group(self, python.group(id, '/'))
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
  local id = python.open(filename, MODES[mode])
  return errors.finally(function(done) if not done then pcall(python.close, id) end end,
    hdf5.HDF5File, filename, id)
end

hdf5._write_as_fields(File)
errors.make_public(File,
  'open write append read all close filename __init __tostring __write __read')

hdf5.open = hdf5.HDF5File.open
