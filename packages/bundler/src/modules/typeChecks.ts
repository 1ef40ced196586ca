/** `node:util/types`. */
type Check = (value: unknown) => boolean

const tag = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1)
const hasTag =
  (...names: ReadonlyArray<string>): Check =>
  (value) =>
    typeof value === "object" && value !== null && names.includes(tag(value))
const isFunctionOf =
  (name: string): Check =>
  (value) =>
    typeof value === "function" && tag(value) === name

export const isAnyArrayBuffer = hasTag("ArrayBuffer", "SharedArrayBuffer")
export const isArrayBuffer = hasTag("ArrayBuffer")
export const isSharedArrayBuffer = hasTag("SharedArrayBuffer")
export const isArrayBufferView: Check = (value) => ArrayBuffer.isView(value)
export const isDataView = hasTag("DataView")
export const isTypedArray: Check = (value) => ArrayBuffer.isView(value) && !(value instanceof DataView)
/** The getter knows the kind of a typed array, also of a subclass such as `Buffer`. */
const typedArrayKind = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype),
  Symbol.toStringTag
)?.get
const isTyped =
  (name: string): Check =>
  (value) =>
    ArrayBuffer.isView(value) && typedArrayKind?.call(value) === name
export const isUint8Array = isTyped("Uint8Array")
export const isUint8ClampedArray = isTyped("Uint8ClampedArray")
export const isUint16Array = isTyped("Uint16Array")
export const isUint32Array = isTyped("Uint32Array")
export const isInt8Array = isTyped("Int8Array")
export const isInt16Array = isTyped("Int16Array")
export const isInt32Array = isTyped("Int32Array")
export const isFloat16Array = isTyped("Float16Array")
export const isFloat32Array = isTyped("Float32Array")
export const isFloat64Array = isTyped("Float64Array")
export const isBigInt64Array = isTyped("BigInt64Array")
export const isBigUint64Array = isTyped("BigUint64Array")
export const isArgumentsObject = hasTag("Arguments")
export const isAsyncFunction: Check = (value) =>
  isFunctionOf("AsyncFunction")(value) || isFunctionOf("AsyncGeneratorFunction")(value)
export const isGeneratorFunction: Check = (value) =>
  isFunctionOf("GeneratorFunction")(value) || isFunctionOf("AsyncGeneratorFunction")(value)
export const isGeneratorObject = hasTag("Generator", "AsyncGenerator")
export const isPromise: Check = (value) => value instanceof Promise
export const isMap: Check = (value) => value instanceof Map
export const isSet: Check = (value) => value instanceof Set
export const isWeakMap: Check = (value) => value instanceof WeakMap
export const isWeakSet: Check = (value) => value instanceof WeakSet
export const isMapIterator = hasTag("Map Iterator")
export const isSetIterator = hasTag("Set Iterator")
export const isDate: Check = (value) => value instanceof Date
export const isRegExp: Check = (value) => value instanceof RegExp
export const isNativeError: Check = (value) => value instanceof Error
export const isBoxedPrimitive: Check = (value) =>
  value instanceof Number ||
  value instanceof String ||
  value instanceof Boolean ||
  value instanceof BigInt ||
  value instanceof Symbol
export const isNumberObject: Check = (value) => value instanceof Number
export const isStringObject: Check = (value) => value instanceof String
export const isBooleanObject: Check = (value) => value instanceof Boolean
export const isBigIntObject: Check = (value) => value instanceof BigInt
export const isSymbolObject: Check = (value) => value instanceof Symbol
export const isModuleNamespaceObject = hasTag("Module")
export const isEventTarget: Check = (value) => value instanceof EventTarget
export const isCryptoKey: Check = (value) => value instanceof CryptoKey
export const isKeyObject: Check = (value) => typeof value === "object" && value !== null && "asymmetricKeyType" in value
/** Nothing in the language can detect a proxy. */
export const isProxy: Check = () => false
export const isExternal: Check = () => false

import * as all from "./typeChecks.ts"
export default /* @__PURE__ */ Object.assign({}, all)
