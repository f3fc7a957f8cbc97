--- torch.Tester and torch.TestSuite: assertions, and the tests that hold them.
-- @module tester

local th = ...
local torch = th.torch
th.chunk('testing/equal')(th)
local equal = th.tester_equal

local type, tostring, select, pcall = type, tostring, select, pcall
local format = string.format

local Tester = torch.class('torch.Tester', torch)
th.tester = Tester

function Tester:__init()
  self.errors, self.tests, self.warnings = {}, {}, {}
  self._warningCount, self.disabledTests = {}, {}
  self._currentTestName = ''
  -- Torch7: assertTensorEq (no other assertion) lets shapes differ, with a warning.
  self._assertTensorEqIgnoresDims = true
end

function Tester:setEarlyAbort(on) self.earlyAbort = on end

function Tester:setRethrowErrors(on) self.rethrow = on end

function Tester:setSummaryOnly(on) self.summaryOnly = on end

-- ------------------------------------------------------------ what is noted

-- The two lines of a traceback in front of the frame that called the test: the user's, and of
-- ours, where `own`, the assertion.
local function place(own)
  local last, before, at_call, assertion
  for line in debug.traceback('', 2):gmatch('\n([^\n]+)') do
    local ours = line:find('[th] ', 1, true)
    if at_call then
      -- The outermost call of that kind starts the whole program: no test runs.
      local outside = ours and line:find('[th] shell.lua', 1, true)
      return before and not outside and before .. '\n' .. last or ''
    elseif line:find('xpcall', 1, true) and not ours then
      at_call = true
    elseif ours then
      assertion = line
    else
      if own and assertion then
        before, last, own = last, assertion:gsub('%[th%] testing/tester', 'torch/Tester'), false
      end
      before, last = last, line
    end
  end
  return ''
end

function Tester:_addDebugInfo(message, own)
  local name = self._currentTestName
  return (name ~= '' and name .. '\n' or '') .. message .. '\n' .. place(own)
end

function Tester:_success()
  local passed, name = self.assertionPass, self._currentTestName
  passed[name] = passed[name] + 1
  return true
end

