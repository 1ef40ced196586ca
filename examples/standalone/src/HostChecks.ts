/** Checks of `GET /admin/diagnosis` about the machine and the settings of this server. */
import { statfs } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import type { Check } from "@weft/core"
import { Redacted } from "effect"
import { findWarnings } from "./Backend.ts"
import type { Settings } from "./Settings.ts"

const MiB = 1024 * 1024
/** Free space below which writes may soon fail, in bytes. */
const freeBytesLow = 1024 * MiB
/** Free space below which the disk counts as full, in bytes. */
const freeBytesMin = 100 * MiB
/** Length and different characters of a token that nobody guesses. Shorter ones are allowed. */
const tokenLengthMin = 32
const tokenCharactersMin = 8

export const readHostChecks = async (settings: Settings, adminToken: Redacted.Redacted): Promise<Array<Check>> => [
  ...(await Promise.all(dataFolders(settings).map(checkDisk))),
  checkMasterKey(settings),
  checkAdminToken(Redacted.value(adminToken)),
  checkPublicUrl(settings),
  ...checkNodes(settings)
]

const passed = (name: string, seen: string): Check => ({ name, status: "ok", seen, remedy: null })
const warning = (name: string, seen: string, remedy: string): Check => ({ name, status: "warning", seen, remedy })

/** Returns the folders on this machine that the server writes, each once. */
const dataFolders = ({ dataDir, database, storage }: Settings): ReadonlyArray<string> => {
  const file = database.kind === "sqlite" && database.file !== null ? [dirname(database.file)] : []
  const blobs = storage.kind === "file" && storage.dir !== null ? [storage.dir] : []
  return [...new Set([dataDir, ...file, ...blobs].map((folder) => resolve(folder)))]
}

const checkDisk = async (folder: string): Promise<Check> => {
  const { bavail, blocks, bsize } = await statfs(folder)
  return judgeDisk(folder, bavail * bsize, blocks * bsize)
}

/** Judges free and total space of the disk of a folder, in bytes. */
export const judgeDisk = (folder: string, free: number, total: number): Check => {
  const seen = `${folder}: ${Math.floor(free / MiB)} of ${Math.floor(total / MiB)} MiB are free`
  const remedy = "free some space or enlarge the disk: writes fail when it is full"
  if (free < freeBytesMin) return { name: "disk", status: "failure", seen, remedy }
  return free < freeBytesLow ? warning("disk", seen, remedy) : passed("disk", seen)
}

const checkMasterKey = ({ masterKey }: Settings): Check =>
  masterKey === null
    ? warning(
        "master-key",
        "the master key is in the data directory, next to the secrets that it decrypts",
        "store a copy of `master.key` elsewhere, or set WEFT_MASTER_KEY and delete the file: without it, backups are useless"
      )
    : passed("master-key", "the master key comes from WEFT_MASTER_KEY")

const checkAdminToken = (token: string): Check =>
  token.length >= tokenLengthMin && new Set(token).size >= tokenCharactersMin
    ? passed("admin-token", `the admin token has ${token.length} characters`)
    : warning("admin-token", "the admin token is short or regular", "set WEFT_ADMIN_TOKEN to `openssl rand -hex 32`")

/** Checks that links and tokens do not need plain HTTP across a network. */
const checkPublicUrl = ({ host, publicUrl }: Settings): Check => {
  if (publicUrl === null) {
    return isLoopback(host)
      ? passed("public-url", "the server listens on this machine only")
      : warning(
          "public-url",
          "WEFT_PUBLIC_URL is not set, so links and URLs of webhooks have the address of this node",
          "set WEFT_PUBLIC_URL to the https URL of the proxy"
        )
  }
  const { protocol, hostname } = new URL(publicUrl)
  return protocol === "https:" || isLoopback(hostname)
    ? passed("public-url", publicUrl)
    : warning(
        "public-url",
        `${publicUrl} is not encrypted`,
        "put a proxy with TLS in front of the server, and set WEFT_PUBLIC_URL to its https URL"
      )
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host)

/** Repeats the warnings of the start about settings that several nodes must share. */
const checkNodes = (settings: Settings): ReadonlyArray<Check> => {
  const warnings = findWarnings(settings)
  if (warnings.length === 0) return [passed("settings", "no setting is wrong for this database")]
  return warnings.map((line) => warning("settings", line, "set the variable to the same value on all nodes"))
}
