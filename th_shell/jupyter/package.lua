--- The Lua package `jupyter`, by which a program shows more than text in a notebook.
-- @module package

local show, clear, leave = ...

local type, error, pairs, unpack = type, error, pairs, unpack
local print, tostring = print, tostring

-- luacheck: globals package os
local jupyter = { plots = 'png' } -- or 'svg': see %config

--- Shows data below the cell.
-- @param data a table: MIME type -> text, or the bytes of an image
-- @usage require('jupyter').display{ ['text/html'] = '<b>bold</b>' }
function jupyter.display(data)
  if type(data) ~= 'table' then error('display takes a table: MIME type -> data', 2) end
  local words = {}
  for kind, text in pairs(data) do
    if type(kind) ~= 'string' or type(text) ~= 'string' then
      error('display takes a table: MIME type -> data', 2)
    end
    words[#words + 1], words[#words + 2] = kind, text
  end
  show(unpack(words))
end

--- Removes what is shown below the cell.
-- @param wait true to remove it when something new is shown
function jupyter.clear_output(wait)
  clear(wait and true or false)
end

package.preload.jupyter = function() return jupyter end
-- As in Torch7's kernel, whose package is there without being required.
_G.itorch = setmetatable({}, { __index = function(_, name) return require('itorch')[name] end })

--- os.exit ends the cell, and the kernel when the front end has got what the cell has printed.
function os.exit(status)
  print('os.exit(' .. tostring(status or '') .. ') ends the kernel; a notebook starts it anew')
  leave()
  error('the kernel ends', 0)
end

return {}
