/** Metrics of a process that has no free file descriptor, where Node cannot read `/proc`. */
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"

const program = fileURLToPath(new URL("metrics/withoutDescriptors.ts", import.meta.url))

describe("metrics of a process without free descriptors", () => {
  it("are readable after a garbage collection, with the last known resident memory", async () => {
    const flags = ["--expose-gc", "--conditions=weft-source"]
    const { stdout } = await promisify(execFile)("prlimit", ["--nofile=64", process.execPath, ...flags, program])
    const values: Record<string, number> = JSON.parse(stdout)
    for (const name of ["process_resident_memory_bytes", "nodejs_heap_used_bytes", "nodejs_heap_live_bytes"])
      assert.isAbove(values[name] ?? 0, 1_000_000, name)
  })
})
