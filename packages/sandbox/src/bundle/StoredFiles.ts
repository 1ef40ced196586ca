/** Files of zips where they are stored: what they are is read once, their bytes when somebody wants them. */
import { Readable } from "node:stream"
import { type BundleFile, type StoredZip, StoreUnavailable } from "@weft/core"
import { Effect, Stream } from "effect"
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from "yauzl"

/** Zips whose directories are kept; the one that was asked for the longest ago goes first. */
const keptMax = 50
/** Read at once, in bytes: the directory is read entry by entry. */
const blockBytes = 64 * 1024

interface Directory {
  readonly zip: ZipFile
  readonly entries: ReadonlyMap<string, Entry>
}

export class StoredFiles {
  /** By where they are stored. */
  readonly #kept = new Map<string, Promise<Directory>>()

  /** Null where the zip has no file of this name. */
  open(stored: StoredZip, name: string): Effect.Effect<BundleFile | null, StoreUnavailable> {
    return Effect.tryPromise({ try: () => this.#directory(stored), catch: unavailable(stored) }).pipe(
      Effect.map(({ zip, entries }) => {
        const entry = entries.get(name)
        return entry === undefined ? null : fileOf(stored, zip, entry)
      })
    )
  }

  #directory(stored: StoredZip): Promise<Directory> {
    const { path } = stored
    const directory = this.#kept.get(path) ?? readDirectory(stored)
    this.#kept.delete(path)
    this.#kept.set(path, directory)
    directory.catch(() => {
      if (this.#kept.get(path) === directory) this.#kept.delete(path)
    })
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > keptMax && oldest !== undefined) this.#kept.delete(oldest)
    return directory
  }
}

const unavailable = (stored: StoredZip) => (cause: unknown) =>
  new StoreUnavailable({ operation: `file of build ${stored.build_id}`, cause })

const fileOf = (stored: StoredZip, zip: ZipFile, entry: Entry): BundleFile => ({
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

/** The zip was checked when it came in, so that its names are fair. Folders are no files. */
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
  /** What was read last, from `start` on: what is asked for next is mostly in it. */
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
    this.#holding(position, length).then(
      ({ start, bytes }) => {
        bytes.copy(buffer, offset, position - start, position - start + length)
        callback(null)
      },
      (error: Error) => callback(error)
    )
  }

  async #holding(position: number, length: number): Promise<{ readonly start: number; readonly bytes: Buffer }> {
    const kept = this.#block
    if (position >= kept.start && position + length <= kept.start + kept.bytes.length) return kept
    const end = Math.min(this.#stored.size, position + Math.max(length, blockBytes))
    const chunks: Array<Uint8Array> = []
    for await (const chunk of this.#bytes(position, end)) chunks.push(chunk)
    const block = { start: position, bytes: Buffer.concat(chunks) }
    if (block.bytes.length < length) throw new Error("the zip is shorter than it was")
    this.#block = block
    return block
  }

  #bytes(start: number, end: number): AsyncIterable<Uint8Array> {
    return Stream.toAsyncIterable(Stream.unwrap(this.#stored.read({ start, end })))
  }
}
