/** What decides whether a file may be stored. Pure, so that no store has rules of its own. */
import type { File } from "./File.ts"
import type { Stored, StoreTerms } from "./FileStore.ts"

/** What a store knows in the transaction that stores a file. */
export interface StoreFacts {
  /** Whether the key of the bytes is noted as loose, and not taken. */
  readonly isLoose: boolean
  /** The file that has the path. */
  readonly old: File | null
  /** Bytes of the organization's files and parts. */
  readonly used: number
  /** Bytes of the parts that the file is made of, which count until then. */
  readonly parts: number
}

/** Why the file may not be stored; null when it may. */
export const refusalOf = (
  file: File,
  terms: StoreTerms,
  { isLoose, old, used, parts }: StoreFacts
): Exclude<Stored, { readonly _tag: "Stored" }> | null => {
  if (!isLoose) return { _tag: "BytesGone" }
  if (old === null && !terms.mayCreate) return { _tag: "MayNotCreate" }
  if (old !== null && !terms.mayReplace) return { _tag: "MayNotReplace" }
  return isOver(terms.storage_bytes, used - parts - (old?.size ?? 0) + file.size) ? { _tag: "OverStorage" } : null
}

/** Whether `bytes` are more than a limit of -1 (none) or of so many allows. */
export const isOver = (limit: number, bytes: number): boolean => limit !== -1 && bytes > limit

/** The file as it is stored in the place of `old`, if there was one. */
export const succeeding = (file: File, old: File | null): File =>
  old === null
    ? file
    : {
        ...file,
        file_id: old.file_id,
        created_by_run_id: old.created_by_run_id,
        created_at: old.created_at
      }
