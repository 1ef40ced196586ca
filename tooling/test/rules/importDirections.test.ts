import { describe, expect, it } from "vitest"
import { importDirections } from "../../src/rules/importDirections.ts"
import { findingsOf, manifests } from "../fixture.ts"

const find = (files: Record<string, string>) => findingsOf(importDirections, { ...manifests, ...files })

describe("import directions", () => {
  it("permits core to import effect, its subpaths and earlier folders", () => {
    expect(
      find({
        "packages/core/src/foundation/Ids.ts": `import { Schema } from "effect"\nimport * as sql from "effect/sql"`,
        "packages/core/src/runtime/runs/Run.ts": `import type { RunId } from "../../foundation/Ids.ts"`,
        "packages/core/src/Weft.ts": `import "./runtime/runs/Run.ts"`,
        "packages/core/src/index.ts": `export * from "./Weft.ts"`
      })
    ).toEqual([])
  })

  it("rejects Node.js modules and drivers in core, including types", () => {
    expect(
      find({ "packages/core/src/foundation/Ids.ts": `import { x } from "node:fs"\nimport type { Y } from "express"` })
    ).toEqual([
      "packages/core/src/foundation/Ids.ts:1 import-direction packages/core may not import Node's modules",
      "packages/core/src/foundation/Ids.ts:2 import-direction packages/core may not import express"
    ])
  })

  it.each([
    ["a statement", `import { Run } from "../runtime/runs/Run.ts"`],
    ["a type", `import type { Run } from "../runtime/runs/Run.ts"`],
    ["a re-export", `export * from "../runtime/runs/Run.ts"`],
    ["a call", `const load = () => import("../runtime/runs/Run.ts")`],
    ["a type by call", `type Run = import("../runtime/runs/Run.ts").Run`]
  ])("rejects a later folder of core by %s", (_, code) => {
    expect(find({ "packages/core/src/foundation/Ids.ts": code, "packages/core/src/runtime/runs/Run.ts": "" })).toEqual([
      "packages/core/src/foundation/Ids.ts:1 import-direction foundation comes before runtime and may not import it"
    ])
  })

  it("rejects a folder of core that is not in the order", () => {
    expect(
      find({
        "packages/core/src/novel/A.ts": `import "./B.ts"`,
        "packages/core/src/novel/B.ts": ""
      })
    ).toEqual(["packages/core/src/novel/A.ts:1 import-direction novel has no place in the order of core's folders"])
  })

  it("rejects imports between folders of one layer, and of an unknown folder", () => {
    expect(
      find({
        "packages/core/src/memory/A.ts": `import "../embed/B.ts"`,
        "packages/core/src/embed/B.ts": `import "../novel/C.ts"`,
        "packages/core/src/novel/C.ts": ""
      })
    ).toEqual([
      "packages/core/src/memory/A.ts:1 import-direction memory and embed may not import each other",
      "packages/core/src/embed/B.ts:1 import-direction novel has no place in the order of core's folders"
    ])
  })

  it("holds in the rooms of a wing as well", () => {
    const file = (room: string) => `packages/core/src/resources/${room}/A.ts`
    expect(
      find({
        [file("audit")]: `import "../builds/A.ts"`,
        [file("builds")]: `import "../projects/A.ts"\nimport "./B.ts"\nimport "../audit/A.ts"`,
        "packages/core/src/resources/builds/B.ts": "",
        [file("files")]: `import "../secrets/A.ts"`,
        [file("secrets")]: "",
        [file("projects")]: `import "../Loose.ts"`,
        "packages/core/src/resources/Loose.ts": ""
      })
    ).toEqual([
      `${file("builds")}:3 import-direction builds comes before audit and may not import it`,
      `${file("files")}:1 import-direction files and secrets may not import each other`,
      `${file("projects")}:1 import-direction Loose.ts has no place in the order of core's folders`
    ])
  })

  it("permits imports between the files next to core's folders, but not of index.ts", () => {
    expect(
      find({
        "packages/core/src/Weft.ts": `import "./Other.ts"\nimport "./index.ts"`,
        "packages/core/src/Other.ts": "",
        "packages/core/src/index.ts": ""
      })
    ).toEqual(["packages/core/src/Weft.ts:2 import-direction Weft.ts comes before index.ts and may not import it"])
  })

  it("permits adapters to import core, api and drivers, but not each other", () => {
    expect(
      find({
        "adapters/sqlite/src/index.ts": `import "@weft/core"\nimport "node:fs"\nimport "driver"`,
        "adapters/http/src/index.ts": `import "@weft/api"\nimport { sqlite } from "@weft/sqlite"`
      })
    ).toEqual(["adapters/http/src/index.ts:2 import-direction adapters/* may not import @weft/sqlite"])
  })

  it("rejects examples as a dependency, also in tests", () => {
    expect(find({ "packages/core/test/a.test.ts": `import "@weft/example-standalone"` })).toEqual([
      "packages/core/test/a.test.ts:1 import-direction examples/standalone is an end of its own and may not be " +
        "imported (@weft/example-standalone)"
    ])
  })

  it("rejects relative imports into another package", () => {
    expect(
      find({
        "packages/api/src/index.ts": `import "../../core/src/foundation/Ids.ts"`,
        "packages/core/src/foundation/Ids.ts": ""
      })
    ).toEqual([
      "packages/api/src/index.ts:1 import-direction ../../core/src/foundation/Ids.ts leaves packages/api by a relative path"
    ])
  })

  it("permits an annex to import from the workspace that it belongs to", () => {
    const files = {
      ...manifests,
      "bench/package.json": { name: "@weft/bench" },
      "bench/peers/package.json": { name: "peers" },
      "bench/src/program.ts": "",
      "packages/core/src/foundation/Ids.ts": ""
    }
    expect(findingsOf(importDirections, { ...files, "bench/peers/src/a.ts": `import "../../src/program.ts"` })).toEqual(
      []
    )
    expect(
      findingsOf(importDirections, {
        ...files,
        "bench/peers/src/a.ts": `import "../../../packages/core/src/foundation/Ids.ts"`
      })
    ).toEqual([
      "bench/peers/src/a.ts:1 import-direction ../../../packages/core/src/foundation/Ids.ts leaves bench/peers by a relative path"
    ])
  })
})
