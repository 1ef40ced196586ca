/** Answers the calls of a replay from a recording. Calls of each operation are compared in their order. */
import { namedError } from "../failures.ts"
import { describeDifference } from "./compare.ts"
import type { RecordedCall, RecordedRun } from "./RecordedRun.ts"

export class RecordedAnswers {
  readonly #recording: RecordedRun
  readonly #used = new Set<RecordedCall>()
  #difference: string | null = null

  constructor(recording: RecordedRun) {
    this.#recording = recording
  }

  get difference(): string | null {
    return this.#difference
  }

  /** Returns the recorded answer to the next call of the operation. Rejects if the arguments differ. */
  async answer(op: string, args: unknown): Promise<unknown> {
    return toAnswer(this.#take(op, args))
  }

  /** Responds to a request with the recorded response and its body. */
  async fetch(request: Request): Promise<Response> {
    const next = this.#next("fetch.send")
    const { method, url } = request
    const sent = { method, url, ...(await toBody(request, next)) }
    const recorded = pick(next?.args, Object.keys(sent))
    const call = this.#check("fetch.send", next, recorded, sent)
    const head = toFields(toAnswer(call))
    const bytes = this.#readBody(toFields(call.args).id)
    const status = typeof head.status === "number" ? head.status : 200
    return new Response(withoutBody.has(status) ? null : bytes, {
      status,
      statusText: String(head.status_text ?? ""),
      headers: toHeaders(head.headers)
    })
  }

  /** Returns what the run made of recorded calls that a replay did not make; null if it made all. */
  findMissing(ops: (op: string) => boolean): string | null {
    const missing = this.#recording.calls.find((call) => ops(call.op) && !this.#used.has(call))
    return missing === undefined ? null : `${missing.op} ${JSON.stringify(missing.args)} → the replay made no such call`
  }

  #next(op: string): RecordedCall | undefined {
    return this.#recording.calls.find((call) => call.op === op && !this.#used.has(call))
  }

  #take(op: string, args: unknown): RecordedCall {
    const next = this.#next(op)
    return this.#check(op, next, next?.args, args)
  }

  #check(op: string, next: RecordedCall | undefined, recorded: unknown, args: unknown): RecordedCall {
    const different =
      next === undefined
        ? `${op} ${JSON.stringify(args)}: the run made no such call`
        : describeDifference(recorded, args, op, this.#recording.redact ?? [])
    if (next === undefined || different !== null) {
      this.#difference ??= different
      throw namedError("ReplayDiffers", different ?? op)
    }
    this.#used.add(next)
    return next
  }

  /** Returns the recorded pieces of the body of a response, or of a file. */
  #readBody(id: unknown): Uint8Array<ArrayBuffer> {
    return joinPieces(this.#recording.calls.filter(({ op, args }) => op === "fetch.read" && toFields(args).id === id))
  }
}

/** Returns the bytes of calls that each returned a piece. */
export const joinPieces = (calls: ReadonlyArray<RecordedCall>): Uint8Array<ArrayBuffer> => {
  const pieces = calls.map(({ args, answer }) => {
    const { bytes } = toFields(answer)
    if (typeof bytes !== "string") return new Uint8Array(0)
    return toFields(args).text === true ? new TextEncoder().encode(bytes) : fromBase64(bytes)
  })
  const joined = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    joined.set(piece, at)
    at += piece.length
  }
  return joined
}

export const toFields = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {}

const toAnswer = ({ op, answer, error }: RecordedCall): unknown => {
  if (error !== undefined) throw namedError(error.name, error.message)
  if (answer === undefined) throw namedError("NotRecorded", `${op}: the recording has no answer to this call`)
  return answer
}

const withoutBody: ReadonlySet<number> = new Set([204, 205, 304])

/** Returns the body of a request as it is recorded: null, or base64. The length of a stream is not compared. */
const toBody = async (request: Request, recorded: RecordedCall | undefined): Promise<{ readonly body?: unknown }> => {
  const { body } = toFields(recorded?.args)
  if (body !== null && typeof toFields(body).bytes !== "string") return {}
  const bytes = new Uint8Array(await request.arrayBuffer())
  return { body: request.body === null ? null : { bytes: toBase64(bytes) } }
}

const pick = (value: unknown, names: ReadonlyArray<string>): unknown =>
  Object.fromEntries(Object.entries(toFields(value)).filter(([name]) => names.includes(name)))

const toHeaders = (headers: unknown): Headers => {
  const list = new Headers()
  if (!Array.isArray(headers)) return list
  for (const [name, value] of headers) list.append(String(name), String(value))
  return list
}

const fromBase64 = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text), (character) => character.charCodeAt(0))

const toBase64 = (bytes: Uint8Array): string => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
