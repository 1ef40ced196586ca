/**
 * `npm run keep-release -- VERSION`: keeps what a server of today leaves in
 * its data dir, with what it said of it, as `VERSION.zip`. Once for each release, before the next one changes anything.
 */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { readdir } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { strToU8, zipSync } from "fflate"
import { adminToken, apiKey, startServer } from "../ServerProcess.ts"
import { furnish } from "./Furnished.ts"

const [version = ""] = process.argv.slice(2)
if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error("Which release is it? Give its version, such as 0.1.0")
const dataDir = mkdtempSync(join(tmpdir(), "weft-release-"))
const server = await startServer(dataDir)
const facts = await furnish(server, { apiKey, adminToken })
if ((await server.stop()) !== 0) throw new Error("The server did not end well")

const files: Record<string, Uint8Array> = { "facts.json": strToU8(JSON.stringify(facts, null, 2)) }
for (const name of await readdir(dataDir, { recursive: true })) {
  const file = join(dataDir, name)
  if (statSync(file).isFile()) files[`data/${name}`] = readFileSync(file)
}
writeFileSync(new URL(`./${version}.zip`, import.meta.url), zipSync(files, { level: 9 }))
rmSync(dataDir, { recursive: true })
