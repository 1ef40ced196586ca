/** The part of yauzl 3 that is used here; the package has no types of its own. */
declare module "yauzl" {
  import type { Readable } from "node:stream"

  export interface Entry {
    readonly fileName: string
    readonly uncompressedSize: number
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
  }

  export const fromBufferPromise: (buffer: Buffer, options?: Options) => Promise<ZipFile>
}
