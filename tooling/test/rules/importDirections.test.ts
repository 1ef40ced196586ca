import { describe, expect, it } from "vitest"
import { importDirections } from "../../src/rules/importDirections.ts"
import { findingsOf, manifests } from "../fixture.ts"

const find = (files: Record<string, string>) => findingsOf(importDirections, { ...manifests, ...files })

describe("import directions", () => {
  it("lets core import effect, its subpaths and earlier folders", () => {
    expect(
      find({
        "packages/core/src/ids/Ids.ts": `import { Schema } from "effect"\nimport * as sql from "effect/sql"`,
        "packages/core/src/runs/Run.ts": `import type { RunId } from "../ids/Ids.ts"`,
        "packages/core/src/Weft.ts": `import "./runs/Run.ts"`,
        "packages/core/src/index.ts": `export * from "./Weft.ts"`
      })
    ).toEqual([])
  })

  it("refuses Node's modules and drivers in core, types included", () => {
    expect(
      find({ "packages/core/src/ids/Ids.ts": `import { x } from "node:fs"\nimport type { Y } from "express"` })
    ).toEqual([
      "packages/core/src/ids/Ids.ts:1 import-direction packages/core may not import Node's modules",
      "packages/core/src/ids/Ids.ts:2 import-direction packages/core may not import express"
    ])
  })

  it.each([
    ["a statement", `import { Run } from "../runs/Run.ts"`],
    ["a type", `import type { Run } from "../runs/Run.ts"`],
    ["a re-export", `export * from "../runs/Run.ts"`],
    ["a call", `const load = () => import("../runs/Run.ts")`],
    ["a type by call", `type Run = import("../runs/Run.ts").Run`]
  ])("refuses a later folder of core by %s", (_, code) => {
    expect(find({ "packages/core/src/ids/Ids.ts": code, "packages/core/src/runs/Run.ts": "" })).toEqual([
      "packages/core/src/ids/Ids.ts:1 import-direction ids comes before runs and may not import it"
    ])
  })

  it("refuses a folder of core that the order does not know", () => {
    expect(
      find({
        "packages/core/src/novel/A.ts": `import "./B.ts"`,
        "packages/core/src/novel/B.ts": ""
      })
    ).toEqual(["packages/core/src/novel/A.ts:1 import-direction novel has no place in the order of core's folders"])
  })

  it("lets the files beside core's folders know each other, but not index.ts", () => {
    expect(
      find({
        "packages/core/src/Weft.ts": `import "./HostEnv.ts"\nimport "./index.ts"`,
        "packages/core/src/HostEnv.ts": "",
        "packages/core/src/index.ts": ""
      })
    ).toEqual(["packages/core/src/Weft.ts:2 import-direction Weft.ts comes before index.ts and may not import it"])
  })

  it("keeps adapters apart and lets them import core, api and drivers", () => {
    expect(
      find({
        "adapters/sqlite/src/index.ts": `import "@weft/core"\nimport "node:fs"\nimport "driver"`,
        "adapters/http/src/index.ts": `import "@weft/api"\nimport { sqlite } from "@weft/sqlite"`
      })
    ).toEqual(["adapters/http/src/index.ts:2 import-direction adapters/* may not import @weft/sqlite"])
  })

  it("refuses examples as a dependency, from tests too", () => {
    expect(find({ "packages/core/test/a.test.ts": `import "@weft/example-standalone"` })).toEqual([
      "packages/core/test/a.test.ts:1 import-direction examples/standalone is an end of its own and may not be " +
        "imported (@weft/example-standalone)"
    ])
  })

  it("refuses to reach into another package by path", () => {
    expect(
      find({
        "packages/api/src/index.ts": `import "../../core/src/ids/Ids.ts"`,
        "packages/core/src/ids/Ids.ts": ""
      })
    ).toEqual([
      "packages/api/src/index.ts:1 import-direction ../../core/src/ids/Ids.ts leaves packages/api by a relative path"
    ])
  })

  it("lets programs of peers use what is beside them in the workspace that they are part of", () => {
    const beside = {
      ...manifests,
      "bench/package.json": { name: "@weft/bench" },
      "bench/peers/package.json": { name: "peers" },
      "bench/src/program.ts": "",
      "packages/core/src/ids/Ids.ts": ""
    }
    expect(
      findingsOf(importDirections, { ...beside, "bench/peers/src/a.ts": `import "../../src/program.ts"` })
    ).toEqual([])
    expect(
      findingsOf(importDirections, {
        ...beside,
        "bench/peers/src/a.ts": `import "../../../packages/core/src/ids/Ids.ts"`
      })
    ).toEqual([
      "bench/peers/src/a.ts:1 import-direction ../../../packages/core/src/ids/Ids.ts leaves bench/peers by a relative path"
    ])
  })
})
