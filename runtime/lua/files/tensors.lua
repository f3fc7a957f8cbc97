--- The methods read and write of storages and tensors, and the methods of files for numbers.
-- @module file_tensors

local host, torch, bridge, c_structs = import('host', 'torch', 'core.bridge', 'core.c_structs')
local class_ids, errors, references = import('core.class_ids', 'core.errors', 'core.references')
local type_names, files, blocks = import('core.type_names', 'files.files', 'tensor.blocks')

local type, tonumber = type, tonumber
local call, objects, windows = files.call, references.objects, files.windows
local typename = type_names.typename

local File = torch.getmetatable('torch.File')

local accesses = {} -- the functions for the elements of each type, by its name
local tensors = { access = accesses }

for _, dtype in ipairs(c_structs.dtypes) do
  local access = import.instance('files.access', dtype)
  accesses[dtype.name] = access
  if dtype.name ~= 'Half' then -- Torch7: files have no methods for halves
    File['read' .. dtype.name], File['write' .. dtype.name] = access.read, access.write
  end
end

local get_int, get_long = accesses.Int.get, accesses.Long.get
local put_int, put_long = accesses.Int.put, accesses.Long.put

-- Writes n whole numbers as the elements of a LongStorage are written.
local function write_longs(w, object, data, n)
  if w.binary ~= 0 then
    for i = 0, n - 1 do put_long(w, object, tonumber(data[i])) end
  elseif n > 0 then
    local values = {}
    for i = 1, n do values[i] = tonumber(data[i - 1]) end
    accesses.Long.write_storage(w, object, torch.LongStorage(values))
  end
end

-- Reads n numbers that write_longs has written into a table, from a position on.
local function read_longs(w, object, into, from, n)
  if w.binary ~= 0 then
    for i = from, from + n - 1 do into[i] = get_long(w, object) end
  elseif n > 0 then
    local storage = torch.LongStorage()
    accesses.Long.read_sized(w, object, storage, n)
    for i = 1, storage:size() do into[from + i - 1] = storage[i] end
    for i = storage:size() + 1, n do into[from + i - 1] = 0 end
  end
end

-- The window and the Python object of a method's argument 2, a file.
local function check(class, self, file)
  if typename(self) ~= class then errors.class_error(1, class, self) end
  return windows[file] or errors.class_error(2, 'torch.File', file), objects[file]
end

-- The view that a file has, of a storage that was read, as a struct, and what keeps its memory; nil
-- where Python has to make it or to raise an error. geometry: the sizes, then the strides.
local function restored(dtype, found, offset, geometry, n)
  local s = class_ids.class_of(found) == dtype.storage_id
    and (dtype.storage_structs[found] or dtype.fetch_storage(found))
  if not s or n < 1 or n > c_structs.ROOM or offset < 0 then return nil end
  local view, last, count = dtype.bare_view(n), offset, 1
  for d = 1, n do
    local size, stride = geometry[d], geometry[n + d]
    if size < 1 or stride < 0 then return nil end
    view.size[d - 1], view.stride[d - 1] = size, stride
    last, count = last + (size - 1) * stride, count * size
  end
  if last >= tonumber(s.size) or count > 2 ^ 53 then return nil end
  view.storage, view.storageOffset = s, offset
  return view, blocks.share_storage(found, s)
end

for _, dtype in ipairs(c_structs.dtypes) do
  local access, structs = accesses[dtype.name], dtype.structs
  local storage = torch.getmetatable(dtype.storage_name)

  --- Writes a storage's size and elements.
  function storage.write(self, file)
    local w, object = check(dtype.storage_name, self, file)
    put_long(w, object, self:size())
    access.write_storage(w, object, self)
  end

  --- Resizes a storage to the size that a file has, and reads its elements.
  function storage.read(self, file)
    local w, object = check(dtype.storage_name, self, file)
    local n = get_long(w, object)
    if not access.read_new(w, self, n) then access.read_sized(w, object, self, n) end
  end

  local tensor = torch.getmetatable(dtype.tensor_name)
  local set = tensor.set -- whatever programs do to it later

  --- Writes a tensor's geometry and its storage, which other tensors may share.
  function tensor.write(self, file)
    local w, object = check(dtype.tensor_name, self, file)
    local c = structs[self] or dtype.need_struct(self)
    local n = c.nDimension
    put_int(w, object, n)
    write_longs(w, object, c.size, n)
    write_longs(w, object, c.stride, n)
    put_long(w, object, tonumber(c.storageOffset) + 1)
    file:writeObject(self:storage())
  end

  --- Makes a tensor the view that a file has: reads the geometry and the storage.
  function tensor.read(self, file)
    local w, object = check(dtype.tensor_name, self, file)
    local n = get_int(w, object)
    if n < 0 or n > host.MAX_DIMENSIONS then
      errors.fail(('corrupt file: a tensor of %d dimensions'):format(n))
    end
    local geometry = {}
    read_longs(w, object, geometry, 1, n)
    read_longs(w, object, geometry, n + 1, n)
    local offset = get_long(w, object) - 1
    local stored = file:readObject()
    if n == 0 and offset == 0 and stored == nil then
      set(self)
      return
    end
    local view, anchor = restored(dtype, stored, offset, geometry, n)
    if view and anchor and c_structs.replace_struct(structs, self, structs[self], view, anchor) then
      return
    end
    stored = type(stored) == 'userdata' and bridge.to_python(stored) or nil
    local python_tensor = bridge.to_python(self)
    if not call(host.tensor_restore, python_tensor, stored, offset, unpack(geometry, 1, 2 * n)) then
      errors.fail('corrupt file: a tensor that does not fit its storage')
    end
  end
end

--- Calls f with each method of tensors and storages that writes or reads one in a file.
function tensors.each_method(f)
  for _, dtype in ipairs(c_structs.dtypes) do
    for _, name in ipairs{ dtype.tensor_name, dtype.storage_name } do
      local mt = torch.getmetatable(name)
      f(mt.write)
      f(mt.read)
    end
  end
end

return tensors
