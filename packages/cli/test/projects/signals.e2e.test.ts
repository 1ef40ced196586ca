/** Signals to `weft server`. */
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import { Terminal } from "./Terminal.ts"

describe("weft server", () => {
  it("opens no debugger on SIGUSR1, and ends in order when its terminal closes", { timeout: 60_000 }, async () => {
    using terminal = new Terminal()
    const server = terminal.begin(".", ["server", "--port", "0"])
    await server.waitFor("Ctrl-C ends it")
    server.signal("SIGUSR1")
    await sleep(500)
    assert.notInclude(server.output(), "Debugger listening")
    server.signal("SIGHUP")
    await sleep(10)
    server.signal("SIGHUP")
    const { code, stderr } = await server.ended
    assert.strictEqual(code, 0, stderr)
  })
})
