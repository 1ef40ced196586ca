/** Bytes in host calls: base64 within JSON, in as many calls as they need. */
import { decodedLength, decodeInto, encodeBytes } from "./base64.ts"
import type { Source } from "./body.ts"
import { host } from "./host.ts"
import type { ReadableStream } from "./streams.ts"

/** Around the bytes in a host call, at most. */
const frameBytes = 128

/** A character of text may become six in JSON. */
const escaped = 6

/** The bytes that fit into one host call as base64 beside `otherBytes`. */
export const roomFor = (otherBytes: number): number => Math.floor((host().callBytes - otherBytes - frameBytes) / 4) * 3

/** What to ask for in one call. As base64 bytes are longer by a third, and there is room to spare for the rest. */
const bytesPerCall = (): number => Math.floor(host().callBytes / 2)
const textPerCall = (): number => Math.floor(host().callBytes / escaped)

/** Writes bytes in pieces of at most `room`, each when the one before has gone. Stops where `write` gives false. */
export const writeAll = async (
  bytes: Uint8Array,
  room: number,
  isLast: boolean,
  write: (base64: string, done: boolean) => Promise<boolean>
): Promise<boolean> => {
  let from = 0
  do {
    const chunk = bytes.subarray(from, from + room)
    from += room
    if (!(await write(encodeBytes(chunk), isLast && from >= bytes.length))) {
      return false
    }
  } while (from < bytes.length)
  return true
}

/** The same for all that a body has. Throws what its stream throws. */
export const writeBody = async (
  body: Uint8Array | ReadableStream<unknown>,
  room: number,
  write: (base64: string, done: boolean) => Promise<boolean>,
  notBytes: () => Error
): Promise<void> => {
  if (body instanceof Uint8Array) {
    await writeAll(body, room, true, write)
    return
  }
  const reader = body.getReader()
  try {
    let isWanted = true
    while (isWanted) {
      const { done, value } = await reader.read()
      if (done) {
        await write("", true)
        return
      }
      if (!(value instanceof Uint8Array)) {
        throw notBytes()
      }
      isWanted = await writeAll(value, room, false, write)
    }
  } catch (error) {
    reader.cancel(error).catch(() => undefined)
    throw error
  }
  await reader.cancel()
}

/** What a host says to a call that reads. */
export interface Taken {
  /** Base64, or text where that was asked for. */
  readonly bytes: string
  readonly done: boolean
}

/** A source whose pieces come by host calls. `take` gives what is not empty, or null at the end. */
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

/** What the guest calls a request, or a file that is read or written, in its host calls. */
export const freshId = (): number => ++lastId
