--- image: parts of images, and images that are moved.
-- @module image_crop

local th, image = ...

local type, floor = type, math.floor

-- Where a part of some size begins: the fractions of the room that is left before it.
local PLACES = {
  c = { 1 / 2, 1 / 2 }, tl = { 0, 0 }, tr = { 1, 0 }, bl = { 0, 1 }, br = { 1, 1 },
}

local function placed(source, format, width, height)
  local place = PLACES[format]
  if not place then th.fail('crop format must be "c"|"tl"|"tr"|"bl"|"br"') end
  local d = source:nDimension() == 3 and 3 or 2
  local x, y = (source:size(d) - width) * place[1], (source:size(d - 1) - height) * place[2]
  if format == 'c' then x, y = floor(x), floor(y) end
  return x, y, x + width, y + height
end

-- A format stands before width and height.
local read_crop = th.image_reader{
  name = 'image.crop', does = 'Cuts a rectangle out of an image.', least = 3, most = 5,
  forms = th.image_forms[[
torch.Tensor!  image
number!  left edge
number!  upper edge
number  first column behind it
number  first row behind it]] .. '\n\n' .. th.image_forms[[
torch.Tensor!  image
string!  place: "c", "tl", "tr", "bl" or "br"
number!  width
number!  height]],
  has_target = function(n, _, second, third)
    if n == 4 then return type(second) ~= 'string' end
    return type(third) == 'string'
  end,
}

local read_translation = th.image_reader{
  name = 'image.translate', does = 'Moves an image.', least = 3,
  forms = th.image_forms[[
torch.Tensor!  image
number!  columns to the right
number!  rows down]],
}

--- A part of an image. A destination that is given has another size: the part is scaled to it.
-- Torch7: without the far edges, the destination tells the size, and nothing is returned.
function image.crop(...)
  local target, source, x, y, x_end, y_end = read_crop(...)
  if type(x) == 'string' then x, y, x_end, y_end = placed(source, x, y, x_end) end
  if x_end == nil then
    source.image.cropNoScale(source, target, x, y)
    return
  end
  local part
  if source:nDimension() > 2 then
    part = source.new(source:size(1), y_end - y, x_end - x)
  else
    part = source.new(y_end - y, x_end - x)
  end
  source.image.cropNoScale(source, part, x, y)
  if not target then return part end
  image.scale(target, part)
  return target
end

--- An image that is moved; what was not in it is 0.
function image.translate(...)
  local target, source, x, y = read_translation(...)
  target = target or source.new()
  target:resizeAs(source)
  source.image.translate(source, target ~= source and target:zero() or target, x, y)
  return target
end
