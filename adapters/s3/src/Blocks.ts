/** Splits streams into blocks: S3 requires the length of a block before its first byte. */
import { dispose } from "@weft/core/adapter"
import { Effect, type Scope, Stream } from "effect"

const MiB = 1024 ** 2

/** Minimum size in bytes of all blocks of an upload except the last, required by S3. */
export const blockBytesMin = 5 * MiB

/** Size of Weft's blocks in bytes. A writer holds at most two: one is filled while the other is sent. */
export const blockBytes = 8 * MiB

/** Initial buffer size in bytes; most streams are short. */
const firstBytes = 64 * 1024

/** Receives the blocks of one stream, in order. */
export interface BlockSink<A, E> {
  readonly take: (block: Uint8Array) => Effect.Effect<void, E>
  readonly finish: Effect.Effect<A, E>
}

/**
 * Passes a stream of at most `onlyBytes` to `only`. A longer one goes to the sink of `many`: a first block of `onlyBytes`,
 * then blocks of `blockBytes`.
 */
export const inBlocks = <E, A, E2>(
  bytes: Stream.Stream<Uint8Array, E>,
  onlyBytes: number,
  only: (block: Uint8Array) => Effect.Effect<A, E2>,
  many: Effect.Effect<BlockSink<A, E2>, E2, Scope.Scope>
): Effect.Effect<A, E | E2> =>
  Effect.scoped(
    Effect.gen(function* () {
      const state: State<A, E2> = { block: newBlock(onlyBytes), sink: null }
      const pass = Effect.fnUntraced(function* (chunk: Uint8Array) {
        for (let rest = state.block.fill(chunk); rest.length > 0; rest = state.block.fill(rest)) {
          state.sink ??= yield* many
          yield* state.sink.take(state.block.bytes())
          state.block = newBlock(blockBytes)
        }
        dispose(chunk)
      })
      yield* Stream.runForEachArray(bytes, (chunks) => Effect.forEach(chunks, pass, { discard: true }))

      const { block, sink } = state
      if (sink === null) return yield* only(block.bytes())
      yield* sink.take(block.bytes())
      return yield* sink.finish
    })
  )

interface State<A, E> {
  block: Block
  /** Null while the stream may still fit into one block. */
  sink: BlockSink<A, E> | null
}

interface Block {
  /** Copies as many bytes as fit, and returns the rest. */
  readonly fill: (chunk: Uint8Array) => Uint8Array
  readonly bytes: () => Uint8Array
}

const newBlock = (capacity: number): Block => {
  let buffer = Buffer.allocUnsafeSlow(Math.min(firstBytes, capacity))
  let used = 0
  const ensureCapacity = (needed: number) => {
    if (needed <= buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.min(capacity, Math.max(needed, buffer.length * 4)))
    larger.set(buffer.subarray(0, used))
    release(buffer)
    buffer = larger
  }
  return {
    fill: (chunk) => {
      const piece = chunk.subarray(0, capacity - used)
      ensureCapacity(used + piece.length)
      buffer.set(piece, used)
      used += piece.length
      return chunk.subarray(piece.length)
    },
    bytes: () => buffer.subarray(0, used)
  }
}

/**
 * Frees the memory of a block at once; the garbage collector would do it much later. Call it after S3 has confirmed the
 * block, when no byte of it can still be sent.
 */
export const release = ({ buffer }: Uint8Array): void => {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0)
}
