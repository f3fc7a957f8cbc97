--- Puts counters into the loops of compiled chunks, so that Ctrl-C stops them, and takes them out.
-- LuaJIT's hooks do not run in code that it has compiled, and it reads what a loop does not change
-- but once. So a loop counts its turns down in a variable that all functions share, and when that
-- is 0, calls a function that looks for Ctrl-C. Both are upvalues, behind those of the function as
-- written; its instructions are these, before the first one of the loop's body:
--
--     left = left - 1
--     if not (0 < left) then poll() end
--
-- A turn in which functions are called or strings joined may take long, and counts as many turns.
-- Calls outside of loops count too, before the first one of those that are made one after the
-- other: a function may call itself without end, twice or more often, or at its end.
-- @module counters

local ffi, bit, raw_memory, dumps = import('ffi', 'bit', 'parallel.memory', 'stopping.dumps')
local buffer = require 'string.buffer'

local band, bor, lshift, rshift = bit.band, bit.bor, bit.lshift, bit.rshift
local cast, new, working_memory = ffi.cast, ffi.new, raw_memory.working_memory
local sub = string.sub

-- Upvalues, and slots of a frame, that counting adds; the upvalues that a function may have.
local counters = { ADDED = 2, UPVALUES = 60 }

-- Numbers of instructions.
local ISLT, SUBVV, KSHORT, UGET, USETV, UCLO = 0, 33, 41, 45, 46, 50
local CAT, CALLM, CALL, CALLMT, CALLT, ITERC, VARG, ISNEXT = 38, 65, 66, 67, 68, 69, 71, 72
local FORI, FORL, ITERL, LOOP, JMP = 77, 79, 82, 85, 88

local FARTHEST = 32767 -- a jump
local ADDED = counters.ADDED
local LENGTH = 9 -- of the instructions of a counter
local FOR_SLOTS = 4 -- of a numeric loop: its numbers and the variable

-- Numbers to subtract: for a turn without calls, a turn with some, and for calls outside of loops.
local LIGHT, HEAVY, CALLS = 1, 500, 1

local JUMPS = { [UCLO] = true, [ISNEXT] = true, [FORI] = true, [FORL] = true, [ITERL] = true,
  [LOOP] = true, [JMP] = true }
-- The instructions that matter here, besides tail calls.
local is_jump = new('bool[256]')
for op in pairs(JUMPS) do is_jump[op] = true end
local is_heavy = new('bool[256]')
for _, op in ipairs{ CAT, CALLM, CALL, CALLMT, CALLT, ITERC } do is_heavy[op] = true end

local function op_of(instruction) return band(instruction, 255) end
local function a_of(instruction) return band(rshift(instruction, 8), 255) end

-- The instructions for which a function without inner functions may have counters.
counters.is_counted = new('bool[256]')
for _, op in ipairs{ CALLMT, CALLT, UCLO, FORI, ITERL, LOOP, JMP } do
  counters.is_counted[op] = true
end

-- The instruction that the one at i jumps to.
local function target(code, i)
  return i + 1 + rshift(code[i], 16) - 32768
end

local function with_target(instruction, i, to)
  return bor(band(instruction, 65535), lshift(to - i - 1 + 32768, 16))
end

local function instruction(op, a, b, c)
  return bor(op, lshift(a, 8), lshift(c, 16), lshift(b, 24))
end

local function short(op, a, d)
  return bor(op, lshift(a, 8), lshift(d, 16))
end

-- The instructions of a counter. They use the first slot that is free there and the next one. If
-- code leaves slots out, LuaJIT compiles what these had before as if it were still used. `left` is
-- the index of the first upvalue.
local function write_counter(code, at, slot, left, weight)
  code[at] = short(UGET, slot, left)
  code[at + 1] = short(KSHORT, slot + 1, weight)
  code[at + 2] = instruction(SUBVV, slot, slot, slot + 1)
  code[at + 3] = short(USETV, left, slot)
  code[at + 4] = short(KSHORT, slot + 1, 0)
  code[at + 5] = short(ISLT, slot + 1, slot)
  code[at + 6] = with_target(short(JMP, slot, 0), at + 6, at + LENGTH)
  code[at + 7] = short(UGET, slot, left + 1)
  code[at + 8] = instruction(CALL, slot, 1, 1)
end

-- ------------------------------------------------------------------ where counters go

-- Tells whether a jump back belongs to a loop that has a LOOP of its own.
local function has_loop(code, i, to)
  if i > 0 and op_of(code[i - 1]) == LOOP then return true end
  for k = to, i - 1 do
    if op_of(code[k]) == LOOP and (k == to or target(code, k) == i + 1) then return true end
  end
  return false
end

