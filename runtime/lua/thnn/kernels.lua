--- What formulas and kernels of nn's backend share: those by their names, and results' sizes.
-- @module thnn_kernels

local th = ...
local torch = th.torch
local formulas = th.formulas
local dense, same_sizes = formulas.dense, formulas.same_sizes

local makers = {} -- name of a function -> what makes its kernel for an element type
th.thnn_kernels = makers

--- The kernel of a function for an element type, or nil. It gets pointers to structs, and returns
-- nil for calls that it does not handle.
function th.thnn_kernel(name, dtype)
  return makers[name] and makers[name](dtype)
end

-- Calls a method of the tensor of a struct with that of another one; whether they were found.
local function call(method, c, other)
  local owner, second = th.owner_of(c), th.owner_of(other)
  if owner == nil or second == nil then return false end
  method(owner, second)
  return true
end

local resize_as, set = {}, {} -- element type -> methods, whatever programs do to them later
for _, dtype in ipairs(th.dtypes) do
  local methods = torch.getmetatable(dtype.tensor_name)
  resize_as[dtype], set[dtype] = methods.resizeAs, methods.set
end

--- Makes a result a contiguous tensor of the sizes of another one, which is contiguous, so that
-- which way computes a call depends on its sources alone, and so do the last bits of its result.
-- Returns the number of elements; nil where the tensors do not suit. What was read of tensors
-- before is no longer sure.
function th.thnn_fit(dtype, result, like, n)
  if not same_sizes(result, like) and not call(resize_as[dtype], result, like) then return nil end
  return dense(result) == n and dense(like) == n and same_sizes(result, like) and n or nil
end

--- Makes a result the same view as the tensor that is computed in place; whether it is that.
function th.thnn_share(dtype, result, source, n)
  if not same_sizes(result, source) or result.storage ~= source.storage
    or result.storageOffset ~= source.storageOffset then
    if not call(set[dtype], result, source) then return false end
  end
  return dense(result) == n and dense(source) == n and result.storage == source.storage
    and result.storageOffset == source.storageOffset
end
