--- signal.complex: complex numbers as pairs, in tensors whose last dimension has 2 elements.
-- @module signal_complex

local errors = import 'core.errors'
local fail = errors.fail

local complex = {}

-- The real and the imaginary parts, as views.
local function parts(h)
  return h:select(h:dim(), 1), h:select(h:dim(), 2)
end

-- A new tensor of n x 2 of the real and the imaginary parts of n numbers.
local function paired(real, imaginary)
  return torch.cat(real:contiguous():view(-1, 1), imaginary:contiguous():view(-1, 1), 2)
end

-- Tells whether a tensor has complex numbers in a number of dimensions.
local function is_complex(h, dims)
  return h:dim() == dims + 1 and h:size(dims + 1) == 2
end

function complex.real(h) return h:select(2, 1) end
function complex.imag(h) return h:select(2, 2) end
function complex.angle(h) return torch.atan2(complex.imag(h), complex.real(h)) end

function complex.exp(h)
  local real, imaginary = complex.real(h), complex.imag(h)
  local size = torch.exp(real)
  return paired(torch.cmul(size, torch.cos(imaginary)), torch.cmul(size, torch.sin(imaginary)))
end

function complex.abs(h)
  if not is_complex(h, 1) and not is_complex(h, 2) then fail('unsupported dimensions') end
  local real, imaginary = parts(torch.pow(h, 2))
  return torch.sqrt(real + imaginary)
end

function complex.conj(h)
  local out = h:clone()
  out:select(2, 2):mul(-1)
  return out
end

-- The real and the imaginary parts of the products of numbers, one by one.
local function product(a, b)
  local ar, ai = parts(a)
  local br, bi = parts(b)
  return torch.cmul(ar, br) - torch.cmul(ai, bi), torch.cmul(ar, bi) + torch.cmul(ai, br)
end

--- The product of all numbers.
function complex.prod(h)
  local out = h:narrow(1, 1, 1):clone()
  for i = 2, h:size(1) do out = paired(product(out, h:narrow(1, i, 1))) end
  return out
end

-- Numbers without imaginary parts as complex ones.
local function as_complex(a)
  if a:dim() == 1 then return paired(a:double(), torch.DoubleTensor(a:size()):zero()) end
  if is_complex(a, 1) then return a end
  fail('Input has to be 1D Tensor of size N (purely real 1D tensor) or 2D Tensor of size Nx2 '
    .. '(Complex 1D tensor)')
end

--- The products of numbers, one by one.
-- @param unchecked whether both are known to be complex
function complex.cmul(a, b, unchecked)
  if not unchecked then a, b = as_complex(a), as_complex(b) end
  return paired(product(a, b:typeAs(a)))
end

--- The sum of the products of numbers, one by one.
function complex.dot(a, b)
  if not is_complex(a, 1) or not is_complex(b, 1) then
    fail('Inputs have to be 2D Tensor of size Nx2 (complex 1D tensor)')
  elseif a:size(1) ~= b:size(1) then
    fail('Both inputs need to have same number of elements')
  end
  return torch.sum(complex.cmul(a, b, true), 1)
end

--- The product of two matrices.
function complex.mm(a, b)
  if not is_complex(a, 2) or not is_complex(b, 2) then
    fail('Inputs have to be 3D Tensor of size NxMx2 (complex 2D tensor)')
  elseif a:size(2) ~= b:size(1) then
    fail('Matrix-Matrix product requires NxM and MxP matrices.')
  end
  local ar, ai = parts(a)
  local br, bi = parts(b)
  local out = torch.zeros(a:size(1), b:size(2), 2):typeAs(a)
  out:select(3, 1):copy(torch.mm(ar, br) - torch.mm(ai, bi))
  out:select(3, 2):copy(torch.mm(ar, bi) + torch.mm(ai, br))
  return out
end

--- The matrix whose diagonal a vector is, or the diagonal of a matrix.
function complex.diag(x)
  if not is_complex(x, 1) and not is_complex(x, 2) then
    fail('Input has to be 2D Tensor of size Nx2 or 3D Tensor of size NxMx2 (Complex 2D tensor)')
  end
  local real, imaginary = parts(x)
  real, imaginary = torch.diag(real), torch.diag(imaginary)
  local sizes = real:size():totable()
  sizes[#sizes + 1] = 2
  local out = torch.zeros(unpack(sizes))
  out:select(#sizes, 1):copy(real)
  out:select(#sizes, 2):copy(imaginary)
  return out
end

-- Writes the coefficients of the polynomial with some roots to zeros.
local function coefficients(c, roots)
  c[1] = 1
  for j = 1, roots:size(1) do
    c:narrow(1, 2, j):add(-roots[j], c:narrow(1, 1, j):clone())
  end
  return c
end

--- The coefficients of the polynomial with given roots, or with a matrix's eigenvalues.
-- torch-signal: of complex roots, computes real and imaginary parts apart, without their products;
-- the roots are conjugate, so the real parts are the result.
function complex.poly(x)
  if x:dim() == 1 then return coefficients(torch.zeros(x:size(1) + 1), x) end
  if x:dim() ~= 2 or x:size(1) ~= x:size(2) then
    fail('Input should be a 1D Tensor or a 2D square tensor')
  end
  local pairs_of = torch.zeros(x:size(1) + 1, 2)
  return coefficients(complex.real(pairs_of), complex.real((torch.eig(x))))
end

errors.make_public(complex)

return complex
