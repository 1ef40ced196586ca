/**
 * Length-framed binary messages between the supervisor and a runner.
 *
 * A frame is a u32 length (little endian, of what follows), a u8 kind and fields in a fixed order. Text is UTF-8
 * behind its own u32 length. Nothing here knows what the kinds mean, and nothing here trusts the other side: a
 * `Cursor` never reads past its frame and a `FrameSplitter` never keeps more than one frame of the given size.
 */

/** The other side does not speak the protocol, by mistake or on purpose. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError"
}

const slabBytes = 128 * 1024
/** Text shorter than this is written without counting its bytes first. */
const uncountedLength = 8 * 1024

/** Writes frames into shared slabs, so that everything of one turn leaves in one system call. */
export class FrameWriter {
  #slab = Buffer.allocUnsafeSlow(slabBytes)
  #start = 0
  #end = 0
  #frame = 0
  #full: Array<Buffer> = []

  /** Begins a frame; every field follows until `end`. */
  begin(kind: number): void {
    this.#frame = this.#end
    this.#reserve(5)
    this.#end = this.#slab.writeUInt8(kind, this.#end + 4)
  }

  u8(value: number): void {
    this.#reserve(1)
    this.#end = this.#slab.writeUInt8(value, this.#end)
  }

  u32(value: number): void {
    this.#reserve(4)
    this.#end = this.#slab.writeUInt32LE(value, this.#end)
  }

  f64(value: number): void {
    this.#reserve(8)
    this.#end = this.#slab.writeDoubleLE(value, this.#end)
  }

  text(value: string): void {
    const bytesMax = value.length < uncountedLength ? value.length * 3 : Buffer.byteLength(value)
    this.#reserve(4 + bytesMax)
    const written = this.#slab.write(value, this.#end + 4, bytesMax, "utf8")
    this.#slab.writeUInt32LE(written, this.#end)
    this.#end += 4 + written
  }

  bytes(value: Uint8Array): void {
    this.#reserve(4 + value.length)
    this.#slab.writeUInt32LE(value.length, this.#end)
    this.#slab.set(value, this.#end + 4)
    this.#end += 4 + value.length
  }

  end(): void {
    this.#slab.writeUInt32LE(this.#end - this.#frame - 4, this.#frame)
  }

  /** What was written since the last `take`, in bytes. */
  get size(): number {
    return this.#full.reduce((sum, { length }) => sum + length, this.#end - this.#start)
  }

  /** Hands over everything written since the last call. The buffers are never written again. */
  take(): ReadonlyArray<Buffer> {
    const taken = this.#full
    this.#full = []
    if (this.#end > this.#start) {
      taken.push(this.#slab.subarray(this.#start, this.#end))
      this.#start = this.#end
    }
    return taken
  }

  /** Makes room for `bytes` more, moving the frame in progress to a new slab when this one is full. */
  #reserve(bytes: number): void {
    if (this.#end + bytes <= this.#slab.length) return
    if (this.#frame > this.#start) this.#full.push(this.#slab.subarray(this.#start, this.#frame))
    const unfinished = this.#slab.subarray(this.#frame, this.#end)
    const slab = Buffer.allocUnsafeSlow(Math.max(slabBytes, unfinished.length * 2 + bytes))
    slab.set(unfinished)
    this.#slab = slab
    this.#start = 0
    this.#frame = 0
    this.#end = unfinished.length
  }
}

/** Reads the fields of one frame in order. Throws `ProtocolError` at any disagreement. */
export class Cursor {
  readonly #frame: Buffer
  #at = 1

  constructor(frame: Buffer) {
    this.#frame = frame
  }

  get kind(): number {
    return this.#frame[0] ?? 0
  }

  u8(): number {
    return this.#frame.readUInt8(this.#take(1))
  }

  u32(): number {
    return this.#frame.readUInt32LE(this.#take(4))
  }

  /** A finite number, at least 0. */
  f64(): number {
    const value = this.#frame.readDoubleLE(this.#take(8))
    if (!(value >= 0 && value < Number.POSITIVE_INFINITY)) throw new ProtocolError("a number is out of range")
    return value
  }

  text(): string {
    const length = this.u32()
    const from = this.#take(length)
    return this.#frame.toString("utf8", from, from + length)
  }

  /** A copy: the frame's memory belongs to the socket. */
  bytes(): Uint8Array<ArrayBuffer> {
    const length = this.u32()
    const from = this.#take(length)
    const copy = new Uint8Array(length)
    copy.set(this.#frame.subarray(from, from + length))
    return copy
  }

  /** Every byte must have been read. */
  end(): void {
    if (this.#at !== this.#frame.length) throw new ProtocolError("a frame is longer than its fields")
  }

  #take(bytes: number): number {
    const from = this.#at
    if (from + bytes > this.#frame.length) throw new ProtocolError("a frame is shorter than its fields")
    this.#at = from + bytes
    return from
  }
}

/** Cuts a byte stream into frames. */
export class FrameSplitter {
  readonly #frameBytesMax: number
  #partial: Buffer | undefined
  #filled = 0
  #header: Buffer = Buffer.alloc(0)

  constructor(frameBytesMax: number) {
    this.#frameBytesMax = frameBytesMax
  }

  /** Calls `onFrame` for every frame that `chunk` completes. A frame's memory is valid only during the call. */
  push(chunk: Buffer, onFrame: (cursor: Cursor) => void): void {
    let at = 0
    if (this.#partial !== undefined) {
      at = this.#fill(this.#partial, chunk, 0)
      if (this.#filled < this.#partial.length) return
      const frame = this.#partial
      this.#partial = undefined
      onFrame(new Cursor(frame))
    }
    let rest = at === 0 ? chunk : chunk.subarray(at)
    if (this.#header.length > 0) {
      rest = Buffer.concat([this.#header, rest])
      this.#header = Buffer.alloc(0)
    }
    at = 0
    while (rest.length - at >= 4) {
      const length = rest.readUInt32LE(at)
      if (length < 1 || length > this.#frameBytesMax) throw new ProtocolError("a frame's length is out of range")
      if (rest.length - at - 4 < length) {
        this.#partial = Buffer.allocUnsafeSlow(length)
        this.#filled = 0
        this.#fill(this.#partial, rest, at + 4)
        return
      }
      onFrame(new Cursor(rest.subarray(at + 4, at + 4 + length)))
      at += 4 + length
    }
    if (at < rest.length) this.#header = Buffer.from(rest.subarray(at))
  }

  /** Copies into the frame in progress; returns where in `chunk` it stopped. */
  #fill(partial: Buffer, chunk: Buffer, from: number): number {
    const copied = chunk.copy(partial, this.#filled, from)
    this.#filled += copied
    return from + copied
  }
}
