--- The names of all operations, written by runtime/host/operation_names.py.
-- Before the names in a line: 't' if torch has them as functions, and the indices of the element
-- types that have them as methods. A star says that the operations have Lua formulas, a plus that
-- they have Lua functions for few elements, an exclamation mark that each is the same function for
-- all types. The methods of storages begin with 'Storage.'.
-- @module operations

local th = ...

local LISTED = [[
t0123456: lshift clshift rshift crshift bitand cbitand bitor cbitor bitxor cbitxor eye diag conv2
t0123456: xcorr2 conv3 xcorr3 cross addbmm baddbmm bmm match geometric numel squeeze
t0123456*: lt gt le ge eq ne sum prod cumsum cumprod csub mul cmul addcmul addcdiv div cdiv
t0123456*: remainder cremainder mod cmod fmod cfmod cpow cmax cmin clamp min zero sign
t0123456+: equal zeros ones range tril triu cat gather scatter nonzero dot addmv addmm addr mv mm
t0123456+: ger trace sort kthvalue median mode topk random bernoulli randperm
t0*: all any
t56+: linspace var std dist renorm uniform normal rand randn multinomial
t56: logspace histc bhistc exponential cauchy logNormal multinomialAliasSetup_ multinomialAlias_
t01234567: reshape permute expand expandAs view viewAs
t!: seed initialSeed manualSeed getRNGState setRNGState
t567*: mean
t56*: norm pow lerp atan2 acos asin atan ceil cos cosh exp floor frac log log1p round rsqrt sigmoid
t56*: sin sinh sqrt tan tanh trunc neg cinv
t01234567*: fill add max
01234567*: operator_sub clone copy
t34567*: abs
0123456+: index indexCopy indexAdd indexFill maskedSelect maskedCopy maskedFill
0123456*: operator_add operator_div operator_mod operator_unm
0123456*+: operator_mul
01234567: Storage.new Storage.size Storage.elementSize Storage.resize Storage.fill Storage.copy
01234567: Storage.retain Storage.free new set size stride nDimension dim nElement elementSize
01234567: storage storageOffset isContiguous isSize isSameSizeAs isSetTo contiguous type typeAs byte
01234567: char short int long float double half resize resizeAs retain free tostring
01234567: Storage.tostring narrow select sub transpose t unfold
01: Storage.string
t01234567+: repeatTensor
t: symeig eig svd qr geqrf orgqr ormqr gesv gels trtrs potrf potrs potri pstrf inverse
]]

th.operations = {}
for of_torch, types, mark, names in LISTED:gmatch('(t?)(%d*)([*!+]*):([^\n]+)\n') do
  for full in names:gmatch('%S+') do
    local prefix = full:match('^%a+%.') or ''
    th.operations[#th.operations + 1] = {
      prefix = prefix, name = full:sub(#prefix + 1), of_torch = of_torch == 't', types = types,
      mark = mark,
    }
  end
end
