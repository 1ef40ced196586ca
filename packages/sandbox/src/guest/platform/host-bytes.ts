/** Transfers bytes through host calls: base64 in JSON, in as many calls as necessary. */
import { decodedLength, decodeInto, encodeBytes } from "./base64.ts"
import type { Source } from "./body.ts"
import { host } from "./host.ts"
import type { ReadableStream } from "./streams.ts"

/** Maximum overhead of a host call around the bytes. */
const frameBytes = 128

/** Maximum characters in JSON for one character of text. */
const escaped = 6

/** Returns the number of bytes that fit into one host call as base64, next to `otherBytes`. */
export const payloadCapacity = (otherBytes: number): number =>
  Math.floor((host().callBytes - otherBytes - frameBytes) / 4) * 3

/** Maximum bytes of one read. Base64 is longer by a third, which leaves enough for the overhead. */
const bytesPerCall = (): number => Math.floor(host().callBytes / 2)
const textPerCall = (): number => Math.floor(host().callBytes / escaped)

/** Writes bytes in chunks of at most `capacity`, each after the previous one. Stops if `write` returns false. */
export const writeAll = async (
  bytes: Uint8Array,
  capacity: number,
  isLast: boolean,
  write: (base64: string, done: boolean) => Promise<boolean>
): Promise<boolean> => {
  let from = 0
  do {
    const chunk = bytes.subarray(from, from + capacity)
    from += capacity
    if (!(await write(encodeBytes(chunk), isLast && from >= bytes.length))) {
      return false
    }
  } while (from < bytes.length)
  return true
}

/** Writes a whole body in the same way. Throws the errors of its stream. */
export const writeBody = async (
  body: Uint8Array | ReadableStream<unknown>,
  capacity: number,
  write: (base64: string, done: boolean) => Promise<boolean>,
  notBytes: () => Error
): Promise<void> => {
  if (body instanceof Uint8Array) {
    await writeAll(body, capacity, true, write)
    return
  }
  const reader = body.getReader()
  try {
    let isAccepted = true
    while (isAccepted) {
      const { done, value } = await reader.read()
      if (done) {
        await write("", true)
        return
      }
      if (!(value instanceof Uint8Array)) {
        throw notBytes()
      }
      isAccepted = await writeAll(value, capacity, false, write)
    }
  } catch (error) {
    reader.cancel(error).catch(() => undefined)
    throw error
  }
  await reader.cancel()
}

/** Result of a host call that reads. */
export interface ReadResult {
  /** Base64, or text if the call requested it. */
  readonly bytes: string
  readonly done: boolean
}

/** A source that reads through host calls. `take` returns a non-empty chunk, or null at the end. */
export abstract class HostSource implements Source {
  abstract readonly size: number | null
  protected abstract take(max: number, text: boolean): Promise<string | null>
  abstract cancel(): void

  async read(): Promise<Uint8Array | null> {
    const taken = await this.take(bytesPerCall(), false)
    if (taken === null) {
      return null
    }
    const bytes = new Uint8Array(decodedLength(taken))
    decodeInto(taken, bytes, 0)
    return bytes
  }

  async readInto(bytes: Uint8Array, start: number): Promise<number | null> {
    const taken = await this.take(bytesPerCall(), false)
    if (taken === null) {
      return null
    }
    decodeInto(taken, bytes, start)
    return decodedLength(taken)
  }

  readText(): Promise<string | null> {
    return this.take(textPerCall(), true)
  }
}

let lastId = 0

/** Returns a new id that identifies a request, or a file that is read or written, in host calls. */
export const freshId = (): number => ++lastId
