--- Torch's class system: metatables by type name, constructors, inheritance, operators.
-- Manual: Torch utility functions. The behaviour is that of the reference's library luaT.
-- @module classes

local torch, errors, finalizers = import('torch', 'core.errors', 'core.finalizers')
local type_names = import 'core.type_names'

local classes = {}

local make_proxy, proxy_of_program = finalizers.newproxy, newproxy
local type, rawget, rawset, getmetatable = type, rawget, rawset, getmetatable
local setmetatable = setmetatable

local registry = debug.getregistry() -- type name -> metatable, and back: see type_names.lua
local proxies = setmetatable({}, { __mode = 'k' }) -- metatable -> a userdata that has it

local get_metatable, typename = type_names.metatable_of, type_names.typename

-- The metatable of a class, or nil. What else the registry has by names need not be a table.
local function class_named(tname)
  local mt = registry[tname]
  return type(mt) == 'table' and mt or nil
end

local function type_or_null(value)
  return typename(value) or '(null)'
end

-- The functions that a program gives to its classes have one frame of ours between them and their
-- caller, and no name, as where C calls them: tracebacks show it, and programs count frames
-- (debug.getinfo). So none is called by a tail call, which would leave no frame, and none as a
-- local, whose name it would get.

-- Returns what it gets: a call whose results pass through here is no tail call.
local function results(...)
  return ...
end

-- ---------------------------------------------------------------- indexing

local INDEX, NEWINDEX = '__index__', '__newindex__'

-- Metamethods are vararg functions so that LuaJIT starts no traces at them: see
-- tensor/access.lua.

local function index(self, key, ...) -- luacheck: ignore 212
  local mt = get_metatable(self)
  if not mt then errors.fail('critical internal indexing error: no metatable found') end
  local custom = mt.__index__
  if custom ~= nil then
    if type(custom) ~= 'function' then
      errors.fail('critical internal indexing error: __index__ is not a function')
    end
    local value, is_element = mt[INDEX](self, key)
    -- Torch7: the function's last result says whether there was such an element.
    if is_element then return value end
  end
  return mt[key]
end

local function newindex(self, key, value, ...) -- luacheck: ignore 212
  local mt = get_metatable(self)
  if not mt then errors.fail('critical internal indexing error: no metatable found') end
  local custom = mt.__newindex__
  if custom ~= nil then
    if type(custom) ~= 'function' then
      errors.fail('critical internal indexing error: __newindex__ is not a function')
    end
    if mt[NEWINDEX](self, key, value) then return end
  end
  if type(self) == 'table' then
    rawset(self, key, value)
  else
    errors.fail('the class ' .. type_or_null(self) .. ' cannot be indexed')
  end
end

-- --------------------------------------------------------------- operators

local function handler(value, field)
  local mt = get_metatable(value)
  return mt and mt[field]
end

local function binary(name, word)
  local field = '__' .. name .. '__'
  return function(a, b, ...) -- luacheck: ignore 212
    -- Torch7: the first operand that has a metatable decides, even if it is a string.
    local operand = debug.getmetatable(a) and a or b
    if handler(operand, field) == nil then
      errors.fail(('both %s and %s have no %s operator')
        :format(type_or_null(a), type_or_null(b), word))
    end
    local result = handler(operand, field)(a, b)
    return result
  end
end

local function unary(name, word)
  local field = '__' .. name .. '__'
  return function(a, ...)
    if handler(a, field) == nil then
      errors.fail(('%s has no %s operator'):format(type_or_null(a), word))
    end
    return results(handler(a, field)(a, ...))
  end
end

local function tostring_default(self, ...) -- luacheck: ignore 212
  local custom = handler(self, '__tostring__')
  if type(custom) == 'function' then return results(handler(self, '__tostring__')(self)) end
  if custom ~= nil then return custom end
  return typename(self)
end

-- Each class has a function of its own: Lua calls __eq only if both operands have the same one, so
-- that objects of two classes are never equal.
local function equality()
  return function(a, b, ...) -- luacheck: ignore 212
    local operand = handler(a, '__eq__') and a or b
    local same
    if handler(operand, '__eq__') then
      same = handler(operand, '__eq__')(a, b)
    else
      same = rawequal(a, b)
    end
    return same
  end
end

