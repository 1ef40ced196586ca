/**
 * Removes features that would bypass the limits:
 * - shared memory, and WebAssembly: its memory is not counted, and its compiler does not wake the isolate
 * - finalizers: they run outside of entries
 * - growable buffers: their memory is not counted
 */
import { construct, defineProperty, NativeTypeError } from "./primordials.ts"

for (const name of ["WebAssembly", "SharedArrayBuffer", "Atomics", "FinalizationRegistry", "WeakRef"]) {
  Reflect.deleteProperty(globalThis, name)
}

const Native = ArrayBuffer

/** `ArrayBuffer` without the option `maxByteLength`, whose reserved memory is not counted. */
function FixedArrayBuffer(length: number): ArrayBuffer {
  if (new.target === undefined) throw new NativeTypeError("Constructor ArrayBuffer requires 'new'")
  return construct(Native, [length], new.target)
}

defineProperty(FixedArrayBuffer, "name", { value: "ArrayBuffer", configurable: true })
defineProperty(FixedArrayBuffer, "prototype", { value: Native.prototype, writable: false })
defineProperty(FixedArrayBuffer, "isView", { value: Native.isView, writable: true, configurable: true })
defineProperty(FixedArrayBuffer, Symbol.species, {
  get(this: unknown) {
    return this
  },
  configurable: true
})
for (const [holder, name] of [
  [globalThis, "ArrayBuffer"],
  [Native.prototype, "constructor"]
] as const) {
  defineProperty(holder, name, { value: FixedArrayBuffer, writable: true, configurable: true, enumerable: false })
}
for (const name of ["resize", "transfer"]) Reflect.deleteProperty(Native.prototype, name)
