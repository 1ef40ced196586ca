/** `crypto`. */
import { bytesOf } from "../bytes.ts"
import { brand } from "../define.ts"
import { DOMException } from "../dom-exception.ts"
import { modules } from "../modules.ts"
import type { SubtleCrypto } from "./subtle.ts"

const internal: unique symbol = Symbol("Crypto")

/** Maximum random bytes per call. */
const randomMax = 65_536

const hex: ReadonlyArray<string> = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))

const integers = [
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  BigInt64Array,
  BigUint64Array
]

const isIntegers = (view: unknown): view is ArrayBufferView => integers.some((each) => view instanceof each)

export class Crypto {
  constructor(key?: symbol) {
    if (key !== internal) {
      throw new TypeError("Illegal constructor")
    }
  }

  get subtle(): SubtleCrypto {
    return modules.subtle().subtle
  }

  /** Fills `view` with random bytes and returns it. */
  getRandomValues<A extends ArrayBufferView>(view: A): A {
    if (!isIntegers(view)) {
      throw new DOMException("The data argument must be an integer-type TypedArray", "TypeMismatchError")
    }
    if (view.byteLength > randomMax) {
      throw new DOMException(`The requested length exceeds ${randomMax} bytes of entropy`, "QuotaExceededError")
    }
    bytesOf(view).set(modules.random().randomBytes(view.byteLength))
    return view
  }

  /** Returns a random UUID, version 4. */
  randomUUID(): string {
    const bytes = modules.random().randomBytes(16)
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
    const digits = Array.from(bytes, (byte) => hex[byte]).join("")
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")
  }
}

brand({ Crypto })

export const crypto = new Crypto(internal)
