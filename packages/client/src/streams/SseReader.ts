/** Reader of Server-Sent Events. */
import { WeftNetworkError } from "../errors/WeftNetworkError.ts"

export interface SseBlock {
  readonly id: string | null
  readonly event: string | null
  /** Joined `data` lines; null for a block without a message, such as a comment. */
  readonly data: string | null
  /** Delay before a reconnect that the server requests, in milliseconds. */
  readonly retry: number | null
}

/** Parses a block. Returns null for comments only. */
const parseBlock = (lines: ReadonlyArray<string>): SseBlock | null => {
  let block: SseBlock | null = null
  for (const line of lines) {
    const colon = line.indexOf(":")
    if (colon === 0) continue
    const name = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "")
    block ??= { id: null, event: null, data: null, retry: null }
    if (name === "data") block = { ...block, data: block.data === null ? value : `${block.data}\n${value}` }
    else if (name === "event") block = { ...block, event: value }
    else if (name === "id" && !value.includes("\0")) block = { ...block, id: value }
    else if (name === "retry" && /^\d+$/.test(value)) block = { ...block, retry: Number(value) }
  }
  return block
}

/**
 * Incremental parser of blocks. Lines end with LF, CR, or both. A block ends with an empty line; an incomplete block at
 * the end is ignored.
 */
export class SseParser {
  #text = ""
  #lines: Array<string> = []

  take(text: string): ReadonlyArray<SseBlock> {
    const blocks: Array<SseBlock> = []
    const pending = this.#text + text
    // A final CR may be followed by LF in the next chunk.
    const complete = pending.endsWith("\r") ? pending.slice(0, -1) : pending
    const lines = complete.split(/\r\n|\n|\r/)
    this.#text = (lines.pop() ?? "") + pending.slice(complete.length)
    for (const line of lines) {
      if (line !== "") {
        this.#lines.push(line)
        continue
      }
      const block = parseBlock(this.#lines)
      this.#lines = []
      if (block !== null) blocks.push(block)
    }
    return blocks
  }
}

/** Yields the blocks of a response. Fails if no data, not even a comment, arrives for `silenceMs`. */
export async function* readBlocks(response: Response, silenceMs: number): AsyncGenerator<SseBlock, void, undefined> {
  const reader = response.body?.getReader()
  if (reader === undefined) return
  const decoder = new TextDecoder()
  const blocks = new SseParser()
  try {
    for (;;) {
      const { done, value } = await withSilenceTimeout(reader.read(), silenceMs)
      if (done) return
      yield* blocks.take(decoder.decode(value, { stream: true }))
    }
  } finally {
    // Closes the connection. Its error is already known.
    await reader.cancel().catch(() => undefined)
  }
}

const withSilenceTimeout = async <T>(reading: Promise<T>, millis: number): Promise<T> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_, reject) => {
    const message = `No data for ${millis} ms, not even a heartbeat`
    timer = setTimeout(() => reject(new WeftNetworkError(message)), millis)
  })
  try {
    return await Promise.race([reading, silence])
  } finally {
    clearTimeout(timer)
  }
}
