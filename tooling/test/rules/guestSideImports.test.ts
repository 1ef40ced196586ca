import { describe, expect, it } from "vitest"
import { guestSideImports } from "../../src/rules/guestSideImports.ts"
import { findingsOf, manifests } from "../fixture.ts"

const find = (files: Record<string, string>) => findingsOf(guestSideImports, { ...manifests, ...files })

describe("imports beside guests", () => {
  it("allows types of core and values of small packages in the runner", () => {
    expect(
      find({
        "packages/sandbox/src/runner/main.ts": `import type { Limits } from "@weft/core"\nimport ivm from "isolated-vm"`
      })
    ).toEqual([])
  })

  it("refuses effect there, and a mixed import that stays at run time", () => {
    expect(
      find({
        "packages/sandbox/src/runner/main.ts": `import { Effect } from "effect"`,
        "packages/sandbox/src/guest/Kernel.ts": `import { type Limits } from "@weft/core"`
      })
    ).toEqual([
      "packages/sandbox/src/guest/Kernel.ts:1 guest-side runs beside guests and may import only types from @weft/core",
      "packages/sandbox/src/runner/main.ts:1 guest-side runs beside guests and may import only types from effect"
    ])
  })

  it("follows what the runner loads", () => {
    expect(
      find({
        "packages/sandbox/src/runner/main.ts": `import { frame } from "../Protocol.ts"`,
        "packages/sandbox/src/Protocol.ts": `import { Schema } from "effect/Schema"`
      })
    ).toEqual([
      "packages/sandbox/src/Protocol.ts:1 guest-side runs beside guests and may import only types from effect"
    ])
  })

  it("refuses the engine outside the runner", () => {
    expect(find({ "packages/sandbox/src/Supervisor.ts": `import ivm from "isolated-vm"` })).toEqual([
      "packages/sandbox/src/Supervisor.ts:1 guest-side only packages/sandbox/src/runner/ may load isolated-vm"
    ])
  })
})
