/** Streams in blocks: S3 wants to know how long a block is before it takes the first byte of it. */
import { dispose } from "@weft/core"
import { Effect, type Scope, Stream } from "effect"

const MiB = 1024 ** 2

/** All blocks of an upload but the last have at least so many bytes: a rule of S3. */
export const blockBytesMin = 5 * MiB

/** Of a block of ours. A writer holds two at most: one that fills while the other is on its way. */
export const blockBytes = 8 * MiB

/** Most streams are short. */
const firstBytes = 64 * 1024

/** Takes the blocks of one stream, one after the other. */
export interface BlockSink<A, E> {
  readonly take: (block: Uint8Array) => Effect.Effect<void, E>
  readonly finish: Effect.Effect<A, E>
}

/**
 * Gives a stream of at most `onlyBytes` to `only`, and a longer one to the sink of `many`, in blocks of `blockBytes`
 * after a first one of `onlyBytes`.
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
  /** Null as long as all may fit into one block. */
  sink: BlockSink<A, E> | null
}

interface Block {
  /** Copies what fits; gives back the rest. */
  readonly fill: (chunk: Uint8Array) => Uint8Array
  readonly bytes: () => Uint8Array
}

const newBlock = (capacity: number): Block => {
  let buffer = Buffer.allocUnsafeSlow(Math.min(firstBytes, capacity))
  let used = 0
  const room = (needed: number) => {
    if (needed <= buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.min(capacity, Math.max(needed, buffer.length * 4)))
    larger.set(buffer.subarray(0, used))
    release(buffer)
    buffer = larger
  }
  return {
    fill: (chunk) => {
      const piece = chunk.subarray(0, capacity - used)
      room(used + piece.length)
      buffer.set(piece, used)
      used += piece.length
      return chunk.subarray(piece.length)
    },
    bytes: () => buffer.subarray(0, used)
  }
}

/**
 * Gives the memory of a block back at once, which the garbage collector would do much later. To be called when S3 has
 * said that it has the block: then no byte of it is still to be sent.
 */
export const release = ({ buffer }: Uint8Array): void => {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0)
}
