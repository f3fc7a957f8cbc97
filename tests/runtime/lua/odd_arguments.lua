-- Calls the functions of packages, and the metamethods and methods of their objects, with odd
-- arguments, and prints the errors that tell a position in the runtime's own files; of image and
-- hdf5 also those that name variables of ours.

local raw, next, find = pcall, next, string.find
local print_error, get_metatable = io.stderr.write, debug.getmetatable
local stderr = io.stderr
math.randomseed(tonumber((select(2, ...))) or 1)

-- What waits, ends the process, changes files, or changes what follows.
local LEFT_OUT = {}
for name in ([[read fexecute sleep usleep exit execute fork clearall clear log rmall rmdir mkdir chdir link touch
  lock unlock remove rename dofile thisfile popen sudo Threads safe Mutex Condition
  window test parse __readArgument__ __readOption__ split _write_as_fields pause prompt COLORS tic toc lscopy mkdir tmpname rmtree cp mv]])
  :gmatch('%S+') do
  LEFT_OUT[name] = true
end

local nan, inf = 0 / 0, math.huge
local function raises() error('raised', 0) end
local ODD = {
  nan, inf, -1, 0, 2, 1e300, 'x', '1', '', false, {}, { 1, 2 }, { a = {} }, { [1] = 'a', x = nan },
  raises, raises, torch.Tensor(2, 2), torch.Tensor(), torch.LongStorage(2), io.stdout,
  coroutine.create(raises), setmetatable({}, { __index = raises, __tostring = raises }),
}

local TRIES = tonumber((...)) or 25

local function call(name, f, self)
  for _ = 1, TRIES do
    local n = math.random(0, 4)
    local args = {}
    for i = 1, n do args[i] = ODD[math.random(#ODD)] end
    if self ~= nil then
      table.insert(args, 1, self)
      n = n + 1
    end
    local ok, message = raw(f, unpack(args, 1, n))
    if not ok and type(message) == 'string'
      and (find(message, '[th] ', 1, true) or find(message, 'internal error', 1, true)
        or find(name, '^image') and find(message, 'attempt to ', 1, true)
        or find(name, '^hdf5') and find(message, "attempt to .-'(%l+)'") and
          not find(message, "'self'", 1, true)) then
      print_error(stderr, name, ': ', message, '\n')
    end
  end
end

local seen = {}

-- self: the object whose functions they are; nil: they are called with anything.
local function visit(name, functions, self, depth)
  if not functions or seen[functions] or depth > 4 then return end
  seen[functions] = true
  local names = {}
  for key in next, functions do
    if type(key) == 'string' and not LEFT_OUT[key] then names[#names + 1] = key end
  end
  table.sort(names)
  for _, key in ipairs(names) do
    local value, whole = rawget(functions, key), name .. '.' .. key
    if type(value) == 'function' then
      -- Lua calls metamethods with objects of the class alone.
      if self ~= nil or not find(key, '^__') then call(whole, value, self) end
      if not find(key, '^__') then call(whole, value) end
    elseif type(value) == 'table' and key ~= '__index' and key ~= '__constructor' then
      visit(whole, value, nil, depth + 1)
    end
  end
end

local PACKAGES = [[cjson cjson.safe csvigo dok hdf5 image lfs md5 paths signal
  signal.complex signal.fft socket sys tds threads threads.serialize xlua]]

local objects = {}
for name in PACKAGES:gmatch('%S+') do objects[name] = require(name) end
local tds, hdf5 = objects.tds, objects.hdf5
local made = {
  ['tds.Hash'] = tds.Hash{ a = 1 }, ['tds.Vec'] = tds.Vec{ 1, 2 },
  ['tds.AtomicCounter'] = tds.AtomicCounter(), ['hdf5.DataSetOptions'] = hdf5.DataSetOptions(),
  ['torch.Timer'] = torch.Timer(), ['torch.CmdLine'] = torch.CmdLine(),
  ['torch.Generator'] = torch.Generator(), ['torch.LongStorage'] = torch.LongStorage(3),
  ['xlua.Profiler'] = xlua.Profiler(),
}

for name, package in pairs(objects) do visit(name, package, nil, 0) end
for name, object in pairs(made) do
  local mt = get_metatable(object) or object
  visit(name, mt, object, 0)
  if type(mt.__index) == 'table' then visit(name, mt.__index, object, 0) end
end

-- What programs write: operators, and loops.
local hash, vec = tds.Hash(), tds.Vec()
for _, key in next, ODD do
  call('hash[x]', function() return hash[key] end)
  call('vec[x]', function() return vec[key] end)
  for _, value in next, ODD do
    call('hash[x] = y', function() hash[key] = value end)
    call('vec[x] = y', function() vec[key] = value end)
    call('torch.Tensor[x] = y', function() torch.Tensor[key] = value end)
  end
end
os.exit(0)
