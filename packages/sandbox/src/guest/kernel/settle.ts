/** Ends a run with the result or error of its function. */
import { base64, base64Length } from "./base64.ts"
import { describeThrown, findLimit, limitError, namedError, readMessage } from "./failures.ts"
import { emit } from "./OutputBuffer.ts"
import {
  create,
  defineProperty,
  execRegExp,
  getOwnPropertyDescriptor,
  getProperty,
  isArray,
  isInteger,
  keys,
  NativeString,
  NativeTypeError,
  NativeUint8Array,
  stringify,
  toLowerCase,
  typedArrayKind,
  typedArrayLength,
  whenSettled
} from "./primordials.ts"
import { readRetryHint } from "./RetryHint.ts"
import type { KernelLimits, Run } from "./Run.ts"
import { isLonger } from "./utf8.ts"

const encodings = { json: 0, text: 1, base64: 2 }
const jsonType = /^[\t ]*(?:application|text)\/(?:[^;\t ]*\+)?json[\t ]*(?:;|$)/i
/** Maximum length of headers as JSON text, in characters. The supervisor rejects longer ones. */
const headersLengthMax = 65_536
const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/

export interface Settlement {
  /** Ends the run with the function's result, which may be hostile. */
  readonly succeed: (run: Run, value: unknown) => void
  readonly fail: (run: Run, thrown: unknown) => void
}

export const makeSettlement = (limits: KernelLimits, end: (run: Run) => void): Settlement => {
  const exceed = (run: Run, limit: string, message: string): void => {
    emit("X", run.id, 0, 0, limit, message)
    end(run)
  }

  const fail = (run: Run, thrown: unknown): void => {
    if (run.ended) return
    const limit = findLimit(thrown)
    if (limit !== undefined) {
      exceed(run, limit, readMessage(thrown))
      return
    }
    const { isFinal, afterMs } = readRetryHint(thrown)
    emit("E", run.id, isFinal ? 1 : 0, 0, describeThrown(thrown), afterMs === undefined ? "" : `${afterMs}`)
    end(run)
  }

  const succeed = (run: Run, value: unknown): void => {
    if (run.ended) return
    try {
      if (run.responds && typeof value === "object" && value !== null) {
        if (isWebResponse(value)) {
          whenSettled(
            readWebResponse(value),
            (parts) => succeed(run, parts),
            (thrown) => fail(run, thrown)
          )
          return
        }
        const status = getProperty(value, "status")
        if (isInteger(status)) {
          const response = toResponse(run, value, status, limits.resultBytes)
          if (isLonger(response.body, limits.resultBytes)) throw tooLarge(run, limits.resultBytes)
          emit("H", run.id, status, encodings[response.encoding], response.headers, response.body)
          end(run)
          return
        }
      }
      const text = toJson(run, value)
      if (isLonger(text, limits.resultBytes)) throw tooLarge(run, limits.resultBytes)
      emit("R", run.id, 0, 0, text, "")
      end(run)
    } catch (thrown) {
      fail(run, thrown)
    }
  }

  return { succeed, fail }
}

const tooLarge = (run: Run, bytesMax: number): Error =>
  limitError("resultBytes", `${run.fn} returned more than ${bytesMax} bytes`)

const toJson = (run: Run, value: unknown): string => {
  const text: string | undefined = value === undefined ? "null" : stringify(value)
  if (text === undefined) throw new NativeTypeError(`${run.fn} returned a ${typeof value}, which JSON cannot represent`)
  return text
}

/** The part of the platform's `Response` that the kernel reads. */
interface WebResponse {
  readonly status: number
  readonly headers: { readonly forEach: (visit: (value: string, name: string) => void) => void }
  readonly arrayBuffer: () => Promise<ArrayBuffer>
}

/** True for a `Response` of the platform. If `Response` was never used, nothing is one. */
const isWebResponse = (value: object): value is WebResponse => {
  const constructor: unknown = getOwnPropertyDescriptor(globalThis, "Response")?.value
  return typeof constructor === "function" && value instanceof constructor
}

/** A web response whose body has been read. */
class ReadResponse {
  readonly status: number
  readonly headers: object
  readonly body: Uint8Array

  constructor(status: number, headers: object, body: Uint8Array) {
    this.status = status
    this.headers = headers
    this.body = body
  }
}