local operators = {
  __index = index,
  __newindex = newindex,
  __tostring = tostring_default,
  __add = binary('add', 'addition'),
  __sub = binary('sub', 'substraction'),
  __mul = binary('mul', 'multiplication'),
  __div = binary('div', 'division'),
  __mod = binary('mod', 'modulo'),
  __pow = binary('pow', 'power'),
  __concat = binary('concat', 'concat'),
  __lt = binary('lt', 'less-than'),
  __le = binary('le', 'less-equal'),
  __unm = unary('unm', 'negation'),
  __len = unary('len', 'length'),
  __call = unary('call', 'call'),
}

-- ------------------------------------------------------------ constructors

local function construct(self, ...)
  local mt = debug.getmetatable(self)
  if type(mt) ~= 'table' or rawget(mt, '__new') == nil then
    errors.fail('no constructor available')
  end
  return results(rawget(mt, '__new')(...))
end
errors.mark_constructor(construct)

local function add_method(self, key, value)
  rawset(rawget(debug.getmetatable(self), '__metatable'), key, value)
end

local function constructor_table(mt)
  return setmetatable({}, {
    __index = mt,
    __newindex = errors.public(add_method),
    __call = construct,
    __metatable = mt,
  })
end

-- The module table that a dotted name leads to, and the last part of the name.
local function locate(tname)
  local module, walked = _G, ''
  local path, root = tname:match('^(.*%.)([^.]*)$')
  if not path then return module, tname end
  for part in path:gmatch('([^.]*)%.') do
    module, walked = module[part], walked .. part
    if type(module) ~= 'table' then
      errors.fail(('while creating metatable %s: bad argument #1 (%s is an invalid module name)')
        :format(tname, walked))
    end
    walked = walked .. '.'
  end
  return module, root
end

local function new_metatable(tname)
  local proxy = make_proxy(true)
  local mt = debug.getmetatable(proxy)
  registry[tname], registry[mt], proxies[mt] = mt, tname, proxy
  for field, f in pairs(operators) do mt[field] = f end
  mt.__eq = equality()
  mt.__typename = tname
  mt.__metatable = mt
  mt.__version = 1
  return mt
end

local function assign(mt, field, value, message)
  if rawget(mt, field) ~= nil then errors.fail(message) end
  rawset(mt, field, value)
end

local function optional(arg, value, kind, what)
  if value ~= nil and type(value) ~= kind then
    errors.argument_error(arg, what .. ' or nil expected')
  end
end

local function check_name(tname)
  if type(tname) == 'number' then return tostring(tname) end
  if type(tname) ~= 'string' then errors.type_error(1, 'string', tname, tname == nil) end
  return tname
end

--- Creates, or completes, the metatable of a class and its constructor table.
function torch.newmetatable(tname, parent, new, destroy, factory, module)
  tname = check_name(tname)
  parent = type(parent) == 'number' and tostring(parent) or parent
  optional(2, parent, 'string', 'parent class name')
  optional(3, new, 'function', 'constructor function')
  optional(4, destroy, 'function', 'destructor function')
  optional(5, factory, 'function', 'factory function')
  optional(6, module, 'table', 'module table')
  local where, root = module, tname:match('([^.]+)$')
  if not where then where, root = locate(tname) end
  local mt = class_named(tname) or new_metatable(tname)
  if parent then
    if debug.getmetatable(mt) then
      errors.fail(('class %s has been already assigned a parent class\n'):format(tname))
    end
    if not class_named(parent) then
      errors.fail(('bad argument #2 (invalid parent class name %s)'):format(parent))
    end
    setmetatable(mt, class_named(parent))
  end
  if destroy then
    assign(mt, '__gc', finalizers.deferred(destroy),
      tname .. ' has been already assigned a destructor')
  end
  if factory then
    assign(mt, '__factory', factory, tname .. ' has been already assigned a factory')
  end
  local constructor = rawget(mt, '__constructor')
  if not constructor then
    constructor = constructor_table(mt)
    rawset(mt, '__constructor', constructor)
  end
  if new then
    assign(debug.getmetatable(constructor), '__new', new,
      tname .. ' has been already assigned a constructor')
    rawset(mt, 'new', new)
  end
  where[root] = constructor
  return mt
end

--- The userdata from which finalizers.newproxy makes others with this metatable.
function classes.proxy(mt)
  return proxies[mt]
end

