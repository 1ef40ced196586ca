/** Parses the bytes of a server into responses. Every byte must belong to a response. */
import { assert } from "vitest"

export interface Answer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
}

/** `sent` is the request. It shows whether a response is to HEAD, and thus has no body. */
export const readAnswers = (received: Buffer, sent: string): ReadonlyArray<Answer> => {
  const answers: Array<Answer> = []
  for (let at = 0; at < received.length; ) {
    const end = received.indexOf("\r\n\r\n", at)
    assert.isAbove(end, at, `no answer: ${JSON.stringify(received.toString("latin1", at, at + 80))}`)
    const [first = "", ...lines] = received.toString("latin1", at, end).split("\r\n")
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1])
    assert.isTrue(status >= 100, `no status: ${JSON.stringify(first)}`)
    const headers = new Map(
      lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()])
    )
    if (/HEAD /.test(sent))
      return [{ status, headers, body: received.subarray(end + 4) }].filter((answer) => answer.status < 400)
    const { body, next } = bodyOf(received, end + 4, status, headers)
    answers.push({ status, headers, body })
    at = next
  }
  return answers
}

const bodyOf = (
  received: Buffer,
  from: number,
  status: number,
  headers: ReadonlyMap<string, string>
): { readonly body: Buffer; readonly next: number } => {
  if (status < 200 || status === 204 || status === 304) return { body: Buffer.alloc(0), next: from }
  if (headers.get("transfer-encoding") === "chunked") return chunksOf(received, from)
  const length = headers.get("content-length")
  const next = length === undefined ? received.length : from + Number(length)
  assert.isAtMost(next, received.length, "an answer is cut short")
  return { body: received.subarray(from, next), next }
}

/** Parses chunks. An unfinished event stream ends with the connection. */
const chunksOf = (received: Buffer, from: number): { readonly body: Buffer; readonly next: number } => {
  const chunks: Array<Buffer> = []
  for (let at = from; at < received.length; ) {
    const end = received.indexOf("\r\n", at)
    const size = Number.parseInt(received.toString("latin1", at, end), 16)
    assert.isTrue(size >= 0, "a chunk without a size")
    chunks.push(received.subarray(end + 2, end + 2 + size))
    at = end + 4 + size
    if (size === 0) return { body: Buffer.concat(chunks), next: at }
  }
  return { body: Buffer.concat(chunks), next: received.length }
}
