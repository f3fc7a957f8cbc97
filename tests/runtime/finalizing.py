"""How a test runs finalizers at a step of Lua's that it chooses: a hook does what they would do."""

#: Lua's hook as it was, which sees functions of th's, too; and `let_wait(functions)`: each
#: does its work from then on when th lets the collector's finalizers run.
FINALIZING = """
    local sethook
    for i = 1, 60 do
      local name, value = debug.getupvalue(debug.sethook, i)
      if name == 'plain_sethook' then sethook = value end
    end
    local function let_wait(functions)
      local mt = getmetatable(newproxy(true))
      for name, f in pairs(functions) do
        mt.__gc = f
        functions[name], mt.__gc = mt.__gc, nil
      end
    end
"""
