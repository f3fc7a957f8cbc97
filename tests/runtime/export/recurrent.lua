--- Writes the file that test_recurrent.py compares with: modules of rnn, with two inputs of different
-- lengths and numbers of samples, and what they compute of these.
-- @script recurrent
-- usage: th recurrent.lua recurrent.t7, with nn, nngraph, dpnn and rnn where Lua finds them; then
-- gzip -9n

torch.setdefaulttensortype('torch.FloatTensor') -- rnn makes modules when it is loaded
torch.manualSeed(1)

require 'nn'
require 'nngraph'
require 'rnn'

local entries = {}

-- What rnn and nn compute anew.
local LEFT_OUT = {
  'output', 'gradInput', 'gradWeight', 'gradBias', 'gradWeightO', 'addBuffer', 'noise', 'outputs',
  'gradInputs', 'gradOutputs', 'sharedClones', 'cells', 'gradCells', 'cell', 'gates', 'next_h',
  'buffer', 'buffer1', 'buffer2', 'buffer3', 'grad_a_buffer', 'h0', 'c0', 'grad_c0', 'grad_h0',
  'grad_x', 'zeroMask', 'zeroTensor', 'tableoutput', 'tablegradinput', 'tablegradInput', 'temp',
  'gradTemp', 'save_mean', 'save_std', 'outputIndices', 'dpnn_mediumEmpty', 'typeTensor',
}

local function strip(value, seen)
  if type(value) ~= 'table' or torch.isTensor(value) or seen[value] then return end
  seen[value] = true
  if torch.typename(value) then
    for _, name in ipairs(LEFT_OUT) do value[name] = nil end
    for name, field in pairs(value) do
      local is_plain = torch.isTensor(field) or type(field) == 'table' and not torch.typename(field)
      if type(name) == 'string' and name:sub(1, 1) == '_' and is_plain then value[name] = nil end
    end
  end
  for _, field in pairs(value) do strip(field, seen) end
end

-- The entries of a table as one tensor, whose first dimension they are; those of tables in it apart.
local function together(steps)
  if torch.isTensor(steps) then return steps:clone() end
  if torch.isTensor(steps[1]) then
    local parts = {}
    for number, step in ipairs(steps) do parts[number] = step:view(1, unpack(step:size():totable())) end
    return torch.cat(parts, 1)
  end
  local results = {}
  for place = 1, #steps[1] do
    local column = {}
    for number, step in ipairs(steps) do column[number] = step[place] end
    results[place] = together(column)
  end
  return results
end

-- A random tensor, some of whose steps are zeros for a sample, or whole numbers from 0 or 1.
local function random(sizes, kind)
  local x = torch.randn(unpack(sizes))
  if kind == 'masked' then
    x[1][2]:zero()
    x[2][1]:zero()
  elseif kind then
    x:random(kind, 9)
  end
  return x
end

