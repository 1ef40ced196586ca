/** A master key in a file of its own, made at the first start. */
import { randomBytes } from "node:crypto"
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { Redacted } from "effect"
import { makeFolderSync, syncFolderSync } from "./Durable.ts"

export interface MasterKeyOptions {
  /** Readable by its owner only; 32 bytes as Base64 or Base64url text. Made with its folder where it is missing. */
  readonly file: string
}

/**
 * The key in the file. For `masterKeys`, and for the sandbox's `key`.
 *
 * Keep a copy apart from the data: whoever has both can read its secrets, and without the key nobody can.
 */
export const masterKey = ({ file }: MasterKeyOptions): Redacted.Redacted<Uint8Array> => {
  if (!existsSync(file)) make(file)
  const key = new Uint8Array(Buffer.from(readFileSync(file, "utf8").trim(), "base64url"))
  if (key.length !== 32) throw new Error(`${file} does not hold a master key: 32 bytes in Base64`)
  return Redacted.make(key)
}

/**
 * Under another name first, so that a crash in the middle leaves no half of a key. Durable with its name before anything
 * is sealed with it: what a loss of power leaves sealed would be lost without it.
 */
const make = (file: string): void => {
  makeFolderSync(dirname(file))
  const draft = `${file}.${process.pid}.tmp`
  writeFileSync(draft, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600, flush: true })
  chmodSync(draft, 0o600)
  renameSync(draft, file)
  syncFolderSync(dirname(file))
}
