/** The blocks of an answer of Server-Sent Events. */
import { WeftNetworkError } from "../errors/WeftNetworkError.ts"

export interface Block {
  readonly id: string | null
  readonly event: string | null
  /** Lines joined; null for a block that carries no message, such as a comment. */
  readonly data: string | null
  /** How long the server wants clients to wait before they come back, in milliseconds. */
  readonly retry: number | null
}

/** One block; null for nothing but comments. */
const blockOf = (lines: ReadonlyArray<string>): Block | null => {
  let block: Block | null = null
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
 * Cuts text into blocks. Lines end with LF, CR, or both; a block ends with an empty line, and what no empty line
 * follows is none.
 */
export class BlockReader {
  #text = ""
  #lines: Array<string> = []

  take(text: string): ReadonlyArray<Block> {
    const blocks: Array<Block> = []
    const all = this.#text + text
    // Whether a line feed follows the last character is not known yet.
    const usable = all.endsWith("\r") ? all.slice(0, -1) : all
    const lines = usable.split(/\r\n|\n|\r/)
    this.#text = (lines.pop() ?? "") + all.slice(usable.length)
    for (const line of lines) {
      if (line !== "") {
        this.#lines.push(line)
        continue
      }
      const block = blockOf(this.#lines)
      this.#lines = []
      if (block !== null) blocks.push(block)
    }
    return blocks
  }
}

/** The blocks as they come. Fails when nothing at all, not even a comment, was heard for `silenceMs`. */
export async function* blocksOf(response: Response, silenceMs: number): AsyncGenerator<Block, void, undefined> {
  const reader = response.body?.getReader()
  if (reader === undefined) return
  const decoder = new TextDecoder()
  const blocks = new BlockReader()
  try {
    for (;;) {
      const { done, value } = await withPatience(reader.read(), silenceMs)
      if (done) return
      yield* blocks.take(decoder.decode(value, { stream: true }))
    }
  } finally {
    // Ends the connection. What it fails with is known already.
    await reader.cancel().catch(() => undefined)
  }
}

const withPatience = async <T>(reading: Promise<T>, millis: number): Promise<T> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_, reject) => {
    const message = `Nothing was heard for ${millis} ms, not even a heartbeat`
    timer = setTimeout(() => reject(new WeftNetworkError(message)), millis)
  })
  try {
    return await Promise.race([reading, silence])
  } finally {
    clearTimeout(timer)
  }
}
