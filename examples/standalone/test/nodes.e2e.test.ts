/**
 * Runs the short form of `npm run proof -- nodes`: three nodes on one PostgreSQL under load. One is killed, one is paused
 * beyond its lease, one is disconnected, and the database crashes. The benchmark checks the invariants.
 */
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, it } from "vitest"
import { z } from "zod"

const dir = mkdtempSync(join(tmpdir(), "weft-nodes-test-"))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const proof = new URL("../../../proof/src/main.ts", import.meta.url).pathname

const Verdict = z.object({
  figures: z.array(z.tuple([z.string(), z.number()])),
  faults: z.record(z.string(), z.number()),
  findings: z.array(z.object({ what: z.string(), count: z.number(), samples: z.array(z.string()) }))
})

it("several nodes lose no event while they are killed, paused and disconnected", { timeout: 400_000 }, async () => {
  const file = join(dir, "verdict.json")
  const child = spawn(process.execPath, ["--conditions=weft-source", proof, "nodes", "--short", "--json", file], {
    stdio: ["ignore", "ignore", "inherit"]
  })
  const code = await new Promise((resolve) => child.once("exit", resolve))
  const { figures, faults, findings } = Verdict.parse(JSON.parse(readFileSync(file, "utf8")))
  expect(findings.filter(({ count }) => count > 0)).toEqual([])
  expect(code).toBe(0)

  // At least one of each; more on a machine where the load takes longer.
  for (const kind of ["kill", "pause", "blackhole", "database crash"]) {
    expect(faults[kind], kind).toBeGreaterThanOrEqual(1)
  }
  const figure = (name: string) => new Map(figures).get(name) ?? 0
  expect(figure("requests acknowledged")).toBeGreaterThan(300)
  expect(figure("runs lost with their node and retried")).toBeGreaterThan(0)
})
