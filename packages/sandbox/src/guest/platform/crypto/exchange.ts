/**
 * Requests to the runner for a computation of `crypto.subtle`, and their results.
 *
 * Both are JSON with attached bytes, as binary text: see `CryptoCode` in the runner.
 */
import { DOMException } from "../dom-exception.ts"
import { host } from "../host.ts"

export type Range = readonly [from: number, to: number]

/** Characters per conversion: more would be too many arguments. */
const batch = 4096

/** Collects the bytes that a request refers to. */
export class Attachments {
  text = ""

  bytes(bytes: Uint8Array): Range {
    const from = this.text.length
    for (let start = 0; start < bytes.length; start += batch) {
      // A plain array: a typed array takes ten times as long to become arguments.
      const codes: Array<number> = []
      const end = Math.min(start + batch, bytes.length)
      for (let index = start; index < end; index++) {
        codes.push(bytes[index] ?? 0)
      }
      this.text += String.fromCharCode.apply(null, codes)
    }
    return [from, this.text.length]
  }

  binary(text: string): Range {
    const from = this.text.length
    this.text += text
    return [from, this.text.length]
  }
}

/** A result: JSON, and the bytes that it refers to. */
export interface Answer<A> {
  readonly value: A
  readonly binary: (range: Range) => string
}

/** Sends a request and returns its answer. Rejects with the errors of the standard. */
export const request = async <A>(
  method: string,
  args: ReadonlyArray<unknown>,
  { text }: Attachments
): Promise<Answer<A>> => {
  const json = JSON.stringify([method, ...args])
  const { compute, computeBytes } = host()
  if (json.length + text.length > computeBytes) {
    throw new DOMException(`The data is over ${computeBytes} bytes, the limit cryptoBytes`, "OperationError")
  }
  let answer: string
  try {
    answer = await compute(json, text)
  } catch (error) {
    throw toError(error)
  }
  const colon = answer.indexOf(":")
  const start = colon + 1 + Number(answer.slice(0, colon))
  return {
    value: JSON.parse(answer.slice(colon + 1, start)),
    binary: ([from, to]) => answer.slice(start + from, start + to)
  }
}

const names = ["NotSupportedError", "SyntaxError", "InvalidAccessError", "OperationError", "DataError"]

/** Converts an error of the runner. Errors of the kernel's limits stay unchanged. */
const toError = (error: unknown): unknown => {
  if (!(error instanceof Error)) {
    return error
  }
  if (names.includes(error.name)) {
    return new DOMException(error.message, error.name)
  }
  return error.name === "TypeError" ? new TypeError(error.message) : error
}

/** Returns the bytes of binary text. */
export const toBytes = (text: string): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(text.length)
  for (let index = 0; index < text.length; index++) {
    bytes[index] = text.charCodeAt(index)
  }
  return bytes
}