function Tester:_failure(message)
  if self.rethrow then th.fail(message) end
  local failed, name = self.assertionFail, self._currentTestName
  failed[name] = failed[name] + 1
  self.errors[#self.errors + 1] = self:_addDebugInfo(message)
  return false
end

function Tester:_warning(message)
  local name = self._currentTestName
  self._warningCount[name] = (self._warningCount[name] or 0) + 1
  self.warnings[#self.warnings + 1] = self:_addDebugInfo(message, true)
end

--- Notes a success, or a failure with its message; returns which.
function Tester:_assert_sub(condition, message)
  if condition then return self:_success() end
  return self:_failure(message)
end

-- --------------------------------------------------------------- arguments

local function message_of(...)
  local message = (...)
  for i = 2, select('#', ...) do
    if select(i, ...) ~= nil then error('Unexpected arguments passed to test function', 0) end
  end
  if message and type(message) ~= 'string' then error('message parameter must be a string', 0) end
  return message and message ~= '' and message .. '\n' or ''
end

-- A tolerance and a message, in either order.
local function tolerance_and_message(default, ...)
  local tolerance, message
  for i = 1, select('#', ...) do
    local value = select(i, ...)
    local kind = type(value)
    if value == nil then
      break
    elseif kind == 'string' then
      if message then th.fail('Unexpected string argument; already have message') end
      message = value .. '\n'
    elseif kind == 'number' then
      if tolerance then th.fail('Unexpected number argument; already have tolerance') end
      tolerance = value
      if value < 0 then error('tolerance cannot be negative', 0) end
    else
      th.fail('Unrecognized argument; should be a tolerance or message')
    end
  end
  return tolerance or default, message or ''
end

-- -------------------------------------------------------------- assertions

function Tester:assert(condition, ...)
  local message = message_of(...)
  if type(condition) ~= 'boolean' then
    self:_warning(' :assert should only be used for boolean conditions. '
      .. 'To check for non-nil variables, do this explicitly: Tester:assert(var ~= nil).')
  end
  return self:_assert_sub(condition,
    format('%sBOOL violation condition=%s', message, tostring(condition)))
end

local comparisons = {
  lt = { 'LT failed: %s >= %s', function(a, b) return a < b end },
  gt = { 'GT failed: %s <= %s', function(a, b) return a > b end },
  le = { 'LE failed: %s > %s', function(a, b) return a <= b end },
  ge = { 'GE failed: %s < %s', function(a, b) return a >= b end },
  eq = { 'EQ failed: %s ~= %s', function(a, b) return a == b end },
  ne = { 'NE failed: %s == %s', function(a, b) return a ~= b end },
}

local function compare(name, self, a, b, ...)
  local message = message_of(...)
  local text = comparisons[name][1]
  local ok, holds = pcall(comparisons[name][2], a, b)
  if not ok then th.fail((holds:gsub('^%[th%] [^:]*:%d+: ', ''))) end
  return self:_assert_sub(holds, format('%s' .. text, message, tostring(a), tostring(b)))
end

for name in pairs(comparisons) do
  Tester['assert' .. name] = function(self, ...) return compare(name, self, ...) end
end

function Tester:assertne(a, b, ...)
  message_of(...)
  if type(a) == 'table' and type(b) == 'table' or type(a) == 'userdata' then
    self:_warning(' :assertne should only be used to compare basic lua objects (numbers, '
      .. 'booleans, etc). Consider using either :assertGeneralNe or :assert(a ~= b).')
  end
  return compare('ne', self, a, b, ...)
end

function Tester:assertalmosteq(a, b, ...)
  local tolerance, message = tolerance_and_message(1e-16, ...)
  return self:_assert_sub(math.abs(a - b) <= tolerance,
    format('%sALMOST_EQ failed: %s ~= %s with tolerance=%s', message, tostring(a), tostring(b),
      tostring(tolerance)))
end

function Tester:_eqOrNeq(got, expected, negate, ...)
  local tolerance, message = tolerance_and_message(0, ...)
  local holds, text = equal.values(got, expected, tolerance, negate)
  return self:_assert_sub(holds, message .. (text or ''))
end

function Tester:assertGeneralEq(got, expected, ...)
  return self:_eqOrNeq(got, expected, false, ...)
end

function Tester:assertGeneralNe(got, unexpected, ...)
  return self:_eqOrNeq(got, unexpected, true, ...)
end

function Tester:eq(...) return self:assertGeneralEq(...) end

function Tester:ne(...) return self:assertGeneralNe(...) end

local function assert_tensors(self, a, b, negate, ...)
  if not torch.isTensor(a) then error('First argument should be a Tensor', 0) end
  if not torch.isTensor(b) then error('Second argument should be a Tensor', 0) end
  local tolerance, message = tolerance_and_message(0, ...)
  local any_shape = self._assertTensorEqIgnoresDims
  local holds, text = equal.tensors(a, b, tolerance, negate, any_shape)
  if any_shape and not negate and holds and not a:isSameSizeAs(b) then
    self:_warning('Tensors have the same content but different dimensions. '
      .. 'For backwards compatibility, they are considered equal, but this may change in the '
      .. 'future. Consider using :eq to check for equality instead.')
  end
  return self:_assert_sub(holds, message .. (text or ''))
end

function Tester:assertTensorEq(a, b, ...) return assert_tensors(self, a, b, false, ...) end

function Tester:assertTensorNe(a, b, ...) return assert_tensors(self, a, b, true, ...) end

local function assert_tables(self, a, b, negate, ...)
  if type(a) ~= 'table' then error('First argument should be a Table', 0) end
  if type(b) ~= 'table' then error('Second argument should be a Table', 0) end
  return self:_eqOrNeq(a, b, negate, ...)
end

function Tester:assertTableEq(a, b, ...) return assert_tables(self, a, b, false, ...) end

function Tester:assertTableNe(a, b, ...) return assert_tables(self, a, b, true, ...) end

-- ------------------------------------------------------------------ errors

function Tester:assertErrorObj(f, accepts, ...)
  local message = message_of(...)
  local ok, value = pcall(f)
  return self:_assert_sub(not ok and accepts(value),
    format('%sERROR violation: err=%s', message, tostring(value)))
end

function Tester:assertError(f, ...)
  return self:assertErrorObj(f, function() return true end, ...)
end

function Tester:assertErrorMsg(f, expected, ...)
  return self:assertErrorObj(f, function(value) return value == expected end, ...)
end

function Tester:assertErrorPattern(f, pattern, ...)
  return self:assertErrorObj(f, function(value) return value:find(pattern) ~= nil end, ...)
end

function Tester:assertNoError(f, ...)
  local message = message_of(...)
  local ok, value = pcall(f)
  return self:_assert_sub(ok, format('%sERROR violation: err=%s', message, tostring(value)))
end

-- ------------------------------------------------------------------- tests

local SPECIAL = { _setUp = 'set-up', _tearDown = 'tear-down' }

local function add_table(self, tests)
  if tests.__isTestSuite then
    tests = tests.__tests
  else
    self:_warning('Should use TestSuite rather than plain lua table')
  end
  for name, f in pairs(tests) do
    if type(f) == 'table' then error('Nested sets of tests are not supported', 0) end
    self:add(f, name)
  end
end

--- Adds a function under a name, or all functions of a suite or table.
function Tester:add(f, name)
  if type(f) == 'table' then
    if name ~= nil then
      error('Name parameter is forbidden for a table of tests, since its use is ambiguous', 0)
    end
    add_table(self, f)
    return self
  elseif type(f) ~= 'function' then
    error('Only tables of functions and functions supported', 0)
  elseif SPECIAL[name] then
    if self[name] then error('Only one ' .. SPECIAL[name] .. ' function allowed', 0) end
    self[name] = f
    return self
  end
  name = name or 'unknown'
  if self.tests[name] ~= nil then th.fail('Test with name ' .. name .. ' already exists!') end
  self.tests[name] = f
  return self
end

function Tester:disable(names)
  if type(names) == 'string' then names = { names } end
  if type(names) ~= 'table' then error('Expecting name or list for disable', 0) end
  for _, name in ipairs(names) do
    if not self.tests[name] then error("Unrecognized test '" .. name .. "'", 0) end
    self.disabledTests[name] = true
  end
  return self
end

--- A table of tests that takes functions only, and each name once.
function torch.TestSuite()
  local tests = {}
  return setmetatable({ __tests = tests, __isTestSuite = true }, {
    __index = tests,
    __newindex = function(_, name, f)
      if tests[name] ~= nil then th.fail('Test ' .. tostring(name) .. ' is already defined.') end
      if type(f) == 'table' then th.fail('Nested tables of tests are not supported') end
      if type(f) ~= 'function' then
        th.fail('Only functions are supported as members of a TestSuite')
      end
      tests[name] = f
    end,
  })
end

th.chunk('testing/run')(th)

local selftest

--- Tests this installation: all of a few tests, or those whose names match.
function torch.test(names)
  selftest = selftest or th.chunk('testing/selftest')(th)
  return selftest(names)
end
