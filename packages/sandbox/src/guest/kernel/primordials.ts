/**
 * The realm's own functions, captured before any user code runs.
 *
 * User code may replace every property of every built-in, which must not affect the kernel. So the kernel uses these
 * functions. It never calls a method of a value, uses the iteration protocol, or assigns to an index of a new array.
 */
type Method<Self, Args extends ReadonlyArray<unknown>, Result> = (self: Self, ...args: Args) => Result

const { bind, call } = Function.prototype
const uncurry = bind.bind(call)

export const apply = Reflect.apply
export const construct = Reflect.construct
export const deleteProperty = Reflect.deleteProperty
export const getProperty = Reflect.get
export const has = Reflect.has
export const { parse, stringify } = JSON
export const { keys, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, create, freeze } = Object
export const isArray = Array.isArray
export const isInteger = Number.isInteger
export const isFinite = Number.isFinite
export const NativeError = Error
export const NativeTypeError = TypeError
export const NativeString = String
export const NativeMap = Map
export const NativeSet = Set
export const NativeWeakMap = WeakMap
export const NativePromise = Promise
export const NativeProxy = Proxy
export const NativeUint8Array = Uint8Array
export const ObjectPrototype = Object.prototype
export const dateNow = Date.now
/** Returns the time of a date in milliseconds since 1970. Throws for other values. */
export const dateTime: Method<unknown, [], number> = uncurry(Date.prototype.getTime)
export const toNumber: (value: unknown) => number = Number

export const resolve: (value: unknown) => Promise<unknown> = Promise.resolve.bind(Promise)
export const whenSettled: Method<
  Promise<unknown>,
  [(value: unknown) => void, (error: unknown) => void],
  Promise<unknown>
> = uncurry(Promise.prototype.then)

export const fromCharCode = String.fromCharCode
export const charCodeAt: Method<string, [number], number> = uncurry(String.prototype.charCodeAt)
export const slice: Method<string, [number, number?], string> = uncurry(String.prototype.slice)
export const toLowerCase: Method<string, [], string> = uncurry(String.prototype.toLowerCase)
export const execRegExp: Method<RegExp, [string], unknown> = uncurry(RegExp.prototype.exec)

export const mapGet: <K, V>(map: Map<K, V>, key: K) => V | undefined = uncurry(Map.prototype.get)
export const mapSet: <K, V>(map: Map<K, V>, key: K, value: V) => Map<K, V> = uncurry(Map.prototype.set)
export const mapDelete: <K, V>(map: Map<K, V>, key: K) => boolean = uncurry(Map.prototype.delete)
export const mapSize: <K, V>(map: Map<K, V>) => number = uncurry(
  Object.getOwnPropertyDescriptor(Map.prototype, "size")?.get
)
export const mapForEach: <K, V>(map: Map<K, V>, callback: (value: V, key: K) => void) => void = uncurry(
  Map.prototype.forEach
)
export const setAdd: <V>(set: Set<V>, value: V) => Set<V> = uncurry(Set.prototype.add)
export const setHas: <V>(set: Set<V>, value: V) => boolean = uncurry(Set.prototype.has)
export const setDelete: <V>(set: Set<V>, value: V) => boolean = uncurry(Set.prototype.delete)
export const setSize: <V>(set: Set<V>) => number = uncurry(Object.getOwnPropertyDescriptor(Set.prototype, "size")?.get)
export const setForEach: <V>(set: Set<V>, callback: (value: V) => void) => void = uncurry(Set.prototype.forEach)
export const weakGet: <K extends object, V>(map: WeakMap<K, V>, key: K) => V | undefined = uncurry(
  WeakMap.prototype.get
)
export const weakSet: <K extends object, V>(map: WeakMap<K, V>, key: K, value: V) => void = uncurry(
  WeakMap.prototype.set
)

const typedArrayPrototype: object = Object.getPrototypeOf(Uint8Array.prototype)
/** Returns the name of a typed array's kind, undefined for other values; a guest cannot fake it. */
export const typedArrayKind: Method<unknown, [], string | undefined> = uncurry(
  Object.getOwnPropertyDescriptor(typedArrayPrototype, Symbol.toStringTag)?.get
)
export const typedArrayLength: Method<Uint8Array, [], number> = uncurry(
  Object.getOwnPropertyDescriptor(typedArrayPrototype, "length")?.get
)
