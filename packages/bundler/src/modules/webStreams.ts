/** Converts between streams of Node and streams of the Web. */
import Base from "readable-stream/lib/stream.js"

type NodeReadable = InstanceType<typeof Base.Readable>
type NodeWritable = InstanceType<typeof Base.Writable>

export const toReadable = (source: ReadableStream<unknown>, options: object = {}): NodeReadable => {
  const reader = source.getReader()
  return new Base.Readable({
    ...options,
    read() {
      reader.read().then(
        ({ done, value }) => this.push(done ? null : value),
        (error: unknown) => this.destroy(toError(error))
      )
    },
    destroy: (error, done) => {
      reader.cancel(error).then(
        () => done(error),
        () => done(error)
      )
    }
  })
}

export const fromReadable = (source: NodeReadable): ReadableStream<unknown> => {
  const chunks = source[Symbol.asyncIterator]()
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await chunks.next()
      if (done === true) controller.close()
      else controller.enqueue(toPlainBytes(value))
    },
    cancel: (reason) => void source.destroy(reason === undefined ? undefined : toError(reason))
  })
}

/** Streams of the Web carry plain bytes; a buffer is a view of them. */
const toPlainBytes = (chunk: unknown): unknown =>
  chunk instanceof Uint8Array ? new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength) : chunk

export const toWritable = (target: WritableStream<unknown>, options: object = {}): NodeWritable => {
  const writer = target.getWriter()
  const settle = (work: Promise<unknown>, done: (error?: Error) => void): void =>
    void work.then(
      () => done(),
      (error: unknown) => done(toError(error))
    )
  return new Base.Writable({
    ...options,
    write: (chunk, _encoding, done) => settle(writer.write(toPlainBytes(chunk)), done),
    final: (done) => settle(writer.close(), done),
    destroy: (error, done) => (error === null ? done(null) : settle(writer.abort(error), () => done(error)))
  })
}

export const fromWritable = (target: NodeWritable): WritableStream<unknown> =>
  new WritableStream({
    write: (chunk) =>
      new Promise<void>((resolve, reject) => {
        target.write(chunk, (error) => (error === null || error === undefined ? resolve() : reject(error)))
      }),
    close: () => new Promise<void>((resolve) => void target.end(() => resolve())),
    abort: (reason) => void target.destroy(toError(reason))
  })

interface Pair {
  readonly readable: ReadableStream<unknown>
  readonly writable: WritableStream<unknown>
}

export const toDuplex = ({ readable, writable }: Pair, options: object = {}): InstanceType<typeof Base.Duplex> => {
  const reader = readable.getReader()
  const sink = toWritable(writable)
  return new Base.Duplex({
    ...options,
    read() {
      reader.read().then(
        ({ done, value }) => this.push(done ? null : value),
        (error: unknown) => this.destroy(toError(error))
      )
    },
    write: (chunk, _encoding, done) => void sink.write(chunk, done),
    final: (done) => void sink.end(() => done())
  })
}

export const fromDuplex = (duplex: InstanceType<typeof Base.Duplex>): Pair => ({
  readable: fromReadable(duplex),
  writable: fromWritable(duplex)
})

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))
