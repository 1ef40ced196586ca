/**
 * Length-framed binary messages between the supervisor and a runner.
 *
 * A frame is a u32 length of the rest (little endian), a u8 kind, and fields in a fixed order. Text is UTF-8 after its
 * own u32 length. This module does not know the meaning of the kinds, and it does not trust the other side. A `Cursor`
 * never reads past its frame, and a `FrameSplitter` never buffers more than one frame of the given size.
 */

/** The other side violated the protocol, by mistake or on purpose. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError"
}

const slabBytes = 128 * 1024
/** Text shorter than this is written without first counting its bytes. */
const uncountedLength = 8 * 1024

/** Writes frames into shared slabs, so that one system call sends all frames of a turn of the event loop. */
export class FrameWriter {
  #slab = Buffer.allocUnsafeSlow(slabBytes)
  #start = 0
  #end = 0
  #frame = 0
  #full: Array<Buffer> = []

  /** Begins a frame. Its fields follow until `end`. */
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

  /** Bytes written since the last `take`. */
  get size(): number {
    return this.#full.reduce((sum, { length }) => sum + length, this.#end - this.#start)
  }

  /** Returns everything written since the last call. The buffers are never written again. */
  take(): ReadonlyArray<Buffer> {
    const taken = this.#full
    this.#full = []
    if (this.#end > this.#start) {
      taken.push(this.#slab.subarray(this.#start, this.#end))
      this.#start = this.#end
    }
    return taken
  }

  /** Reserves `bytes` more; moves the current frame to a new slab if this one is full. */
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

/** Reads the fields of one frame in order. Throws `ProtocolError` if they do not match the frame. */
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

  /** Reads a finite number, at least 0. */
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

  /** Reads bytes into a copy, because the frame's memory belongs to the socket. */
  bytes(): Uint8Array<ArrayBuffer> {
    const length = this.u32()
    const from = this.#take(length)
    const copy = new Uint8Array(length)
    copy.set(this.#frame.subarray(from, from + length))
    return copy
  }

  /** Throws `ProtocolError` if bytes are left. */
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

/** Splits a byte stream into frames. */
export class FrameSplitter {
  readonly #frameBytesMax: number
  #partial: Buffer | undefined
  #filled = 0
  #header: Buffer = Buffer.alloc(0)

  constructor(frameBytesMax: number) {
    this.#frameBytesMax = frameBytesMax
  }

  /**
   * Calls `onFrame` for every frame that `chunk` completes. The frame's memory is valid only during the call. After
   * `framesMax` frames it returns the rest of the chunk, to be pushed before any other chunk.
   */
  push(chunk: Buffer, onFrame: (cursor: Cursor) => void, framesMax = Number.POSITIVE_INFINITY): Buffer | undefined {
    let at = 0
    let frames = 0
    if (this.#partial !== undefined) {
      at = this.#fill(this.#partial, chunk, 0)
      if (this.#filled < this.#partial.length) return undefined
      const frame = this.#partial
      this.#partial = undefined
      onFrame(new Cursor(frame))
      frames++
    }
    let rest = at === 0 ? chunk : chunk.subarray(at)
    if (this.#header.length > 0) {
      rest = Buffer.concat([this.#header, rest])
      this.#header = Buffer.alloc(0)
    }
    at = 0
    while (rest.length - at >= 4) {
      if (frames++ >= framesMax) return rest.subarray(at)
      const length = rest.readUInt32LE(at)
      if (length < 1 || length > this.#frameBytesMax) throw new ProtocolError("a frame's length is out of range")
      if (rest.length - at - 4 < length) {
        this.#partial = Buffer.allocUnsafeSlow(length)
        this.#filled = 0
        this.#fill(this.#partial, rest, at + 4)
        return undefined
      }
      onFrame(new Cursor(rest.subarray(at + 4, at + 4 + length)))
      at += 4 + length
    }
    if (at < rest.length) this.#header = Buffer.from(rest.subarray(at))
    return undefined
  }

  /** Copies into the current frame; returns the position in `chunk` after the copied bytes. */
  #fill(partial: Buffer, chunk: Buffer, from: number): number {
    const copied = chunk.copy(partial, this.#filled, from)
    this.#filled += copied
    return from + copied
  }
}
