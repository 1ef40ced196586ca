/**
 * Contents of a feed in texts of limited size, and back.
 *
 * A text is a line, `weft1 NODE SEQ INDEX COUNT`, and its piece of the content. A node numbers its contents from 1 on and
 * sends one after the other, so that who hears a number too many knows that it missed something, and who hears the same
 * again passes it over.
 */
import type { NodeId } from "../ids/Ids.ts"
import { Timestamp } from "../ids/Timestamp.ts"
import { timeOfUuidV7 } from "../ids/UuidV7.ts"

const version = "weft1"

/** Bytes that the line takes at most. */
const lineMax = 100

/** Pieces of one content at most. */
const piecesMax = 100_000

/** Characters of contents that are not complete, at most, of all nodes together. */
const partialMax = 64 * 1024 * 1024

/** How long pieces are kept that no further one follows, in milliseconds. */
const partialMs = 60_000

/** Nodes whose numbers are remembered. */
const sendersMax = 1000

/** The texts of a content, each of at most `bytesMax` bytes of UTF-8. */
export const toTexts = (node: NodeId, seq: number, content: string, bytesMax: number): ReadonlyArray<string> => {
  const pieces = piecesOf(content, bytesMax - lineMax)
  return pieces.map((piece, index) => `${version} ${node} ${seq} ${index} ${pieces.length}\n${piece}`)
}

/** The text of a short content of which nobody can say after which other it comes, such as that of a transaction. */
export const toTextByItself = (content: string): string => `${version} ${nobody} 0 0 1\n${content}`

/** Where the number is 0, who sent it does not matter. */
const nobody = "00000000-0000-0000-0000-000000000000"

const piecesOf = (content: string, bytesMax: number): ReadonlyArray<string> => {
  if (content.length * 3 <= bytesMax) return [content]
  const pieces: Array<string> = []
  let from = 0
  let bytes = 0
  for (let at = 0; at < content.length; ) {
    const code = content.codePointAt(at) ?? 0
    const width = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
    if (bytes + width > bytesMax) {
      pieces.push(content.slice(from, at))
      from = at
      bytes = 0
    }
    bytes += width
    at += width === 4 ? 2 : 1
  }
  return [...pieces, content.slice(from)]
}

interface Sender {
  /** The number of the last content that was complete. */
  seq: number | null
  /** When that was. */
  heardAt: Timestamp
  partial: Partial | null
}

interface Partial {
  readonly seq: number
  readonly count: number
  readonly pieces: Array<string>
  length: number
  at: Timestamp
}

export interface Received {
  readonly node: string
  readonly content: string
  /** When this node was heard before, if contents in between were missed. */
  readonly missedSince: Timestamp | null
}

const lineOf = /^weft1 ([0-9a-f-]{36}) (\d{1,15}) (\d{1,6}) (\d{1,6})\n/

/** Puts the texts of the others together again. Plain state, no clock. */
export class FeedPieces {
  readonly #own: string
  readonly #since: Timestamp
  /** The one not heard for the longest first. */
  readonly #senders = new Map<string, Sender>()
  #partialLength = 0

  /** `since`: from when on all that the others send is heard. */
  constructor(own: NodeId, since: Timestamp) {
    this.#own = `${version} ${own} `
    this.#since = since
  }

  /** Whether the text is this node's own. */
  isOwn(text: string): boolean {
    return text.startsWith(this.#own)
  }

  /** What the text completes; null while pieces are missing, and for what is own, known already, or no such text. */
  accept(text: string, now: Timestamp): Received | null {
    if (this.isOwn(text)) return null
    const [line = "", node = "", ...numbers] = lineOf.exec(text) ?? []
    const [seq = 0, index = 0, count = 0] = numbers.map(Number)
    if (line === "" || count < 1 || count > piecesMax || index >= count) return null
    if (seq === 0) return { node, content: text.slice(line.length), missedSince: null }
    const sender = this.#sender(node, now)
    if (sender.seq !== null && seq <= sender.seq) return null
    const piece = text.slice(line.length)
    if (count === 1) return this.#complete(node, sender, seq, piece, now)
    const partial = this.#add(sender, { seq, index, count, piece }, now)
    return partial === null || partial.pieces.length < partial.count
      ? null
      : this.#complete(node, sender, seq, partial.pieces.join(""), now)
  }

  #add(
    sender: Sender,
    { seq, index, count, piece }: { seq: number; index: number; count: number; piece: string },
    now: Timestamp
  ): Partial | null {
    const begun = sender.partial
    const isNext = begun?.seq === seq && begun.count === count && begun.pieces.length === index
    if (!isNext) this.#drop(sender)
    if (!isNext && index > 0) return null
    const partial = isNext ? begun : { seq, count, pieces: [], length: 0, at: now }
    partial.pieces.push(piece)
    partial.length += piece.length
    partial.at = now
    sender.partial = partial
    this.#partialLength += piece.length
    this.#expire(now)
    return sender.partial
  }

  #complete(node: string, sender: Sender, seq: number, content: string, now: Timestamp): Received {
    const isMissing = sender.seq !== null && seq !== sender.seq + 1
    const missedSince = isMissing ? sender.heardAt : null
    this.#drop(sender)
    sender.seq = seq
    sender.heardAt = now
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

  /** Who began since is heard from its first content on. */
  #newSender(node: string, now: Timestamp): Sender {
    const bornAt = timeOfUuidV7(node)
    return bornAt < this.#since
      ? { seq: null, heardAt: now, partial: null }
      : { seq: 0, heardAt: Timestamp.make(bornAt, { disableChecks: true }), partial: null }
  }

  /** Lets pieces go that wait too long, and what there is too much of. */
  #expire(now: Timestamp): void {
    for (const sender of this.#senders.values()) {
      const { partial } = sender
      if (partial !== null && (now - partial.at > partialMs || this.#partialLength > partialMax)) this.#drop(sender)
    }
  }

  #drop(sender: Sender): void {
    this.#partialLength -= sender.partial?.length ?? 0
    sender.partial = null
  }
}
