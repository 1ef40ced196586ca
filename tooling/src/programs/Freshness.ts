/** Records of builds, and the check whether a build is still up to date. */
import { readFileSync, renameSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** The inputs and the location of a build. */
export interface Record {
  /** Folder of the program. */
  readonly place: string
  /** Versions of the build process; a change makes the record stale. */
  readonly terms: string
  /** Paths of the sources from the root. */
  readonly inputs: ReadonlyArray<string>
  /** Modification times and sizes of the inputs, a line each. */
  readonly stamps: string
}

/** Reads the record in `file`. Returns undefined if any input changed since it was written. */
export const freshRecord = (root: string, file: string, terms: string): Record | undefined => {
  try {
    const record: Record = JSON.parse(readFileSync(file, "utf8"))
    const isFresh = record.terms === terms && stampsOf(root, record.inputs) === record.stamps
    return isFresh && statSync(record.place).isDirectory() ? record : undefined
  } catch {
    // The file does not exist or cannot be parsed, or a source was deleted.
    return undefined
  }
}

/** Writes atomically: concurrent readers see the old record or the new one. */
export const writeRecord = (file: string, record: Record): void => {
  const draft = `${file}.${process.pid}.tmp`
  writeFileSync(draft, JSON.stringify(record))
  renameSync(draft, file)
}

/** True if any input changed at or after `time`, in milliseconds since 1970. */
export const changedSince = (root: string, inputs: ReadonlyArray<string>, time: number): boolean =>
  inputs.some((input) => statSync(join(root, input)).mtimeMs >= time)

export const stampsOf = (root: string, inputs: ReadonlyArray<string>): string => {
  let stamps = ""
  for (const input of inputs) {
    const { mtimeMs, size } = statSync(join(root, input))
    stamps += `${mtimeMs} ${size}\n`
  }
  return stamps
}
