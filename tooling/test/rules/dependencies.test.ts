import { describe, expect, it } from "vitest"
import { dependencies } from "../../src/rules/dependencies.ts"
import { findingsOf } from "../fixture.ts"

describe("dependencies", () => {
  it("wants every import declared by its own package, at run time for what is published", () => {
    expect(
      findingsOf(dependencies, {
        "package.json": { name: "root", devDependencies: { vitest: "1" } },
        "packages/a/package.json": { name: "a", dependencies: { "@x/b": "1" }, devDependencies: { tool: "1" } },
        "packages/a/src/index.ts": `import "@x/b/deep"\nimport "tool"\nimport "vitest"\nimport "node:fs"\nimport "a"`,
        "packages/a/test/a.test.ts": `import "tool"\nimport "vitest"\nimport "other/x"`
      })
    ).toEqual([
      "packages/a/src/index.ts:2 undeclared-dependency tool is no run-time dependency of a",
      "packages/a/src/index.ts:3 undeclared-dependency vitest is no run-time dependency of a",
      "packages/a/test/a.test.ts:3 undeclared-dependency other is no dependency of a"
    ])
  })

  it("reports what is declared and never used, with its line", () => {
    expect(
      findingsOf(dependencies, {
        "package.json": { name: "root", devDependencies: { node: "1", rollup: "1" } },
        "packages/a/package.json": {
          name: "a",
          scripts: { build: "tsup src/index.ts" },
          dependencies: { b: "1", c: "1" },
          devDependencies: { tsup: "1", "@types/b": "1", "@types/c": "1" }
        },
        "packages/a/src/index.ts": `import type { B } from "b"`
      })
    ).toEqual([
      "packages/a/package.json:8 unused-dependency a declares c and never uses it",
      "packages/a/package.json:13 unused-dependency a declares @types/c and never uses it",
      "package.json:5 unused-dependency root declares rollup and never uses it"
    ])
  })

  it("lets an annex import what the workspace has that it is part of", () => {
    expect(
      findingsOf(dependencies, {
        "package.json": { name: "root" },
        "bench/package.json": { name: "bench", dependencies: { shared: "1" } },
        "bench/src/main.ts": `import "shared"`,
        "bench/peers/package.json": { name: "peers", dependencies: { peer: "1" } },
        "bench/peers/src/a.ts": `import "shared"\nimport "peer"\nimport "other"`
      })
    ).toEqual(["bench/peers/src/a.ts:3 undeclared-dependency other is no dependency of peers"])
  })
})
