/**
 * `npm run snapshot-release -- VERSION`: stores the data directory of the current server and its responses as
 * `VERSION.zip`. Run it once per release, before the next one changes the format.
 */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { readdir } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { strToU8, zipSync } from "fflate"
import { adminToken, apiKey, startServer } from "../ServerProcess.ts"
import { createTenant } from "./Tenant.ts"

const [version = ""] = process.argv.slice(2)
if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error("Give the version of the release, such as 0.1.0")
const dataDir = mkdtempSync(join(tmpdir(), "weft-release-"))
const server = await startServer(dataDir)
const facts = await createTenant(server, { apiKey, adminToken })
if ((await server.stop()) !== 0) throw new Error("The server exited with an error")

const files: Record<string, Uint8Array> = { "facts.json": strToU8(JSON.stringify(facts, null, 2)) }
for (const name of await readdir(dataDir, { recursive: true })) {
  const file = join(dataDir, name)
  if (statSync(file).isFile()) files[`data/${name}`] = readFileSync(file)
}
writeFileSync(new URL(`./${version}.zip`, import.meta.url), zipSync(files, { level: 9 }))
rmSync(dataDir, { recursive: true })
