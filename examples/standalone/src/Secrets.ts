/** Secrets that the server makes for itself at its first start and keeps in the data dir, mode 0600. */
import { randomBytes } from "node:crypto"
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync
} from "node:fs"
import { dirname, join, resolve } from "node:path"
import { SettingError } from "./Settings.ts"

export interface Kept<A> {
  readonly value: A
  /** Made just now: the one time that it may be shown. */
  readonly made: boolean
}

/** Makes the data dir, readable by its owner only. Its name, and those of folders that had to be made, are durable. */
export const openDataDir = (dir: string): void => {
  const folder = resolve(dir)
  const firstMade = mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (firstMade === undefined) return
  for (let made = folder; made.length >= firstMade.length; made = dirname(made)) syncFolder(dirname(made))
}

/** What `use` gives; where the system does not let it, as on a disk that is full or cannot be written, a wrong setting. */
export const inDataDir = <A>(use: () => A): A => {
  try {
    return use()
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error
    throw new SettingError("WEFT_DATA_DIR", `must be a folder that this user can write: ${error.message}`)
  }
}

const syncFolder = (folder: string): void => {
  const descriptor = openSync(folder, "r")
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** The secret in `dir/name`, made by `make` when there is none. Atomic: a crash leaves none or a whole one. */
export const keepSecret = (dir: string, name: string, make: () => string): Kept<string> => {
  const file = join(dir, name)
  if (existsSync(file)) return { value: readFileSync(file, "utf8").trim(), made: false }
  const value = make()
  const draft = `${file}.${process.pid}.tmp`
  writeFileSync(draft, `${value}\n`, { mode: 0o600, flush: true })
  chmodSync(draft, 0o600)
  renameSync(draft, file)
  syncFolder(dir)
  return { value, made: true }
}

export const randomToken = (bytes: number): string => randomBytes(bytes).toString("base64url")