-- Adds a module. names: the sizes of its inputs as --input takes them, where time and batch stand
-- for sizes that differ; how: kind, of the first input; steps, whether that is a table.
local function add(name, module, names, how)
  how = how or {}
  for _, parameter in ipairs((module:parameters())) do parameter:normal(0, 0.5) end
  for _, norm in ipairs((module:findModules('nn.BatchNormalization'))) do
    norm.running_mean:normal()
    norm.running_var:uniform(0.5, 2)
  end
  module:evaluate()
  local entry = { name = name, module = module, shape = names, cases = {} }
  for _, open in ipairs { { time = 3, batch = 2 }, { time = 5, batch = 4 } } do
    local inputs = {}
    for text in names:gmatch('[^,]+') do
      local sizes = {}
      for word in text:gmatch('[^x]+') do sizes[#sizes + 1] = tonumber(word) or open[word] end
      inputs[#inputs + 1] = random(sizes, how.kind)
    end
    local input = #inputs == 1 and inputs[1] or inputs
    module:forget()
    local given = input
    if how.steps then given = nn.SplitTable(1):forward(input) end
    local output = module:forward(given)
    entry.cases[#entry.cases + 1] = { input = input, output = together(output) }
  end
  strip(module, {})
  entries[#entries + 1] = entry
end

local function sequential(...)
  local result = nn.Sequential()
  for _, module in ipairs { ... } do result:add(module) end
  return result
end

local TIME_FIRST, BATCH_FIRST = 'timexbatchx3', 'batchxtimex3'

-- cells
add('LSTM', nn.Sequencer(nn.LSTM(3, 2)), TIME_FIRST)
add('LSTM: no peepholes', nn.Sequencer(nn.LSTM(3, 2, nil, false)), TIME_FIRST)
add('LSTM: dropout', nn.Sequencer(nn.LSTM(3, 2, nil, nil, 0.3)), TIME_FIRST)
add('LSTM: vectors', nn.Sequencer(nn.LSTM(3, 2)), 'timex3')
add('LSTM: masked', nn.Sequencer(nn.LSTM(3, 2):maskZero(1)), TIME_FIRST, { kind = 'masked' })
add('FastLSTM', nn.Sequencer(nn.FastLSTM(3, 2)), TIME_FIRST)
add('FastLSTM: as many outputs as inputs', nn.Sequencer(nn.FastLSTM(3, 3)), TIME_FIRST)
add('FastLSTM: dropout', nn.Sequencer(nn.FastLSTM(3, 2, nil, nil, nil, nil, 0.3)), TIME_FIRST)
add('FastLSTM: masked', nn.Sequencer(nn.FastLSTM(3, 2):maskZero(1)), TIME_FIRST, { kind = 'masked' })
nn.FastLSTM.bn = true
add('FastLSTM: normalised', nn.Sequencer(nn.FastLSTM(3, 2)), TIME_FIRST)
nn.FastLSTM.bn = false
nn.FastLSTM.usenngraph = true
add('FastLSTM: graph', nn.Sequencer(nn.FastLSTM(3, 2)), TIME_FIRST)
nn.FastLSTM.usenngraph = false
add('GRU', nn.Sequencer(nn.GRU(3, 2)), TIME_FIRST)
add('GRU: dropout', nn.Sequencer(nn.GRU(3, 2, nil, 0.3)), TIME_FIRST)
add('GRU: trimmed', nn.Sequencer(nn.GRU(3, 2):trimZero(1)), TIME_FIRST, { kind = 'masked' })
add('MuFuRu', nn.Sequencer(nn.MuFuRu(3, 2)), TIME_FIRST)
add('Recurrent', nn.Sequencer(nn.Recurrent(2, nn.Linear(3, 2), nn.Linear(2, 2))), TIME_FIRST)
add('Recurrent: start', nn.Sequencer(
  nn.Recurrent(nn.Identity(), nn.Linear(3, 2), nn.Linear(2, 2), nn.Tanh())), TIME_FIRST)
local joined = sequential(nn.JoinTable(1, 1), nn.FastLSTM(5, 2))
add('Recurrence', nn.Sequencer(nn.Recurrence(joined, 2, 1)), TIME_FIRST)
local linear = sequential(nn.JoinTable(1, 1), nn.Linear(6, 2), nn.Tanh())
local cells = sequential(nn.FlattenTable(), nn.ConcatTable():add(linear):add(nn.SelectTable(3)))
add('Recurrence: tables', nn.Sequencer(nn.Recurrence(cells, { { 2 }, { 1 } }, 1)), TIME_FIRST,
  { steps = true })

-- sequencers
add('Sequencer: stacked', sequential(nn.Sequencer(nn.FastLSTM(3, 2)),
  nn.Sequencer(nn.NormStabilizer()), nn.Sequencer(nn.Linear(2, 4)), nn.Sequencer(nn.LogSoftMax())),
  TIME_FIRST)
add('Sequencer: indices', sequential(nn.LookupTable(9, 3), nn.SplitTable(1), nn.Sequencer(
  sequential(nn.GRU(3, 2), nn.Dropout(0.5), nn.Linear(2, 9), nn.LogSoftMax()))), 'timexbatch',
  { kind = 1 })
add('Sequencer: last step', sequential(nn.SplitTable(2), nn.Sequencer(nn.GRU(3, 2)),
  nn.SelectTable(-1), nn.Linear(2, 2)), BATCH_FIRST)
add('Sequencer: joined', sequential(nn.SplitTable(1), nn.Sequencer(nn.GRU(3, 2)), nn.JoinTable(1)),
  TIME_FIRST)
add('Sequencer: part', sequential(nn.SplitTable(1), nn.NarrowTable(2, 2),
  nn.Sequencer(nn.Linear(3, 2)), nn.JoinTable(2)), TIME_FIRST)
add('Sequencer: vectors', nn.Sequencer(sequential(nn.Linear(3, 2), nn.LogSoftMax())), 'timex3')
add('Sequencer: within another', nn.Sequencer(sequential(nn.SplitTable(1),
  nn.Sequencer(nn.LSTM(3, 2)), nn.SelectTable(-1))), '2xtimexbatchx3')
local x = nn.Identity()()
local graph = nn.gModule({ x }, { nn.CMulTable() { nn.GRU(3, 2)(x), nn.Linear(3, 2)(x) } })
add('Sequencer: graph', nn.Sequencer(graph), TIME_FIRST)
add('ZipTable', sequential(nn.ParallelTable():add(nn.SplitTable(1)):add(nn.SplitTable(1)),
  nn.ZipTable(), nn.Sequencer(nn.JoinTable(1, 1)), nn.Sequencer(nn.GRU(5, 2))),
  'timexbatchx3,timexbatchx2')
add('MapTable', sequential(nn.SplitTable(1), nn.MapTable(nn.Linear(3, 2))), TIME_FIRST)
add('BiSequencer', nn.BiSequencer(nn.FastLSTM(3, 2), nn.GRU(3, 2)), TIME_FIRST, { steps = true })
add('BiSequencerLM', sequential(nn.SplitTable(1),
  nn.BiSequencerLM(nn.FastLSTM(3, 2), nn.FastLSTM(3, 2), nn.CAddTable())), TIME_FIRST)
add('Repeater', sequential(nn.Repeater(nn.GRU(3, 3), 3), nn.JoinTable(2)), 'batchx3')
add('MaskZero', nn.Sequencer(nn.MaskZero(nn.Linear(3, 2), 1)), TIME_FIRST, { kind = 'masked' })
add('LookupTableMaskZero', sequential(nn.LookupTableMaskZero(9, 3), nn.SplitTable(1),
  nn.Sequencer(nn.GRU(3, 2):maskZero(1))), 'timexbatch', { kind = 0 })

-- layers of whole sequences
local function layer(kind, fields, ...)
  local result = nn[kind](...)
  for name, value in pairs(fields) do result[name] = value end
  return result
end
for _, kind in ipairs { 'SeqLSTM', 'SeqGRU' } do
  add(kind, nn[kind](3, 2), TIME_FIRST)
  add(kind .. ': samples first', layer(kind, { batchfirst = true }, 3, 3), BATCH_FIRST)
  add(kind .. ': masked', layer(kind, { maskzero = true }, 3, 2), TIME_FIRST, { kind = 'masked' })
  add(kind .. ': output before', nn[kind](3, 2), 'batchx2,timexbatchx3')
end
add('SeqLSTM: states before', nn.SeqLSTM(3, 2), 'batchx2,batchx2,timexbatchx3')
add('SeqLSTMP', nn.SeqLSTMP(3, 4, 2), TIME_FIRST)
add('SeqBRNN', nn.SeqBRNN(3, 2), TIME_FIRST)
add('SeqBRNN: samples first', nn.SeqBRNN(3, 2, true, nn.JoinTable(3)), BATCH_FIRST)

torch.save(arg[1], entries)
print(#entries .. ' entries')
