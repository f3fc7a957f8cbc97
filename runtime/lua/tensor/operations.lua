--- The operations of all classes, whose names tests/operation_names.py writes here.
-- Before the names in a line: 't' if torch has them as functions, and the indices of the element
-- types that have them as methods. A star says that the operations have Lua formulas, a plus that
-- they have Lua functions for few elements, an exclamation mark that each is the same function for
-- all types. The methods of storages begin with 'Storage.'.
-- @module operations

local bridge = import 'core.bridge'

local find, ipairs, tonumber, tostring = string.find, ipairs, tonumber, tostring

local LISTED = [[
t0123456+: zeros ones range tril triu cat gather scatter nonzero dot addmv addmm addr mv mm ger
t0123456+: trace equal sort kthvalue median mode topk random bernoulli randperm
t0123456: eye diag conv2 xcorr2 conv3 xcorr3 cross addbmm baddbmm bmm match lshift clshift rshift
t0123456: crshift bitand cbitand bitor cbitor bitxor cbitxor geometric numel squeeze
t56+: linspace var std dist renorm uniform normal rand randn multinomial
t56: logspace histc bhistc exponential cauchy logNormal multinomialAliasSetup_ multinomialAlias_
t01234567: reshape permute expand expandAs view viewAs
t0123456*: sum prod cumsum cumprod csub mul cmul addcmul addcdiv div cdiv remainder cremainder mod
t0123456*: cmod fmod cfmod cpow cmax cmin clamp sign lt gt le ge eq ne min zero
t567*: mean
t56*: norm pow lerp atan2 acos asin atan ceil cos cosh exp floor frac log log1p round rsqrt sigmoid
t56*: sin sinh sqrt tan tanh trunc neg cinv
t01234567*: fill add max
01234567*: operator_sub clone copy
t34567*: abs
0123456+: index indexCopy indexAdd indexFill maskedSelect maskedCopy maskedFill
t0*: all any
0123456*: operator_add operator_div operator_mod operator_unm
0123456*+: operator_mul
t!: seed initialSeed manualSeed getRNGState setRNGState
01234567: Storage.new Storage.size Storage.elementSize Storage.resize Storage.fill Storage.copy
01234567: Storage.retain Storage.free tostring Storage.tostring new set size stride nDimension dim
01234567: nElement elementSize storage storageOffset isContiguous isSize isSameSizeAs isSetTo
01234567: contiguous type typeAs byte char short int long float double half resize resizeAs retain
01234567: free narrow select sub transpose t unfold
01: Storage.string
t01234567+: repeatTensor
t+: gesv inverse symeig eig svd qr
t: gels trtrs potrf potrs potri pstrf geqrf orgqr ormqr
]]

local operations = { all = {} }
for of_torch, types, mark, names in LISTED:gmatch('(t?)(%d*)([*!+]*):([^\n]+)\n') do
  for full in names:gmatch('%S+') do
    local prefix = full:match('^%a+%.') or ''
    operations.all[#operations.all + 1] = {
      prefix = prefix, name = full:sub(#prefix + 1), of_torch = of_torch == 't', types = types,
      mark = mark,
    }
  end
end

--- Adds the operations of a class to its metatable.
-- @param prefix 'Storage.' for storages, '' for tensors
-- @param index the index of the element type
function operations.add(mt, prefix, index)
  index = tostring(index)
  for _, operation in ipairs(operations.all) do
    if operation.prefix == prefix and find(operation.types, index, 1, true) then
      mt[operation.name] = bridge.stub(prefix .. operation.name, tonumber(index), operation.mark)
    end
  end
end

--- Lets go of the list, when all classes have their operations.
function operations.forget() operations.all = nil end

return operations
