--- torch.Tester: runs its tests, shows the progress and reports.
-- @module tester_run

local th = ...
local Tester = th.tester

local pairs, ipairs, type = pairs, ipairs, type
local format, rep = string.format, string.rep

local COLUMNS = 80
local FAILED = 'An error was found while running tests!'

-- io.write is looked up for each text: who replaces it sees or silences the report.
local function write(...)
  io.write(...)
end

-- Torch7: colours as soon as Lua was started as a command, be it into a pipe.
local function coloured(text, name)
  if not rawget(_G, 'arg') then return text end
  local colours = require('sys.colors')
  return colours[name] .. text .. colours.none
end

local function bracket(text, colour)
  return '[' .. coloured(text, colour) .. ']'
end

local function count(n, what)
  return n .. ' ' .. what .. (n == 1 and '' or 's')
end

-- ----------------------------------------------------------------- running

local function run_function(self, f)
  local before = #self.errors
  if self.rethrow then
    f()
    return true, #self.errors == before
  end
  local ok, report = xpcall(f, th.traceback)
  if not ok then
    local message, frames = th.read_report(report)
    local text = message .. (frames ~= '' and '\n' .. frames or '')
    self.errors[#self.errors + 1] =
      self._currentTestName .. '\n Function call failed\n' .. text .. '\n'
  end
  return ok, ok and #self.errors == before
end

local function run_test(self, name, f)
  if self._setUp then self._setUp(name) end
  local ok, passed = run_function(self, f)
  if self._tearDown then self._tearDown(name) end
  return ok, passed
end

local function verdict(skipped, ok, passed)
  if skipped then return 'SKIP', 'yellow' end
  if not ok then return 'ERROR', 'magenta' end
  if not passed then return 'FAIL', 'red' end
  return 'PASS', 'green'
end

local function line_start(i, n, name)
  local digits = #tostring(n)
  local dots = COLUMNS - 6 - 2 - (2 * digits + 2) - #name
  return coloured(format('%' .. digits .. 'd/%d ', i, n), 'cyan') .. name .. ' '
    .. rep('.', dots) .. ' '
end

function Tester:_run(tests)
  local n, i = 0, 0
  for _ in pairs(tests) do n = n + 1 end
  write('Running ' .. count(n, 'test') .. '\n')
  for name, f in pairs(tests) do
    i = i + 1
    self._currentTestName = name
    local start = line_start(i, n, name)
    write(start .. bracket('WAIT', 'cyan'))
    io.flush()
    local skipped, ok, passed = self.disabledTests[name], nil, nil
    if not skipped then ok, passed = run_test(self, name, f) end
    write('\r', start, bracket(verdict(skipped, ok, passed)))
    if not skipped and not ok then self.testError[name] = 1 end
    if passed and self._warningCount[name] > 0 then
      write('\n' .. rep(' ', COLUMNS - 10), bracket('+warning', 'yellow'))
    end
    write('\n')
    io.flush()
    if self.earlyAbort and i < n and not skipped and not passed then
      write('Aborting on first error, not all tests have been executed\n')
      break
    end
    collectgarbage()
  end
end

--- The tests to run: all, or those whose names match one of the patterns.
function Tester:_getTests(names)
  if names == nil then return self.tests end
  if type(names) == 'string' then names = { names } end
  if type(names) ~= 'table' then
    error('Only accept a name or table of test names (or nil for all tests)', 0)
  end
  local chosen = {}
  for _, pattern in ipairs(names) do
    local found = false
    for name, f in pairs(self.tests) do
      if name:match(pattern) then chosen[name], found = f, true end
    end
    if not found then error("Couldn't find test '" .. pattern .. "'", 0) end
  end
  return chosen
end

--- Runs the tests and reports; an error where one of them failed.
function Tester:run(names)
  local tests = self:_getTests(names)
  self.assertionPass, self.assertionFail, self.testError, self.haveWarning = {}, {}, {}, {}
  for name in pairs(tests) do
    self.assertionPass[name], self.assertionFail[name] = 0, 0
    self.testError[name], self._warningCount[name] = 0, 0
  end
  self:_run(tests)
  self:_report(tests)
  for name in pairs(tests) do
    if self.assertionFail[name] > 0 or self.testError[name] > 0 then error(FAILED, 0) end
  end
  return 0
end

-- --------------------------------------------------------------- reporting

local function totals(self, tests)
  local t = { tests = 0, asserts = 0, failures = 0, errors = 0, disabled = 0,
    warnings = self._warningCount[''] or 0 }
  for name in pairs(tests) do
    t.tests = t.tests + 1
    t.asserts = t.asserts + self.assertionFail[name] + self.assertionPass[name]
    if self.assertionFail[name] > 0 then t.failures = t.failures + 1 end
    if self.testError[name] > 0 then t.errors = t.errors + 1 end
    if self._warningCount[name] > 0 then t.warnings = t.warnings + 1 end
    if self.disabledTests[name] then t.disabled = t.disabled + 1 end
  end
  return t
end

local function sections(self)
  local dashes = rep('-', COLUMNS) .. '\n'
  if self.errors[1] or self.warnings[1] then write(dashes) end
  for _, text in ipairs(self.errors) do write(text .. '\n', dashes) end
  for _, text in ipairs(self.warnings) do write(text .. '\n', dashes) end
end

function Tester:_report(tests)
  local t = totals(self, tests)
  self.countasserts = t.asserts
  write('Completed ' .. count(t.asserts, 'assert'), ' in ' .. count(t.tests, 'test') .. ' with ')
  write(coloured(count(t.failures, 'failure'), t.failures == 0 and 'green' or 'red'), ' and ')
  write(coloured(count(t.errors, 'error'), t.errors == 0 and 'green' or 'magenta'))
  if t.warnings > 0 then
    write(' and ', coloured(count(t.warnings, 'warning'), 'yellow'))
  end
  if t.disabled > 0 then
    write(' and ', coloured(t.disabled .. ' disabled', 'yellow'))
  end
  write('\n')
  if not self.summaryOnly then sections(self) end
end
