/** Stored files and assets in a run. Types only. */

/** Content of a file or an asset. Each method reads from the beginning. */
export interface Content {
  readonly bytes: () => Promise<Uint8Array<ArrayBuffer>>
  /** Decodes it as UTF-8. */
  readonly text: () => Promise<string>
  readonly json: () => Promise<unknown>
  readonly stream: () => ReadableStream<Uint8Array<ArrayBuffer>>
}

export interface StoredFile {
  readonly file_id: string
  readonly path: string
  /** In bytes. */
  readonly size: number
  readonly etag: string
  readonly content_type: string
  /** Null if no run created it. */
  readonly created_by_run_id: string | null
  readonly updated_by_run_id: string | null
  /** ISO 8601, UTC. */
  readonly created_at: string
  readonly updated_at: string
}

/** A file of the build's zip. */
export interface Asset {
  readonly name: string
  /** In bytes. */
  readonly size: number
  /** Derived from the extension of the name. */
  readonly content_type: string
  readonly etag: string
}

export type FileData = string | ArrayBuffer | ArrayBufferView<ArrayBuffer> | Blob | ReadableStream<Uint8Array>

/** The files of the environment. Paths are segments separated by `/`, at most 1024 bytes. */
export interface Files {
  /** Stores a file of at most 300 MB; replaces an existing one at the path. */
  put(path: string, data: FileData, options?: { readonly content_type?: string }): Promise<StoredFile>
  /** Returns a file, or null. Its methods reject with `NotFound` if the file is replaced before it is read. */
  get(path: string): Promise<(StoredFile & Content) | null>
  /** Returns the files whose paths begin with `prefix`, by path; with `limit`, at most that many after `offset`. */
  list(
    prefix?: string,
    options?: { readonly limit?: number; readonly offset?: number }
  ): Promise<ReadonlyArray<StoredFile>>
  /** Deletes a file; true if it existed. */
  delete(path: string): Promise<boolean>
  /** Returns a public link to download the file. It is valid for `expires_in` seconds, one hour by default. */
  url(path: string, options?: { readonly expires_in?: number }): Promise<string>
}
