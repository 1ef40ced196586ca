/** Reads files of stored zips: a zip's directory is read once, and the bytes of a file on demand. */
import { Readable } from "node:stream"
import { StoreUnavailable } from "@weft/core"
import type { BundleFile, StoredZip } from "@weft/core/adapter"
import { Effect, Stream } from "effect"
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from "yauzl"

/** Maximum cached directories of zips; the least recently used one is evicted. */
const directoriesMax = 50
/** Size of a read, in bytes: the directory is parsed entry by entry, so small reads are buffered. */
const blockBytes = 64 * 1024

interface Directory {
  readonly zip: ZipFile
  readonly entries: ReadonlyMap<string, Entry>
}

export class StoredFiles {
  /** By storage path. */
  readonly #directories = new Map<string, Promise<Directory>>()

  /** Opens a file; null if the zip has no file of this name. */
  open(stored: StoredZip, name: string): Effect.Effect<BundleFile | null, StoreUnavailable> {
    return Effect.tryPromise({ try: () => this.#directory(stored), catch: unavailable(stored) }).pipe(
      Effect.map(({ zip, entries }) => {
        const entry = entries.get(name)
        return entry === undefined ? null : toBundleFile(stored, zip, entry)
      })
    )
  }

  #directory(stored: StoredZip): Promise<Directory> {
    const { path } = stored
    const directory = this.#directories.get(path) ?? readDirectory(stored)
    this.#directories.delete(path)
    this.#directories.set(path, directory)
    directory.catch(() => {
      if (this.#directories.get(path) === directory) this.#directories.delete(path)
    })
    const [oldest] = this.#directories.keys()
    if (this.#directories.size > directoriesMax && oldest !== undefined) this.#directories.delete(oldest)
    return directory
  }
}

const unavailable = (stored: StoredZip) => (cause: unknown) =>
  new StoreUnavailable({ operation: `file of build ${stored.build_id}`, cause })

const toBundleFile = (stored: StoredZip, zip: ZipFile, entry: Entry): BundleFile => ({
  size: entry.uncompressedSize,
  crc32: entry.crc32,
  bytes: Stream.unwrap(
    Effect.map(
      Effect.acquireRelease(
        Effect.tryPromise({ try: () => zip.openReadStreamPromise(entry), catch: unavailable(stored) }),
        (opened) => Effect.sync(() => void opened.destroy())
      ),
      (opened) => Stream.fromAsyncIterable<Uint8Array, StoreUnavailable>(opened, unavailable(stored))
    )
  )
})

/** Reads the directory of a zip, without folders. The names were validated at the upload. */
const readDirectory = async (stored: StoredZip): Promise<Directory> => {
  const zip = await fromRandomAccessReaderPromise(new StoredReader(stored), stored.size, {
    decodeStrings: true,
    strictFileNames: true,
    validateEntrySizes: true,
    autoClose: false
  })
  const entries = new Map<string, Entry>()
  for await (const entry of zip.eachEntry()) {
    if (!entry.fileName.endsWith("/")) entries.set(entry.fileName, entry)
  }
  return { zip, entries }
}

class StoredReader extends RandomAccessReader {
  readonly #stored: StoredZip
  /** The last block that was read, from `start`: it mostly contains the next read. */
  #block: { readonly start: number; readonly bytes: Buffer } = { start: 0, bytes: Buffer.alloc(0) }

  constructor(stored: StoredZip) {
    super()
    this.#stored = stored
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(this.#bytes(start, end), { objectMode: false })
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void
  ): void {
    this.#readBlock(position, length).then(
      ({ start, bytes }) => {
        bytes.copy(buffer, offset, position - start, position - start + length)
        callback(null)
      },
      (error: Error) => callback(error)
    )
  }

  async #readBlock(position: number, length: number): Promise<{ readonly start: number; readonly bytes: Buffer }> {
    const last = this.#block
    if (position >= last.start && position + length <= last.start + last.bytes.length) return last
    const end = Math.min(this.#stored.size, position + Math.max(length, blockBytes))
    const chunks: Array<Uint8Array> = []
    for await (const chunk of this.#bytes(position, end)) chunks.push(chunk)
    const block = { start: position, bytes: Buffer.concat(chunks) }
    if (block.bytes.length < length) throw new Error(`the zip has fewer than its ${this.#stored.size} bytes`)
    this.#block = block
    return block
  }

  #bytes(start: number, end: number): AsyncIterable<Uint8Array> {
    return Stream.toAsyncIterable(Stream.unwrap(this.#stored.read({ start, end })))
  }
}
