--- Functions of nn's backend that Lua computes for few elements, and that are no formula.
-- @module thnn_kernels

local th = ...

local makers = {} -- name of a function -> what makes its kernel for an element type
th.thnn_kernels = makers

--- The kernel of a function for an element type, or nil. It gets pointers to structs, and returns
-- nil for calls that it does not handle.
function th.thnn_kernel(name, dtype)
  return makers[name] and makers[name](dtype)
end
