import { spawnSync } from "node:child_process"
import { assert } from "@effect/vitest"
import { commandLine } from "@weft/tooling/programs"
import { it } from "vitest"

/** Makes Node.js look like an earlier release, which has no compile cache. */
const former = `data:text/javascript,${encodeURIComponent(`
  import module from "node:module"
  delete module.enableCompileCache
  Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } })
`)}`

it("names the release of Node.js that it needs", async () => {
  const { status, stderr } = spawnSync(process.execPath, ["--import", former, await commandLine(), "--version"], {
    encoding: "utf8"
  })
  assert.strictEqual(
    stderr,
    "weft: needs Node.js 24 or later, and this is 20.20.2: install it from https://nodejs.org\n"
  )
  assert.strictEqual(status, 1)
})
