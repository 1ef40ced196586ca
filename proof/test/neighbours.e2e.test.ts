/** Short measurements of two shapes on a real server: the harness counts what happened. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { measure } from "../src/neighbours/Measure.ts"
import { selectShapes } from "../src/neighbours/Shapes.ts"

const logs = mkdtempSync(join(tmpdir(), "weft-neighbours-test-"))
afterAll(() => rmSync(logs, { recursive: true, force: true }))

describe("The measurement", () => {
  it.each([
    ["guessed-api-keys", "401"],
    ["endless-loop", "pending"]
  ])("measures the innocent tenant next to %s", async (name, answer) => {
    const [shape] = selectShapes(name)
    if (shape === undefined) throw new Error(`There is no shape ${name}`)
    const measured = await measure({ shape, seconds: 1, database: "sqlite", logs })
    expect(measured.losses).toEqual([])
    expect(measured.isServerGone).toBe(false)
    // One webhook every 50 ms, for at least 1 s of attack and 1 s after it.
    expect(measured.webhooks).toBeGreaterThanOrEqual(30)
    expect(measured.attacked.worstMs).toBeGreaterThanOrEqual(measured.attacked.medianMs)
    expect(measured.slowestEventMs).toBeGreaterThan(0)
    expect(measured.server.before.server).toBeGreaterThan(0)
    expect(measured.server.most.server).toBeGreaterThanOrEqual(measured.server.before.server)
    expect(measured.answers?.[answer]).toBeGreaterThan(0)
  })
})
