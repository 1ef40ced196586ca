/** Secrets that the server makes for itself at its first start and keeps in the data dir, mode 0600. */
import { randomBytes } from "node:crypto"
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"

export interface Kept<A> {
  readonly value: A
  /** Made just now: the one time that it may be shown. */
  readonly made: boolean
}

/** Makes the data dir, readable by its owner only. */
export const openDataDir = (dir: string): void => {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
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
  return { value, made: true }
}

export const randomToken = (bytes: number): string => randomBytes(bytes).toString("base64url")