-- luacheck: globals newproxy
--- Lua's newproxy; refuses to make a userdata of a torch class, which would have no Python object.
function newproxy(value)
  if value ~= nil and proxies[debug.getmetatable(value)] then
    errors.argument_error(1, 'boolean or proxy expected')
  end
  return proxy_of_program(value)
end

-- ------------------------------------------------------------- public part

function torch.getmetatable(tname)
  local mt = class_named(check_name(tname))
  if mt then return mt end
end

function torch.setmetatable(object, tname)
  if type(tname) ~= 'string' then errors.type_error(2, 'string', tname, tname == nil) end
  if type(object) ~= 'table' then errors.type_error(1, 'table', object) end
  local mt = class_named(tname)
  if not mt then errors.fail('unknown typename ' .. tname .. '\n') end
  debug.setmetatable(object, mt)
  return object
end

function torch.metatype(...)
  local n, tname, mt, ctype = select('#', ...), ...
  if n ~= 2 and n ~= 3 then errors.fail('expecting: string table [ctype]') end
  tname = check_name(tname)
  if type(mt) ~= 'table' then errors.type_error(2, 'table', mt) end
  if ctype then type_names.name_ctype(ctype, tname) end
  registry[tname], registry[mt] = mt, tname
end

function torch.factory(tname)
  local mt = class_named(check_name(tname))
  return mt and rawget(mt, '__factory')
end

function torch.getconstructortable(tname)
  local mt = class_named(check_name(tname))
  if mt then return rawget(mt, '__constructor') end
end

function torch.typename(...)
  if select('#', ...) == 0 then errors.argument_error(1, 'value expected') end
  local name = typename((...))
  if name then return name end
end

function torch.type(object)
  return typename(object) or type(object)
end

--- Tells whether an object is of a class or of one derived from it.
-- @param spec the class's name, a pattern for it, or its constructor table
function torch.isTypeOf(object, spec)
  if type(spec) ~= 'string' then
    local mt = get_metatable(spec)
    if not mt then errors.fail('attempt to index a nil value') end
    spec = mt.__typename
    if type(spec) ~= 'string' then
      error('type must be provided as [regexp] string, or factory', 0)
    end
  end
  local mt = getmetatable(object)
  while mt do
    local name = type(mt) == 'table' and mt.__typename
    if name then
      local match = name:match(spec)
      if match and (match ~= spec or match == name) then return true end
    end
    local parent = debug.getmetatable(mt)
    mt = parent ~= mt and parent or nil
  end
  return false
end

local note_redeclared -- told the metatable of a class that is declared again, or nil

--- Sets a function that is told the metatable of each class that a module, loaded anew, declares
-- again; nil where none is.
function classes.note_redeclared_by(f)
  note_redeclared = f
end

local declared = {} -- type name -> the source of the chunk that has declared the class

-- While a module is loaded anew: its class as it is, with the parent that it has now. The methods
-- that follow replace the old ones.
local function redeclare(tname, parent, module)
  local mt, parent_mt = class_named(tname), parent and class_named(parent) or nil
  if parent and not parent_mt then
    errors.fail(('bad argument #2 (invalid parent class name %s)'):format(parent))
  end
  note_redeclared(mt)
  debug.setmetatable(mt, parent_mt)
  local where, root = module, tname:match('([^.]+)$')
  if not where then where, root = locate(tname) end
  where[root] = rawget(mt, '__constructor')
  return mt, parent_mt
end

--- Declares a class; returns its metatable and that of its parent.
function torch.class(...)
  local n = select('#', ...)
  local tname, parent, module = ...
  if n == 2 and type(parent) == 'table' then parent, module = nil, parent end
  if type(tname) ~= 'string' or n > 3
    or (n >= 2 and not module and type(parent) ~= 'string')
    or (n == 3 and (type(parent) ~= 'string' or type(module) ~= 'table')) then
    errors.fail('<class name> [<parent class name>] [<module table>] expected')
  end
  local source = debug.getinfo(2, 'S').source
  if note_redeclared and class_named(tname) and declared[tname] == source then
    return redeclare(tname, parent, module)
  end
  declared[tname] = source
  local function factory()
    return torch.setmetatable({}, tname)
  end
  local function constructor(...)
    local self = factory()
    if self.__init then self:__init(...) end
    return self
  end
  local mt = torch.newmetatable(tname, parent, constructor, nil, factory, module)
  return mt, parent and class_named(parent) or nil
end

return classes
