--- hdf5: tensors in HDF5 files, with the interface of Deepmind's package for Torch7. The files are
-- read and written by h5py (runtime/packages/hdf5.py), which knows files, groups and datasets by
-- numbers; the objects here have such numbers in the fields that hold HDF5's own in the original.
-- @module hdf5


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

local parts = {} -- all are there before one declares a class, which can be done once
for part in ('options group file'):gmatch('%S+') do
  parts[#parts + 1] = import.chunk('packages.hdf5.' .. part)
end
for _, part in ipairs(parts) do part(hdf5) end

return hdf5
