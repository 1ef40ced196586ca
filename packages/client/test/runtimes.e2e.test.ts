import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { runtimes } from "@weft/tooling/services"
import { bundled, checkReport, startHost } from "./runtimes/Host.ts"

const run = promisify(execFile)

describe("the client in other runtimes", () => {
  it("is tested with every installed runtime", () => {
    const isOurs = process.platform === "linux" && process.arch === "x64"
    if (isOurs)
      assert.deepStrictEqual(
        runtimes.map(({ name }) => name),
        ["Bun", "Deno"]
      )
  })

  for (const { name, program, args } of runtimes) {
    it(`${name}: transfers files, receives and reconnects subscriptions, and returns lists and errors`, async () => {
      const folder = mkdtempSync(join(tmpdir(), "weft-runtime-"))
      const host = await startHost()
      try {
        const script = join(folder, "program.mjs")
        writeFileSync(script, await bundled(new URL("./runtimes/program.ts", import.meta.url)))
        const given = JSON.stringify({ baseUrl: host.url, token: host.token })
        // Runtimes store their caches in this folder, which is deleted afterwards.
        const env = { PATH: process.env.PATH, HOME: folder, DENO_DIR: folder, DENO_NO_UPDATE_CHECK: "1" }
        const { stdout } = await run(program, [...args, script, given], { cwd: folder, env, timeout: 90_000 })
        const report = JSON.parse(stdout)
        checkReport(report, host)
        assert.include(report.agent, name)
      } finally {
        await host.close()
        rmSync(folder, { recursive: true, force: true })
      }
    })
  }
})
