--- torch.Generator, the class of random streams; torch._gen, the default one; and the alias method
-- of torch.multinomial, in the two functions that the reference has in Lua.
-- @module random

local ffi, host, torch, bridge = import('ffi', 'host', 'torch', 'core.bridge')
local c_structs, class_ids, errors = import('core.c_structs', 'core.class_ids', 'core.errors')
local python_calls, type_names = import('core.python_calls', 'core.type_names')
local raw_memory = import 'parallel.memory'

local random_numbers = {}

local make = bridge.stub('Generator.new')

local function new()
  local value = make()
  return value
end
errors.mark_constructor(new)

local mt = torch.newmetatable('torch.Generator', nil, new, nil, new, torch)
class_ids.bind_other_class('torch.Generator', mt)

local WORDS = 631 -- of 64 bits: the size of the reference's struct

--- The memory whose address nn's RReLU reads out of torch._gen. Nothing is kept there: it stands
-- for the default generator (thnn/entries.lua).
random_numbers.generator_memory = raw_memory.working_memory('uint64_t', WORDS)
local place = ffi.new('void *[1]', random_numbers.generator_memory)

-- Makes a userdata that the FFI reads as a pointer to that address, as it reads the reference's
-- torch._gen. The FFI takes a userdata for a pointer to its contents. The contents of a string
-- buffer of LuaJIT begin with the pointer at which it reads, here `place`. The buffer keeps `place`
-- alive, and frees nothing. Returns nil in a LuaJIT whose buffers begin otherwise.
local function addressed()
  local value = require('string.buffer').new()
  value:set(place, 0)
  if ffi.cast('void **', value)[0] ~= place[0] then return nil end
  debug.setmetatable(value, mt)
  return value
end

--- The default generator: functions draw from it unless they are passed another one.
torch._gen = c_structs.late(mt, function()
  return (python_calls.ask(host.default_generator))
end, addressed())

-- Raises an error unless a call is generator:read(file) or generator:write(file).
local function check(self, file)
  local name = type_names.typename(self)
  if name ~= 'torch.Generator' then errors.class_error(1, 'torch.Generator', self) end
  if not torch.isTypeOf(file, 'torch.File') then errors.class_error(2, 'torch.File', file) end
end

--- Writes a generator's state to a torch.File, as bytes.
function mt.write(self, file)
  check(self, file)
  file:writeByte(torch.getRNGState(self):storage())
end

--- Sets a generator to the state that a torch.File has.
function mt.read(self, file)
  check(self, file)
  local size = torch.getRNGState(self):nElement()
  torch.setRNGState(self, torch.ByteTensor(file:readByte(size)))
end

--- The tables of the alias method for a distribution: { aliases, probabilities }.
function torch.multinomialAliasSetup(probs, state)
  if torch.type(state) == 'table' then
    state[1], state[2] = torch.multinomialAliasSetup_(probs, state[1], state[2])
  else
    state = { torch.multinomialAliasSetup_(probs) }
  end
  return state
end

--- Fills a LongTensor with random indices, by the tables that multinomialAliasSetup returns.
function torch.multinomialAlias(output, state)
  if state == nil then errors.fail("attempt to index local 'state' (a nil value)") end
  torch.DoubleTensor.multinomialAlias_(output, state[1], state[2])
  return output
end
errors.make_public(torch, 'multinomialAlias multinomialAliasSetup')

return random_numbers
