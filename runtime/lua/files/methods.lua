--- The methods of files: state, positions and strings.
-- @module file_methods

local ffi, host, torch, bridge = import('ffi', 'host', 'torch', 'core.bridge')
local errors, references, files = import('core.errors', 'core.references', 'files.files')
local stdout = io.stdout

local objects, names = references.objects, files.names
local call, fail, fill = files.call, files.fail, files.fill
local window_of, get_string = files.window, files.get_string
local NEWLINE = files.NEWLINE

local File = torch.getmetatable('torch.File')
local DiskFile, MemoryFile = files.DiskFile, files.MemoryFile

for name, format in pairs{
  DiskFile = 'torch.DiskFile on <%s> [status: %s -- mode %s%s]',
  PipeFile = 'torch.PipeFile on <%s> [status: %s -- mode: %s%s]',
  MemoryFile = '%storch.MemoryFile [status: %s -- mode: %s%s]',
} do
  files[name].__tostring__ = function(self)
    local w = window_of(self, 'torch.' .. name)
    return format:format(names[self] or '', w.opened ~= 0 and 'open' or 'closed',
      w.readable ~= 0 and 'r' or ' ', w.writable ~= 0 and 'w' or ' ')
  end
end

-- ---------------------------------------------------------------------- state

for name, field in pairs{
  isQuiet = 'quiet', isReadable = 'readable', isWritable = 'writable', isBinary = 'binary',
  isAutoSpacing = 'spacing', hasError = 'failed', isOpened = 'opened',
} do
  File[name] = function(self) return window_of(self)[field] ~= 0 end
end

-- Sets whether binary numbers are in the file as they are in memory.
local function update_direct(w)
  w.direct = w.binary ~= 0 and w.swapped == 0 and 1 or 0
end

for name, change in pairs{
  binary = { 'binary', 1 }, ascii = { 'binary', 0 }, autoSpacing = { 'spacing', 1 },
  noAutoSpacing = { 'spacing', 0 }, quiet = { 'quiet', 1 }, pedantic = { 'quiet', 0 },
  clearError = { 'failed', 0 },
} do
  local field, value = change[1], change[2]
  File[name] = function(self)
    local w = window_of(self)
    w[field] = value
    update_direct(w)
    return self
  end
end

function DiskFile.isLittleEndianCPU() return ffi.abi('le') end

function DiskFile.isBigEndianCPU() return ffi.abi('be') end

for name, swapped in pairs{
  nativeEndianEncoding = 0, littleEndianEncoding = ffi.abi('le') and 0 or 1,
  bigEndianEncoding = ffi.abi('le') and 1 or 0,
} do
  DiskFile[name] = function(self)
    local w = window_of(self, 'torch.DiskFile')
    call(host.file_check_open, objects[self])
    w.swapped = swapped
    update_direct(w)
    return self
  end
end

for _, name in ipairs{ 'DiskFile', 'MemoryFile' } do
  --- Sets how many bytes a long has in a binary file: 4, 8, or 0 for as many as in memory.
  files[name].longSize = function(self, size)
    local w = window_of(self, 'torch.' .. name)
    if name == 'DiskFile' then call(host.file_check_open, objects[self]) end
    size = tonumber(size) or 0
    if size ~= 0 and size ~= 4 and size ~= 8 then
      errors.argument_error(1, 'Invalid long size specified')
    end
    w.long_size = size
    return self
  end
end

function DiskFile.noBuffer(self)
  window_of(self, 'torch.DiskFile')
  call(host.file_stop_buffering, objects[self])
  return self
end

--- The storage of a file in memory: its bytes and a zero byte.
function MemoryFile.storage(self)
  window_of(self, 'torch.MemoryFile')
  local storage, id = call(host.file_storage, objects[self])
  return bridge.wrap(storage, id)
end

-- ------------------------------------------------------------------ positions

local LAST = 2 ^ 63 -- greater than the size of any file

function File.seek(self, position)
  window_of(self)
  local n = tonumber(position)
  if not n or type(position) == 'boolean' then
    errors.type_error(2, 'number', position, position == nil)
  end
  n = math.min(math.floor(n) - 1, LAST)
  if not (n >= 0) then errors.argument_error(2, 'position has to be greater than 0!') end
  call(host.file_seek, objects[self], n)
  return self
end

function File.position(self)
  window_of(self)
  return call(host.file_position, objects[self]) + 1
end

for name, asked in pairs{
  seekEnd = 'file_seek_end', synchronize = 'file_synchronize', close = 'file_close',
} do
  File[name] = function(self)
    window_of(self)
    if name == 'close' then stdout:flush() end
    call(host[asked], objects[self])
    return self
  end
end

-- -------------------------------------------------------------------- strings

-- The bytes up to the next newline, which is skipped, or to the file's end.
local function get_line(w, object)
  local searched = 0
  while true do
    local present = fill(w, object, searched + 1)
    local start = w.memory.data + w.at
    local newline = present > searched
      and ffi.C.memchr(start + searched, NEWLINE, present - searched)
    if newline and newline ~= nil then
      local text = get_string(w, object, tonumber(ffi.cast('char *', newline) - start))
      w.at = w.at + 1
      return text
    elseif present <= searched then
      return get_string(w, object, present)
    end
    searched = present
  end
end

--- The rest of the file ('*a') or of the line ('*l') as a string.
function File.readString(self, format)
  local w, object = window_of(self), objects[self]
  format = errors.check_string(2, format == nil and 1 or 2, format)
  fill(w, object, 0) -- raises the error about a file that cannot be read
  if not format:find('^%*[al]') then errors.argument_error(2, "format must be '*a' or '*l'") end
  if fill(w, object, 1) < 1 then
    fail(w, 'read', 0, 1)
    return ''
  end
  if format:byte(2) == 108 then return get_line(w, object) end
  local need = fill(w, object, 1)
  repeat
    local present = need
    need = fill(w, object, present + 1)
  until need <= present
  return get_string(w, object, need)
end

--- Writes the bytes of a string; returns how many were written.
function File.writeString(self, text)
  local w = window_of(self)
  if type(text) ~= 'string' then errors.type_error(2, 'string', text, text == nil) end
  local written = files.put_string(w, objects[self], text)
  if written < #text then fail(w, 'write', written, #text) end
  return written
end

function File.writeBool(self, value)
  files.ready_to_write(self)
  self:writeInt(value and 1 or 0)
end

function File.readBool(self)
  files.ready_to_read(self)
  return self:readInt() == 1
end
