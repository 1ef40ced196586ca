/** The examples of hosts, run as they are: the host's own page and Weft's API on one port. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"

describe.each(["embed-express", "embed-fetch"])("%s", (example) => {
  it("serves its own page and Weft's API, and ends when asked to", async () => {
    const data = mkdtempSync(join(tmpdir(), "weft-embed-"))
    const main = fileURLToPath(new URL(`../../${example}/src/main.ts`, import.meta.url))
    const host = spawn(process.execPath, ["--conditions=weft-source", main], {
      env: { PATH: process.env.PATH, DATA: data, PORT: "0" },
      stdio: ["ignore", "pipe", "inherit"]
    })
    const exited = once(host, "exit")
    let said = ""
    for await (const line of createInterface(host.stdout)) {
      said += line
      if (/port: \d+/.test(said)) break
    }
    const url = `http://127.0.0.1:${/port: (\d+)/.exec(said)?.[1]}`

    expect(await (await fetch(url)).text()).toBe("The application's own page")
    expect(await (await fetch(`${url}/v1/status`)).json()).toMatchObject({ status: "ok", service: "weft" })
    const refused = await fetch(`${url}/v1/projects`)
    expect(refused.status).toBe(401)
    expect(await refused.json()).toMatchObject({ error: { code: "unauthorized" } })

    host.kill("SIGTERM")
    expect((await exited)[0]).toBe(0)
    rmSync(data, { recursive: true, force: true })
  })
})
