/** Rules for storing a file, shared by all stores. Pure. */
import type { File } from "./File.ts"
import type { Stored, StoreTerms } from "./FileStore.ts"

/** State that a store reads in the transaction that stores a file. */
export interface StoreFacts {
  /** True if the key of the bytes is reserved and not claimed. */
  readonly isReserved: boolean
  /** Existing file at the path. */
  readonly old: File | null
  /** Bytes of the organization's files and parts. */
  readonly used: number
  /** Bytes of the parts that the file consists of, which `used` includes. */
  readonly parts: number
}

/** Returns the reason why the file may not be stored, or null. */
export const checkStore = (
  file: File,
  terms: StoreTerms,
  { isReserved, old, used, parts }: StoreFacts
): Exclude<Stored, { readonly _tag: "Stored" }> | null => {
  if (!isReserved) return { _tag: "BytesGone" }
  if (old === null && !terms.mayCreate) return { _tag: "MayNotCreate" }
  if (old !== null && !terms.mayReplace) return { _tag: "MayNotReplace" }
  return exceedsLimit(terms.storage_bytes, used - parts - (old?.size ?? 0) + file.size) ? { _tag: "OverStorage" } : null
}

/** True if `bytes` exceeds the limit, which is -1 for unlimited. */
export const exceedsLimit = (limit: number, bytes: number): boolean => limit !== -1 && bytes > limit

/** Returns the file with the id and the creation fields of `old`, which it replaces, if that exists. */
export const toReplacement = (file: File, old: File | null): File =>
  old === null
    ? file
    : {
        ...file,
        file_id: old.file_id,
        created_by_run_id: old.created_by_run_id,
        created_at: old.created_at
      }
