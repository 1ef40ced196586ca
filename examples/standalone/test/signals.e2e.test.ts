/** Signals to a running server: SIGUSR1 opens no debugger, and SIGHUP drains. */
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, describe, expect, it } from "vitest"
import { type ServerProcess, startServer } from "./ServerProcess.ts"

const dir = mkdtempSync(join(tmpdir(), "weft-signals-"))
let server: ServerProcess | undefined
afterAll(async () => {
  await server?.kill().catch(() => undefined)
  rmSync(dir, { recursive: true, force: true })
})

const open = async (): Promise<ServerProcess> => {
  server = await startServer(dir)
  return server
}

/** Returns the number of TCP addresses on which the process listens, each perhaps with several sockets. */
const countListening = (pid: number): number => {
  const listening = ["tcp", "tcp6"].flatMap((kind) =>
    readFileSync(`/proc/${pid}/net/${kind}`, "latin1")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter((columns) => columns[3] === "0A")
      .map((columns): readonly [socket: string, address: string] => [`socket:[${columns[9]}]`, columns[1] ?? ""])
  )
  const links = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`)
    } catch {
      return ""
    }
  })
  return new Set(listening.filter(([socket]) => links.includes(socket)).map(([, address]) => address)).size
}

/** Returns the child processes of all threads of a process: runners and compilers. */
const findChildren = (pid: number): ReadonlyArray<number> =>
  readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "latin1").split(" ").filter(Boolean).map(Number)
  )

const source = `
export const quick = async () => 1
quick.meta = { event: "quick" }
export const slow = async () => {
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  return "done"
}
slow.meta = { webhook: { service: "signals", path: "/slow", method: "POST" } }
`

describe("a server", () => {
  it("opens no debugger on SIGUSR1, neither in its own process nor in those of its sandbox", async () => {
    const running = await open()
    await running.upload("signals", source)
    const children = findChildren(running.pid)
    expect(children).not.toEqual([])
    for (const pid of [...children, running.pid]) process.kill(pid, "SIGUSR1")
    await sleep(1_000)
    expect(running.output()).not.toContain("Debugger listening")
    expect(countListening(running.pid)).toBe(1)
    for (const pid of findChildren(running.pid)) expect(countListening(pid)).toBe(0)
    expect((await fetch(`${running.url}/healthz`)).status).toBe(200)
  })

  it("drains on SIGHUP, also if the signal arrives twice", async () => {
    const running = server ?? (await open())
    const answered = running.call("POST", "/webhook/default/production/signals/slow", {})
    await sleep(300)
    process.kill(running.pid, "SIGHUP")
    await sleep(200)
    process.kill(running.pid, "SIGHUP")
    expect(await answered).toBe("done")
    expect(await running.exited).toBe(0)
    expect(running.output()).toContain("SIGHUP: waiting for requests and runs to finish")
  })
})
