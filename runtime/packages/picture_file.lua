--- The names of files for pictures that a program shows where there is no place for pictures.
-- @module picture_file

local rename = os.rename

--- A name of a new PNG file, which stays when the program ends.
return function()
  local empty = paths.tmpname()
  local file = empty .. '.png'
  return rename(empty, file) and file or empty
end