-- The loops of a function: for each, the instruction before which its counter belongs, the first
-- and the last one of what it repeats, and the first free slot.
local function find_loops(code, count)
  local loops = {}
  for i = 0, count - 1 do
    local op = op_of(code[i])
    local to, a = is_jump[op] and target(code, i), a_of(code[i])
    if op == LOOP and to == i then -- of a goto
      loops[#loops + 1] = { i + 1, target(code, i + 1), i, a }
    elseif op == FORI then
      -- At the end: what the compiler assumes at the begin of a turn, and what may turn out wrong,
      -- stands before the count then, and it makes another loop of a turn that begins otherwise.
      loops[#loops + 1] = { to - 1, i + 1, to - 1, a + FOR_SLOTS }
    elseif op == LOOP then
      loops[#loops + 1] = { i + 1, i + 1, to - 1, a }
    elseif op == ITERL then
      local values = rshift(code[i - 1], 24) - 1 -- of the iterator, whose own call is excepted
      loops[#loops + 1] = { to, to, i - 2, a + values }
    elseif (op == JMP or op == UCLO) and to <= i and not has_loop(code, i, to) then
      loops[#loops + 1] = { to, to, i, a }
    end
  end
  return loops
end

-- The first slot behind the arguments of a call, or where VARG puts the first one.
local function free_slot(code, i)
  local op, a = op_of(code[i]), a_of(code[i])
  if op == VARG then return a end
  return a + (op == CALL and band(rshift(code[i], 16), 255) or rshift(code[i], 16)) + 1
end

-- Counts calls outside of loops. add(k): is called for each place.
local function find_calls(code, count, repeated, is_main, add)
  local targets, calls = {}, {}
  for i = 0, count - 1 do
    local op = op_of(code[i])
    if is_jump[op] then targets[target(code, i)], targets[i + 1] = true, true end
    local is_tail = op == CALLT or op == CALLMT
    if not repeated[i] and (is_tail or (op == CALL or op == CALLM) and not is_main) then
      calls[#calls + 1], calls.tail = i, calls.tail or is_tail
    end
  end
  -- A function with one call ends when the stack is full.
  if #calls < 2 and not calls.tail then return end
  local last = -1
  for _, i in ipairs(calls) do
    local begins = last < 0
    for k = last + 1, i do begins = begins or targets[k] end
    -- All arguments behind '...' must directly follow it.
    local op = op_of(code[i])
    local takes_all = op == CALLM or op == CALLMT
    if begins then add(takes_all and op_of(code[i - 1]) == VARG and i - 1 or i, takes_all) end
    last = i
  end
end

-- The numbers of the instructions, from 0, before which a counter belongs, with what is subtracted
-- there, and the first free slots there; nil where there are none.
local function find_places(code, count, is_main)
  local places, slots, repeated = {}, {}, {}
  for _, loop in ipairs(find_loops(code, count)) do
    local weight = LIGHT
    for i = loop[2], loop[3] do
      repeated[i] = true
      if is_heavy[op_of(code[i])] then weight = HEAVY end
    end
    places[loop[1]] = math.max(places[loop[1]] or 0, weight)
    slots[loop[1]] = math.max(slots[loop[1]] or 0, loop[4])
  end
  find_calls(code, count, repeated, is_main, function(k, takes_all)
    if places[k] or takes_all and op_of(code[k]) ~= VARG then return end
    places[k], slots[k] = CALLS, free_slot(code, k)
  end)
  if next(places) then return places, slots end
end

-- Decides for each prototype whether it has the two upvalues (`carries`), and where it counts
-- (`places`, `slots`). Returns whether all loops are counted.
local function decide(p, all)
  local complete = true
  for _, f in ipairs(all) do
    f.places, f.slots = find_places(cast('const uint32_t *', p + f.code), f.count, f == all[#all])
    -- LuaJIT: a frame has no more than 250 slots.
    if f.places and f.frame + ADDED > 250 then complete, f.places = false, nil end
    f.carries = f.places ~= nil
    for _, child in ipairs(f.children) do f.carries = f.carries or child.carries end
  end
  local function settle(f, possible)
    if not f.carries then return end
    if not possible or f.upvalue_count + ADDED > counters.UPVALUES then
      f.carries, complete = false, false
    end
    for _, child in ipairs(f.children) do settle(child, f.carries) end
  end
  settle(all[#all], true)
  return complete
end

-- ------------------------------------------------------------------------- changing

-- Sets the jumps of code that was moved. at: the new number of each old instruction; to: where a
-- jump to an old instruction goes. False where one is too far.
local function set_jumps(old, count, code, at, to)
  for i = 0, count - 1 do
    if is_jump[op_of(old[i])] and code[at[i]] == old[i] then
      local goal = target(old, i)
      -- The LOOP of a goto has no target: it jumps to itself.
      if goal >= 0 and goal <= count then
        local distance = to[goal] - at[i] - 1
        if distance > FARTHEST or distance < -FARTHEST then return false end
        code[at[i]] = with_target(old[i], at[i], to[goal])
      end
    end
  end
  return true
end

-- The numbers of instructions in the names of variables count the function's head as 0.
local function variable_places(to, count)
  local places = working_memory('int32_t', count + 2)
  for i = 0, count do places[i + 1] = to[i] + 1 end
  return places
end

local function with_counters(p, f)
  local old, count = cast('const uint32_t *', p + f.code), f.count
  local added = 0
  for _ in pairs(f.places) do added = added + LENGTH end
  local code = working_memory('uint32_t', count + added)
  local lines = working_memory('int32_t', count + added)
  local at, to = working_memory('int32_t', count + 1), working_memory('int32_t', count + 1)
  local n = 0
  for i = 0, count - 1 do
    to[i] = n
    if f.places[i] then
      write_counter(code, n, f.slots[i], f.upvalue_count, f.places[i])
      for k = n, n + LENGTH - 1 do lines[k] = i end
      n = n + LENGTH
    end
    at[i], code[n], lines[n] = n, old[i], i
    n = n + 1
  end
  at[count], to[count] = n, n
  if not set_jumps(old, count, code, at, to) then return nil end
  return { code = code, count = n, lines = lines, places = variable_places(to, count) }
end

local function without_counters(p, f)
  local old, count = cast('const uint32_t *', p + f.code), f.count
  local left = f.upvalue_count - ADDED
  local code, lines = working_memory('uint32_t', count), working_memory('int32_t', count)
  local to = working_memory('int32_t', count + 1)
  local n, i = 0, 0
  while i < count do
    local length = op_of(old[i]) == UGET and rshift(old[i], 16) == left and LENGTH or 0
    for k = i, i + length do to[k] = n end
    i = i + length
    code[n], lines[n] = old[i], i
    n, i = n + 1, i + 1
  end
  to[count] = n
  set_jumps(old, count, code, to, to)
  return { code = code, count = n, lines = lines, places = variable_places(to, count) }
end

-- ------------------------------------------------------------------------ whole dumps

local out = buffer.new()

-- Writes a dump anew: change(prototype) says how one changes, nil where it does not.
local function rewrite(dump, p, all, first, change)
  out:reset()
  out:put(sub(dump, 1, first))
  for _, f in ipairs(all) do
    local changed = change(f)
    if changed then
      dumps.put(out, p, f, changed)
    else
      out:putcdata(p + f.start, f.stop - f.start)
    end
  end
  out:put('\0')
  return out:get()
end

--- A dump with counters; the whole has two more upvalues then. nil where nothing has to be counted.
-- Besides, returns whether all loops are counted: functions with as many variables or upvalues as
-- LuaJIT can have are left as they are.
function counters.add(dump)
  local all, first = dumps.read(dump)
  if not all then return nil, false end
  local p = cast('const uint8_t *', dump)
  local complete = decide(p, all)
  if not all[#all].carries then return nil, complete end
  for _, f in ipairs(all) do
    for _, child in ipairs(f.children) do child.parent = f end
  end
  local function change(f)
    if not f.carries then return nil end
    local changed = f.places and with_counters(p, f)
    complete = complete and (changed ~= nil or not f.places)
    changed = changed or {}
    local around = f.parent and f.parent.upvalue_count or 0
    changed.frame = changed.code and f.frame + ADDED or f.frame
    changed.upvalue_count, changed.added = f.upvalue_count + ADDED, { around, around + 1 }
    return changed
  end
  return rewrite(dump, p, all, first, change), complete
end

local function is_counted(p, f, around)
  local indices = cast('const uint16_t *', p + f.upvalues)
  local count = f.upvalue_count
  return count >= ADDED and indices[count - 2] == around - 2 and indices[count - 1] == around - 1
end

--- The dump as it would be without counters. It must be of a function that has the two upvalues.
function counters.remove(dump)
  local all, first = dumps.read(dump)
  local p = cast('const uint8_t *', dump)
  local function mark(f)
    f.carries = true
    for _, child in ipairs(f.children) do
      if is_counted(p, child, f.upvalue_count) then mark(child) end
    end
  end
  mark(all[#all])
  local function change(f)
    if not f.carries then return nil end
    local changed = without_counters(p, f)
    changed.frame = changed.count < f.count and f.frame - ADDED or f.frame
    changed.upvalue_count = f.upvalue_count - ADDED
    return changed
  end
  return rewrite(dump, p, all, first, change)
end

return counters
