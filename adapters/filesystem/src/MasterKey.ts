/** A master key in its own file, created at the first start. */
import { randomBytes } from "node:crypto"
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { Redacted } from "effect"
import { makeFolderSync, syncFolderSync } from "./Durable.ts"

export interface MasterKeyOptions {
  /** 32 bytes as Base64 or Base64url text, readable by its owner only. Created with its folder if it is missing. */
  readonly file: string
}

/**
 * Returns the key of the file, for `masterKeys` and for the sandbox's `key`.
 *
 * Keep a copy apart from the data. With both, anybody can read the secrets; without the key, nobody can.
 */
export const masterKey = ({ file }: MasterKeyOptions): Redacted.Redacted<Uint8Array> => {
  if (!existsSync(file)) make(file)
  const key = new Uint8Array(Buffer.from(readFileSync(file, "utf8").trim(), "base64url"))
  if (key.length !== 32) throw new Error(`${file} does not hold a master key: 32 bytes in Base64`)
  return Redacted.make(key)
}

/**
 * Creates the file under a temporary name first, so that a crash leaves no partial key. Key and name are durable before
 * anything is encrypted with the key; otherwise a power loss could make secrets unreadable.
 */
const make = (file: string): void => {
  makeFolderSync(dirname(file))
  const draft = `${file}.${process.pid}.tmp`
  writeFileSync(draft, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600, flush: true })
  chmodSync(draft, 0o600)
  renameSync(draft, file)
  syncFolderSync(dirname(file))
}
