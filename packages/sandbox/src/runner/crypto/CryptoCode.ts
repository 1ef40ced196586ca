/**
 * Converts requests and results of `crypto.subtle` between the text that crosses the border of an isolate and values.
 *
 * The text is JSON. Bytes are attached as binary text, one character a byte, because base64 in JSON takes ten times as
 * long. `{"bytes": [from, to]}` and `{"key": [from, to]}` refer to ranges of it.
 */
import { Buffer } from "node:buffer"

/** A value of a request. The guest's code made it, so every use checks its type. */
export type Value = string | number | boolean | undefined | Uint8Array | SealedKey | ReadonlyArray<Value> | Dictionary

/** Members of a parameter object. */
export interface Dictionary {
  readonly members: ReadonlyMap<string, Value>
}

/** The handle of a key, as the guest holds it. */
export interface SealedKey {
  readonly sealed: string
}

export const isDictionary = (value: Value): value is Dictionary => typeof value === "object" && "members" in value

export const isSealedKey = (value: Value): value is SealedKey => typeof value === "object" && "sealed" in value

/** Returns the method of a request and its arguments. Throws if the text has another shape. */
export const readRequest = (text: string, bytes: string): readonly [method: string, args: ReadonlyArray<Value>] => {
  const parsed: unknown = JSON.parse(text)
  if (!Array.isArray(parsed)) throw malformed()
  const [method, ...args] = parsed.map((each: unknown) => readValue(each, bytes))
  if (typeof method !== "string") throw malformed()
  return [method, args]
}

const malformed = (): Error => new TypeError("the request of crypto.subtle is malformed")

const readValue = (value: unknown, bytes: string): Value => {
  if (value === null) return undefined
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value
  if (Array.isArray(value)) return value.map((each: unknown) => readValue(each, bytes))
  if (typeof value !== "object") throw malformed()
  if ("bytes" in value) return new Uint8Array(Buffer.from(rangeOf(value.bytes, bytes), "latin1"))
  if ("key" in value) return { sealed: rangeOf(value.key, bytes) }
  // Numbers that JSON does not have.
  if ("number" in value) return Number(value.number)
  if (!("object" in value) || typeof value.object !== "object" || value.object === null) throw malformed()
  const members = Object.entries(value.object).map(([name, member]) => [name, readValue(member, bytes)] as const)
  return { members: new Map(members) }
}

const rangeOf = (range: unknown, bytes: string): string => {
  if (!Array.isArray(range)) throw malformed()
  const [from, to] = range
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || from < 0 || to < from || to > bytes.length) {
    throw malformed()
  }
  return bytes.slice(from, to)
}

/** Collects a result: JSON, and the bytes that it refers to. */
export class ResultWriter {
  #bytes = ""

  /** Appends bytes and returns their range. */
  range(bytes: Uint8Array | string): readonly [from: number, to: number] {
    const from = this.#bytes.length
    this.#bytes += typeof bytes === "string" ? bytes : Buffer.from(bytes).toString("latin1")
    return [from, this.#bytes.length]
  }

  /** Returns the text for the guest: the length of the JSON, a colon, the JSON, the bytes. */
  finish(result: unknown): string {
    const text = JSON.stringify(result)
    return `${text.length}:${text}${this.#bytes}`
  }
}
