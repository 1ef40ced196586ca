import { assert, describe, it } from "@effect/vitest"
import { checkClocks, checkLatency, checkNode, checkTransport } from "../../src/commands/doctor/ClientChecks.ts"

describe("checks of the client", () => {
  it("accept encrypted and local addresses, and warn of others", () => {
    for (const url of [
      "https://weft.example.com",
      "http://localhost:8787",
      "http://127.0.0.1:1",
      "http://[::1]:8787"
    ]) {
      assert.strictEqual(checkTransport(url).status, "ok", url)
    }
    for (const url of ["http://weft.example.com", "http://10.0.0.1:8787", "http://127.example.com"]) {
      assert.strictEqual(checkTransport(url).status, "warning", url)
    }
  })

  it("compare clocks in both directions", () => {
    assert.strictEqual(checkClocks(10_000, 11_900).status, "ok")
    assert.strictEqual(
      checkClocks(10_000, 13_000).seen,
      "the clocks of the server and of this machine differ by 3.00 s"
    )
    assert.strictEqual(checkClocks(13_000, 10_000).status, "warning")
  })

  it("judge the latency and the version of Node.js", () => {
    assert.deepInclude(checkLatency("https://a.test", 12.4), {
      status: "ok",
      seen: "https://a.test answered within 13 ms"
    })
    assert.strictEqual(checkLatency("https://a.test", 3_000).status, "warning")
    assert.strictEqual(checkNode("24.0.0").status, "ok")
    assert.strictEqual(checkNode("22.11.0").status, "failure")
  })
})
