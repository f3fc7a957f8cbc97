--- torch.Tester and torch.TestSuite: the tests that they hold.
-- @module tester

local errors, test_runner = import('core.errors', 'testing.run')

local Tester = test_runner.Tester

import 'testing.notes'
import 'testing.assertions'

function Tester:__init()
  self.tests, self.disabledTests, self._currentTestName = {}, {}, ''
  self.errors, self.warnings, self._warningCount = {}, {}, {}
  -- Torch7: assertTensorEq (no other assertion) lets shapes differ, with a warning.
  self._assertTensorEqIgnoresDims = true
end

--- Sets whether the first test that fails is the last one.
function Tester:setEarlyAbort(on) self.earlyAbort = on end

--- Sets whether errors and failures leave `run` as errors.
function Tester:setRethrowErrors(on) self.rethrow = on end

--- Sets whether the report has no texts of failures.
function Tester:setSummaryOnly(on) self.summaryOnly = on end

-- ------------------------------------------------------------ adding tests

local HOOKS = { _setUp = 'set-up', _tearDown = 'tear-down' }

local function add_all(self, tests)
  local suite = tests.__isTestSuite
  if not suite then self:_warning('Should use TestSuite rather than plain lua table') end
  for name, f in pairs(suite and tests.__tests or tests) do
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
    add_all(self, f)
  elseif type(f) ~= 'function' then
    error('Only tables of functions and functions supported', 0)
  elseif HOOKS[name] then
    if self[name] then error('Only one ' .. HOOKS[name] .. ' function allowed', 0) end
    self[name] = f
  else
    name = name or 'unknown'
    if self.tests[name] ~= nil then errors.fail('Test with name ' .. name .. ' already exists!') end
    self.tests[name] = f
  end
  return self
end

local function disable_one(self, name)
  if not self.tests[name] then error("Unrecognized test '" .. name .. "'", 0) end
  self.disabledTests[name] = true
end

--- Lets `run` pass over the test of a name, or the tests of a list of names.
function Tester:disable(names)
  local kind = type(names)
  if kind == 'string' then
    disable_one(self, names)
  elseif kind == 'table' then
    for _, name in ipairs(names) do disable_one(self, name) end
  else
    error('Expecting name or list for disable', 0)
  end
  return self
end

errors.make_public(Tester, '__init setEarlyAbort setRethrowErrors setSummaryOnly add disable')

-- ------------------------------------------------------------------ suites

-- Why a suite cannot hold a value under a name, or nil.
local function refusal(tests, name, value)
  if tests[name] ~= nil then return 'Test ' .. tostring(name) .. ' is already defined.' end
  if type(value) == 'table' then return 'Nested tables of tests are not supported' end
  if type(value) ~= 'function' then
    return 'Only functions are supported as members of a TestSuite'
  end
end

--- A table of tests that takes functions only, and each name once.
function torch.TestSuite()
  local tests = {}
  local function add(_, name, value)
    local text = refusal(tests, name, value)
    if text then errors.fail(text) end
    tests[name] = value
  end
  local suite = { __isTestSuite = true, __tests = tests }
  return setmetatable(suite, { __index = tests, __newindex = add })
end

-- ------------------------------------------------------- this installation

--- Tests this installation: all of a few tests, or those whose names match.
function torch.test(names)
  return import 'testing.selftest'(names)
end
