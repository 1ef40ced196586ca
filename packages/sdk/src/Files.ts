/** What is stored, as a run sees it. Types only. */

/** Each method reads from the beginning. */
export interface Content {
  readonly bytes: () => Promise<Uint8Array<ArrayBuffer>>
  /** As UTF-8. */
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
  /** Null when no run stored it. */
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
  /** By the ending of the name. */
  readonly content_type: string
  readonly etag: string
}

export type FileData = string | ArrayBuffer | ArrayBufferView<ArrayBuffer> | Blob | ReadableStream<Uint8Array>

/** The files of the environment. Paths are segments separated by `/`, at most 1024 bytes. */
export interface Files {
  /** Stores a file of at most 300 MB, in place of the one at the path if there is one. */
  put(path: string, data: FileData, options?: { readonly content_type?: string }): Promise<StoredFile>
  /** Null when there is none. What it gives rejects with `NotFound` when the file is replaced before it is read. */
  get(path: string): Promise<(StoredFile & Content) | null>
  /** All files whose paths begin so, by path; or `limit` of them, after `offset`. */
  list(
    prefix?: string,
    options?: { readonly limit?: number; readonly offset?: number }
  ): Promise<ReadonlyArray<StoredFile>>
  /** Whether there was one. */
  delete(path: string): Promise<boolean>
  /** A link by which anyone can download the file, for an hour unless `expires_in` says for how many seconds. */
  url(path: string, options?: { readonly expires_in?: number }): Promise<string>
}
