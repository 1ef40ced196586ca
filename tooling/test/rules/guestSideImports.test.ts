import { describe, expect, it } from "vitest"
import { guestSideImports } from "../../src/rules/guestSideImports.ts"
import { findingsOf, manifests } from "../fixture.ts"

const find = (files: Record<string, string>) => findingsOf(guestSideImports, { ...manifests, ...files })

describe("imports in the processes of guests", () => {
  it("allows types of core and values of small packages in the runner", () => {
    expect(
      find({
        "packages/sandbox/src/runner/main.ts": `import type { Limits } from "@weft/core/adapter"\nimport ivm from "isolated-vm"`
      })
    ).toEqual([])
  })

  it("rejects effect, and a mixed import that remains at run time", () => {
    expect(
      find({
        "packages/sandbox/src/runner/main.ts": `import { Effect } from "effect"`,
        "packages/sandbox/src/guest/Kernel.ts": `import { type Limits } from "@weft/core/adapter"`
      })
    ).toEqual([
      "packages/sandbox/src/guest/Kernel.ts:1 guest-side runs in the processes of guests and may import only types from @weft/core",
      "packages/sandbox/src/runner/main.ts:1 guest-side runs in the processes of guests and may import only types from effect"
    ])
  })

  it("follows the imports of the runner", () => {
    expect(
      find({
        "packages/sandbox/src/runner/main.ts": `import { frame } from "../Protocol.ts"`,
        "packages/sandbox/src/Protocol.ts": `import { Schema } from "effect/Schema"`
      })
    ).toEqual([
      "packages/sandbox/src/Protocol.ts:1 guest-side runs in the processes of guests and may import only types from effect"
    ])
  })

  it("rejects the engine outside the runner", () => {
    expect(find({ "packages/sandbox/src/Supervisor.ts": `import ivm from "isolated-vm"` })).toEqual([
      "packages/sandbox/src/Supervisor.ts:1 guest-side only packages/sandbox/src/runner/ may load isolated-vm"
    ])
  })
})
