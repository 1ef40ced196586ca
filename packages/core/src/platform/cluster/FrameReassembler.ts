/**
 * Splits the contents of a bus into frames of limited size, and reassembles them.
 *
 * A frame is a header line, `weft1 NODE SEQ INDEX COUNT`, and a part of the content. A node numbers its contents from 1
 * and sends them in order. A receiver that sees a gap in the sequence knows that it missed a content, and it ignores
 * duplicates.
 */
import type { NodeId } from "../../foundation/Ids.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import { timeOfUuidV7 } from "../../foundation/UuidV7.ts"

const version = "weft1"

/** Maximum size of the header line, in bytes. */
const headerBytesMax = 100

/** Maximum frames of one content. */
const framesMax = 100_000

/** Maximum characters of incomplete contents, of all nodes in total. */
const partialLengthMax = 64 * 1024 * 1024

/** Time after its last frame until an incomplete content is discarded, in milliseconds. */
const partialMs = 60_000

/** Maximum senders whose sequence numbers are remembered. */
const sendersMax = 1000

/** Splits a content into frames of at most `bytesMax` bytes of UTF-8 each. */
export const toFrames = (node: NodeId, seq: number, content: string, bytesMax: number): ReadonlyArray<string> => {
  const parts = splitByBytes(content, bytesMax - headerBytesMax)
  return parts.map((part, index) => `${version} ${node} ${seq} ${index} ${parts.length}\n${part}`)
}

/** Returns the frame of a short content outside any sequence, such as that of a database transaction. */
export const toSingleFrame = (content: string): string => `${version} ${noSender} 0 0 1\n${content}`

/** Sender of unsequenced frames. Receivers ignore the sender of sequence number 0. */
const noSender = "00000000-0000-0000-0000-000000000000"

const splitByBytes = (content: string, bytesMax: number): ReadonlyArray<string> => {
  if (content.length * 3 <= bytesMax) return [content]
  const parts: Array<string> = []
  let from = 0
  let bytes = 0
  for (let at = 0; at < content.length; ) {
    const code = content.codePointAt(at) ?? 0
    const width = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
    if (bytes + width > bytesMax) {
      parts.push(content.slice(from, at))
      from = at
      bytes = 0
    }
    bytes += width
    at += width === 4 ? 2 : 1
  }
  return [...parts, content.slice(from)]
}

interface Sender {
  /** Sequence number of the last complete content. */
  seq: number | null
  /** Time at which it was received. */
  receivedAt: Timestamp
  partial: Partial | null
}

interface Partial {
  readonly seq: number
  readonly count: number
  readonly parts: Array<string>
  length: number
  at: Timestamp
}

export interface Received {
  readonly node: string
  readonly content: string
  /** Time of the sender's previous content, if contents in between were missed; otherwise null. */
  readonly missedSince: Timestamp | null
}

const headerPattern = /^weft1 ([0-9a-f-]{36}) (\d{1,15}) (\d{1,6}) (\d{1,6})\n/

/** Reassembles the frames of other nodes. Plain state without a clock. */
export class FrameReassembler {
  readonly #own: string
  readonly #since: Timestamp
  /** The sender with the oldest activity first. */
  readonly #senders = new Map<string, Sender>()
  #partialLength = 0

  /** `since`: the time since which this node receives all frames. */
  constructor(own: NodeId, since: Timestamp) {
    this.#own = `${version} ${own} `
    this.#since = since
  }

  /** True if this node sent the frame. */
  isOwn(frame: string): boolean {
    return frame.startsWith(this.#own)
  }

  /** Returns the content that the frame completes, or null. Own frames, duplicates and other text complete nothing. */
  accept(frame: string, now: Timestamp): Received | null {
    if (this.isOwn(frame)) return null
    const [header = "", node = "", ...numbers] = headerPattern.exec(frame) ?? []
    const [seq = 0, index = 0, count = 0] = numbers.map(Number)
    if (header === "" || count < 1 || count > framesMax || index >= count) return null
    if (seq === 0) return { node, content: frame.slice(header.length), missedSince: null }
    const sender = this.#sender(node, now)
    if (sender.seq !== null && seq <= sender.seq) return null
    const part = frame.slice(header.length)
    if (count === 1) return this.#complete(node, sender, seq, part, now)
    const partial = this.#add(sender, { seq, index, count, part }, now)
    return partial === null || partial.parts.length < partial.count
      ? null
      : this.#complete(node, sender, seq, partial.parts.join(""), now)
  }

  #add(
    sender: Sender,
    { seq, index, count, part }: { seq: number; index: number; count: number; part: string },
    now: Timestamp
  ): Partial | null {
    const current = sender.partial
    const isNext = current?.seq === seq && current.count === count && current.parts.length === index
    if (!isNext) this.#drop(sender)
    if (!isNext && index > 0) return null
    const partial = isNext ? current : { seq, count, parts: [], length: 0, at: now }
    partial.parts.push(part)
    partial.length += part.length
    partial.at = now
    sender.partial = partial
    this.#partialLength += part.length
    this.#expire(now)
    return sender.partial
  }

  #complete(node: string, sender: Sender, seq: number, content: string, now: Timestamp): Received {
    const isMissing = sender.seq !== null && seq !== sender.seq + 1
    const missedSince = isMissing ? sender.receivedAt : null
    this.#drop(sender)
    sender.seq = seq
    sender.receivedAt = now
    return { node, content, missedSince }
  }

  #sender(node: string, now: Timestamp): Sender {
    const sender = this.#senders.get(node) ?? this.#newSender(node, now)
    this.#senders.delete(node)
    this.#senders.set(node, sender)
    const [oldest] = this.#senders
    if (this.#senders.size > sendersMax && oldest !== undefined) {
      this.#drop(oldest[1])
      this.#senders.delete(oldest[0])
    }
    return sender
  }

  /** A node that started after this one has been received from its first content on. */
  #newSender(node: string, now: Timestamp): Sender {
    const startedAt = timeOfUuidV7(node)
    return startedAt < this.#since
      ? { seq: null, receivedAt: now, partial: null }
      : { seq: 0, receivedAt: Timestamp.make(startedAt, { disableChecks: true }), partial: null }
  }

  /** Discards incomplete contents that are too old, and the least active ones while the total is too large. */
  #expire(now: Timestamp): void {
    for (const sender of this.#senders.values()) {
      const { partial } = sender
      if (partial !== null && (now - partial.at > partialMs || this.#partialLength > partialLengthMax))
        this.#drop(sender)
    }
  }

  #drop(sender: Sender): void {
    this.#partialLength -= sender.partial?.length ?? 0
    sender.partial = null
  }
}
