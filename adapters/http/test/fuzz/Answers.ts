/** Cuts what a server said on a connection into answers, strictly: nothing may be left over. */
import { assert } from "vitest"

export interface Answer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
}

/** `asked` is what was sent: answers to HEAD have no body, whatever their heads say, and nobody can tell which they are. */
export const readAnswers = (said: Buffer, asked: string): ReadonlyArray<Answer> => {
  const answers: Array<Answer> = []
  for (let at = 0; at < said.length; ) {
    const end = said.indexOf("\r\n\r\n", at)
    assert.isAbove(end, at, `no answer: ${JSON.stringify(said.toString("latin1", at, at + 80))}`)
    const [first = "", ...lines] = said.toString("latin1", at, end).split("\r\n")
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1])
    assert.isTrue(status >= 100, `no status: ${JSON.stringify(first)}`)
    const headers = new Map(
      lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()])
    )
    if (/HEAD /.test(asked))
      return [{ status, headers, body: said.subarray(end + 4) }].filter((answer) => answer.status < 400)
    const { body, next } = bodyOf(said, end + 4, status, headers)
    answers.push({ status, headers, body })
    at = next
  }
  return answers
}

const bodyOf = (
  said: Buffer,
  from: number,
  status: number,
  headers: ReadonlyMap<string, string>
): { readonly body: Buffer; readonly next: number } => {
  if (status < 200 || status === 204 || status === 304) return { body: Buffer.alloc(0), next: from }
  if (headers.get("transfer-encoding") === "chunked") return chunksOf(said, from)
  const length = headers.get("content-length")
  const next = length === undefined ? said.length : from + Number(length)
  assert.isAtMost(next, said.length, "an answer is cut short")
  return { body: said.subarray(from, next), next }
}

/** A stream of events that was not over is cut where the connection ended. */
const chunksOf = (said: Buffer, from: number): { readonly body: Buffer; readonly next: number } => {
  const chunks: Array<Buffer> = []
  for (let at = from; at < said.length; ) {
    const end = said.indexOf("\r\n", at)
    const size = Number.parseInt(said.toString("latin1", at, end), 16)
    assert.isTrue(size >= 0, "a chunk without a size")
    chunks.push(said.subarray(end + 2, end + 2 + size))
    at = end + 4 + size
    if (size === 0) return { body: Buffer.concat(chunks), next: at }
  }
  return { body: Buffer.concat(chunks), next: said.length }
}
