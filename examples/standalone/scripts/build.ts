/**
 * `node examples/standalone/scripts/build.ts FOLDER`: builds the server into a folder, and the console. `node FOLDER/main.mjs`
 * starts the server, as long as the packages of this repository stay in their place.
 */
import { cpSync } from "node:fs"
import { resolve } from "node:path"
import { consoleApp, referenceServer } from "@weft/tooling/programs"

const [folder] = process.argv.slice(2)
if (folder === undefined) {
  process.stderr.write("usage: node examples/standalone/scripts/build.ts FOLDER\n")
  process.exit(1)
}
const [server] = await Promise.all([referenceServer(), consoleApp()])
cpSync(resolve(server, ".."), folder, { recursive: true })
