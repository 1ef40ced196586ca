import { describe, expect, it } from "vitest"
import { deadFiles } from "../../src/rules/deadFiles.ts"
import { findingsOf } from "../fixture.ts"

const manifest = {
  name: "a",
  scripts: { start: "node --conditions=weft-source scripts/start.ts" },
  bin: { a: "./src/bin.ts" },
  exports: { ".": { "weft-source": "./src/index.ts", default: "./dist/index.js" } }
}

describe("dead files", () => {
  it("reports a file that nothing reaches, and one that only it reaches", () => {
    expect(
      findingsOf(deadFiles, {
        "package.json": manifest,
        "src/index.ts": "",
        "src/Lost.ts": `import "./AlsoLost.ts"`,
        "src/AlsoLost.ts": ""
      })
    ).toEqual([
      "src/Lost.ts:1 dead-file no export, script, test or worker reaches it",
      "src/AlsoLost.ts:1 dead-file no export, script, test or worker reaches it"
    ])
  })

  it("follows exports, bins, scripts, tests, configuration, types and workers named by URL", () => {
    expect(
      findingsOf(deadFiles, {
        "package.json": manifest,
        "src/index.ts": `export type { A } from "./A.ts"\nnew Worker(new URL("./worker.js", import.meta.url))`,
        "src/A.ts": "export type A = 1",
        "src/worker.ts": `new URL(\`./runner/main.\${extension}\`, import.meta.url)`,
        "src/runner/main.ts": `new URL(\`./engine\${built ? ".js" : ".ts"}\`, import.meta.url)`,
        "src/runner/engine.ts": "",
        "src/bin.ts": "",
        "scripts/start.ts": `await import("../src/B.ts")`,
        "src/B.ts": "",
        "test/c.test.ts": `import "./fixture.ts"`,
        "test/fixture.ts": "",
        "vitest.config.ts": "",
        "src/ambient.d.ts": "",
        "examples/shop/src/main.ts": ""
      })
    ).toEqual([])
  })
})
