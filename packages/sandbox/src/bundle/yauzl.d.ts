/** Types of the part of yauzl 3 that this package uses; yauzl has no types of its own. */
declare module "yauzl" {
  import type { Readable } from "node:stream"

  export interface Entry {
    readonly fileName: string
    readonly uncompressedSize: number
    readonly crc32: number
    readonly externalFileAttributes: number
    isEncrypted(): boolean
    canDecodeFileData(): boolean
  }

  export interface ZipFile {
    readonly entryCount: number
    eachEntry(): AsyncIterableIterator<Entry>
    openReadStreamPromise(entry: Entry): Promise<Readable>
  }

  export interface Options {
    readonly decodeStrings?: boolean
    readonly validateEntrySizes?: boolean
    readonly strictFileNames?: boolean
    readonly autoClose?: boolean
  }

  /** A source of the zip's bytes. */
  export abstract class RandomAccessReader {
    abstract _readStreamForRange(start: number, end: number): Readable
    read(
      buffer: Buffer,
      offset: number,
      length: number,
      position: number,
      callback: (error: Error | null) => void
    ): void
  }

  export const fromRandomAccessReaderPromise: (
    reader: RandomAccessReader,
    totalSize: number,
    options?: Options
  ) => Promise<ZipFile>
  export const fromBufferPromise: (buffer: Buffer, options?: Options) => Promise<ZipFile>
}
