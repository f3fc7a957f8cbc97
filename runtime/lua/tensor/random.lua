--- torch.Generator, torch._gen, and the functions of the alias method.
-- @module random

local th = ...
local ffi = require 'ffi'
local torch = th.torch

local make = th.stub('Generator.new')

local function new()
  local value = make()
  return value
end
th.mark_constructor(new)

local mt = torch.newmetatable('torch.Generator', nil, new, nil, new, torch)
th.bind_other_class('torch.Generator', mt)

local WORDS = 631 -- of 64 bits: the size of the reference's struct

--- The memory whose address nn's RReLU reads out of torch._gen. Nothing is kept there: it stands
-- for the default generator (lua/thnn/door.lua).
th.generator_memory = th.working_memory('uint64_t', WORDS)
local place = ffi.new('void *[1]', th.generator_memory)

-- A userdata in which the FFI finds that address, as in the reference's. The FFI takes a userdata
-- for the address of what is in it; of LuaJIT's string buffers that is where they read, here
-- `place`. A buffer over memory of others keeps it alive, and has nothing to free. Returns nil
-- where the FFI finds something else.
local function addressed()
  local value = require('string.buffer').new()
  value:set(place, 0)
  if ffi.cast('void **', value)[0] ~= place[0] then return nil end
  debug.setmetatable(value, mt)
  return value
end

--- The generator from which functions draw that are passed none.
torch._gen = th.late(mt, function() return (th.ask(th.host.default_generator)) end, addressed())

local function check(self, file)
  if th.typename(self) ~= 'torch.Generator' then th.class_error(1, 'torch.Generator', self) end
  if not torch.isTypeOf(file, 'torch.File') then th.class_error(2, 'torch.File', file) end
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

--- Fills a LongTensor with indices drawn by the tables that multinomialAliasSetup returns.
function torch.multinomialAlias(output, state)
  if state == nil then th.fail("attempt to index local 'state' (a nil value)") end
  torch.DoubleTensor.multinomialAlias_(output, state[1], state[2])
  return output
end
th.make_public(torch, 'multinomialAlias multinomialAliasSetup')