/** Reads the body of a response and returns it as a plain object. */
const readWebResponse = async (response: WebResponse): Promise<object> => {
  const headers: object = create(null)
  const cookies: ReadonlyArray<string> = []
  response.headers.forEach((value, name) => {
    const isCookie = name === "set-cookie"
    if (isCookie) defineProperty(cookies, cookies.length, { value, enumerable: true, configurable: true })
    defineProperty(headers, name, { value: isCookie ? cookies : value, enumerable: true, configurable: true })
  })
  const body = new NativeUint8Array(await response.arrayBuffer())
  if (typedArrayLength(body) === 0) return { status: response.status, headers }
  return new ReadResponse(response.status, headers, body)
}

interface ResponseParts {
  readonly headers: string
  readonly encoding: keyof typeof encodings
  readonly body: string
}

const toResponse = (run: Run, response: object, status: number, bytesMax: number): ResponseParts => {
  if (status < 200 || status > 599) {
    throw namedError("InvalidResponse", `${run.fn} returned the status ${status}, which is outside 200 to 599`)
  }
  const { text, contentType } = toHeaders(run, getProperty(response, "headers"))
  const body = getProperty(response, "body")
  if (body === undefined) return { headers: text, encoding: "text", body: "" }
  // The bytes of a web response are sent unchanged, also if they are JSON.
  if (isBytes(body) && response instanceof ReadResponse) {
    return { headers: text, encoding: "base64", body: toBase64(run, body, bytesMax) }
  }
  if (contentType !== undefined && execRegExp(jsonType, contentType) === null) {
    if (typeof body === "string") return { headers: text, encoding: "text", body }
    if (isBytes(body)) return { headers: text, encoding: "base64", body: toBase64(run, body, bytesMax) }
  }
  return { headers: text, encoding: "json", body: toJson(run, body) }
}

/** Returns the headers as JSON text with lowercase names. If names differ only in case, the last one wins. */
const toHeaders = (run: Run, headers: unknown): { readonly text: string; readonly contentType: string | undefined } => {
  if (headers === undefined || headers === null) return { text: "{}", contentType: undefined }
  if (typeof headers !== "object")
    throw namedError("InvalidResponse", `${run.fn} returned headers that are not an object`)
  let text = ""
  let contentType: string | undefined
  const names = keys(headers)
  for (let at = 0; at < names.length; at++) {
    const name = names[at] ?? ""
    if (execRegExp(headerName, name) === null) throw invalidHeader(run, name)
    const value = getProperty(headers, name)
    if (value === undefined || value === null) continue
    const lower = toLowerCase(name)
    const sent = lower === "set-cookie" ? toCookies(run, name, value) : stringify(toHeaderLine(run, name, value))
    if (lower === "content-type") contentType = toHeaderLine(run, name, value)
    text += `${text === "" ? "" : ","}${stringify(lower)}:${sent}`
    if (text.length > headersLengthMax) throw namedError("InvalidResponse", `${run.fn} returned too many headers`)
  }
  return { text: `{${text}}`, contentType }
}

const invalidHeader = (run: Run, name: string): Error =>
  namedError("InvalidResponse", `${run.fn} returned an invalid header: ${stringify(name)}`)

/** Returns cookies as JSON text. Each member of an array is a separate header, because cookies cannot be joined. */
const toCookies = (run: Run, name: string, value: unknown): string => {
  if (!isArray(value)) return stringify(toHeaderLine(run, name, value))
  let text = ""
  for (let at = 0; at < value.length && text.length <= headersLengthMax; at++) {
    text += `${at === 0 ? "" : ","}${stringify(toHeaderLine(run, name, value[at]))}`
  }
  return `[${text}]`
}

/** Returns a header's value as one line; joins the members of an array with commas. */
const toHeaderLine = (run: Run, name: string, value: unknown): string => {
  let line = ""
  if (isArray(value)) {
    for (let at = 0; at < value.length && line.length <= headersLengthMax; at++) {
      line += `${at === 0 ? "" : ", "}${NativeString(value[at])}`
    }
  } else {
    line = NativeString(value)
  }
  if (execRegExp(headerValue, line) === null) throw invalidHeader(run, name)
  return line
}

/** Encodes bytes. Checks their number first, because the text takes several times their memory. */
const toBase64 = (run: Run, bytes: Uint8Array, bytesMax: number): string => {
  if (base64Length(typedArrayLength(bytes)) > bytesMax) throw tooLarge(run, bytesMax)
  return base64(bytes)
}

const isBytes = (value: unknown): value is Uint8Array => typedArrayKind(value) === "Uint8Array"
