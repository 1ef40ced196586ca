/** Whether what was built is still what the sources say. */
import { readFileSync, renameSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** What a program was built from. */
export interface Record {
  /** Where the program is. */
  readonly place: string
  /** What would build it otherwise, in one text. */
  readonly terms: string
  /** Its sources, from the root, with their sizes and times of change: one text for all of them. */
  readonly inputs: ReadonlyArray<string>
  readonly stamps: string
}

/** The record in `file`, if nothing changed since it was written. */
export const freshRecord = (root: string, file: string, terms: string): Record | undefined => {
  try {
    const record: Record = JSON.parse(readFileSync(file, "utf8"))
    const isFresh = record.terms === terms && stampsOf(root, record.inputs) === record.stamps
    return isFresh && statSync(record.place).isDirectory() ? record : undefined
  } catch {
    // There is none, or it is of another form, or a source is gone.
    return undefined
  }
}

/** Atomic: others read the old one or the new one. */
export const writeRecord = (file: string, record: Record): void => {
  const draft = `${file}.${process.pid}.tmp`
  writeFileSync(draft, JSON.stringify(record))
  renameSync(draft, file)
}

/** Whether one of the sources changed after `time`, in milliseconds since 1970. */
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
