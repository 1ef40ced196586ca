/**
 * `crypto.subtle` of one isolate: decodes its requests, computes them with Node's WebCrypto, and encodes the results.
 *
 * Node makes the checks of the standard, in its order. This class adds the limits, and replaces keys by handles.
 */
import { webcrypto } from "node:crypto"
import { processorMs } from "../ProcessorTime.ts"
import { isDictionary, isSealedKey, ResultWriter, readRequest, type Value } from "./CryptoCode.ts"
import type { CryptoQueue } from "./CryptoQueue.ts"
import { type CryptoLimits, checkArguments, checkKey, isKnown } from "./CryptoRules.ts"
import { SealedKeys } from "./SealedKeys.ts"

export interface CryptoRequest {
  /** JSON text. */
  readonly request: string
  /** Bytes that the request refers to, one character a byte. */
  readonly bytes: string
  /** False if nobody needs the result any more. */
  readonly isWanted: () => boolean
  /** Receives the result, or the name and message of an error, and the processor time. */
  readonly settle: (ok: boolean, text: string, detail: string, ms: number) => void
  /** Called if the computation exceeds its time limit. */
  readonly overran: () => void
}

type Result = ArrayBuffer | boolean | webcrypto.CryptoKey | webcrypto.CryptoKeyPair | object

/** The methods that guests can call. */
const methods = new Set(
  "encrypt decrypt sign verify generateKey importKey exportKey deriveBits deriveKey wrapKey unwrapKey".split(" ")
)

/** Maximum bytes of waiting requests of an isolate, as a multiple of the limit of one run. */
const queuedFactor = 4

export class GuestCrypto {
  readonly #queue: CryptoQueue
  readonly #limits: CryptoLimits
  readonly #keys = new SealedKeys()
  #queuedBytes = 0
  #isDisposed = false

  constructor(queue: CryptoQueue, limits: CryptoLimits) {
    this.#queue = queue
    this.#limits = limits
  }

  submit(given: CryptoRequest): void {
    const size = given.request.length + given.bytes.length
    if (this.#queuedBytes + size > queuedFactor * this.#limits.cryptoBytes) {
      given.settle(false, "OperationError", "too much data waits for crypto.subtle", 0)
      return
    }
    try {
      const [method, args] = readRequest(given.request, given.bytes)
      const isLong = checkArguments(method, args, this.#limits)
      this.#queuedBytes += size
      this.#queue.add(this, {
        isLong,
        start: () => this.#compute(given, method, args).finally(() => (this.#queuedBytes -= size)),
        overran: given.overran
      })
    } catch (error) {
      given.settle(false, ...describe(error), 0)
    }
  }

  dispose(): void {
    this.#isDisposed = true
    this.#queue.remove(this)
    this.#keys.clear()
  }

  async #compute(given: CryptoRequest, method: string, args: ReadonlyArray<Value>): Promise<void> {
    if (this.#isDisposed || !given.isWanted()) return
    const startedAt = performance.now()
    const processorStart = processorMs()
    // Other threads of the runner may compute as well, so neither clock alone is the time of this computation.
    const spent = () => Math.min(performance.now() - startedAt, processorMs() - processorStart)
    try {
      const result = await this.#call(method, args)
      if (!this.#isDisposed) given.settle(true, this.#encode(result), "", spent())
    } catch (error) {
      if (!this.#isDisposed) given.settle(false, ...describe(error), spent())
    }
  }

  async #call(method: string, args: ReadonlyArray<Value>): Promise<Result> {
    if (!methods.has(method)) throw new TypeError(`crypto.subtle has no method ${method}`)
    const decoded = await Promise.all(args.map((arg) => this.#decode(arg)))
    const call: unknown = Reflect.get(webcrypto.subtle, method)
    if (typeof call !== "function") throw new TypeError(`crypto.subtle has no method ${method}`)
    const result: Result = await Reflect.apply(call, webcrypto.subtle, decoded)
    if (result instanceof CryptoKey) checkKey(result, this.#limits)
    return result
  }

  async #decode(value: Value, member = ""): Promise<unknown> {
    if (value === undefined || value instanceof Uint8Array) return value
    if (isSealedKey(value)) return this.#open(value.sealed)
    if (isDictionary(value)) {
      const members = [...value.members].map(async ([name, each]) => [name, await this.#decode(each, name)] as const)
      return Object.fromEntries(await Promise.all(members))
    }
    if (Array.isArray(value)) return value
    // Node rejects the name at the step of the standard that reads it.
    return member === "name" && typeof value === "string" && !isKnown(value) ? "unknown" : value
  }

  async #open(sealed: string): Promise<webcrypto.CryptoKey> {
    try {
      return await this.#keys.open(sealed)
    } catch {
      throw new DOMException("the key belongs to another isolate", "InvalidAccessError")
    }
  }

  #encode(result: Result): string {
    const writer = new ResultWriter()
    const key = (each: webcrypto.CryptoKey) => {
      const { type, extractable, usages } = each
      const algorithm = { ...each.algorithm }
      const exponent: unknown = Reflect.get(algorithm, "publicExponent")
      if (exponent instanceof Uint8Array) Object.assign(algorithm, { publicExponent: [...exponent] })
      return { key: writer.range(this.#keys.seal(each)), type, extractable, algorithm, usages }
    }
    if (result instanceof ArrayBuffer) return writer.finish({ bytes: writer.range(new Uint8Array(result)) })
    if (typeof result === "boolean") return writer.finish(result)
    if (result instanceof CryptoKey) return writer.finish(key(result))
    if ("publicKey" in result) {
      return writer.finish({ pair: [key(result.publicKey), key(result.privateKey)] })
    }
    return writer.finish({ jwk: result })
  }
}

/** Returns name and message of an error. Errors of OpenSSL have no name of the standard. */
const describe = (error: unknown): readonly [name: string, message: string] => {
  if (error instanceof DOMException) return [error.name, error.message]
  return error instanceof TypeError ? ["TypeError", error.message] : ["OperationError", "the operation failed"]
}
