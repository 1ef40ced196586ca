import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import type { Archive } from "../src/packing/Archive.ts"
import { faultsInContents } from "../src/packing/Contents.ts"
import { measureInstallation } from "../src/packing/Installed.ts"
import { publishedManifest } from "../src/packing/Published.ts"
import { readPrograms } from "../src/packing/Readme.ts"
import { findDrift, renderTable, type Size, withTable } from "../src/packing/Sizes.ts"

let place: string
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "weft-packing-"))
})
afterEach(() => rmSync(place, { recursive: true, force: true }))

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(place, path)), { recursive: true })
  writeFileSync(join(place, path), text)
}

const own = {
  name: "@weft/thing",
  version: "0.1.0",
  description: "A thing.",
  keywords: ["weft"],
  license: "Apache-2.0",
  type: "module",
  sideEffects: ["./src/globals.ts", "./dist/globals.js"],
  engines: { node: ">=24" },
  files: ["dist"],
  exports: {
    ".": { "weft-source": "./src/index.ts", types: "./dist/index.d.ts", default: "./dist/index.js" },
    "./package.json": "./package.json"
  },
  scripts: { build: "make" },
  devDependencies: { other: "1.0.0" }
}

const published = (manifest: object) => {
  write("package.json", JSON.stringify(manifest))
  return publishedManifest(place)
}

describe("A published manifest", () => {
  it("omits sources, scripts and development dependencies", () => {
    const { scripts: _, devDependencies: __, ...rest } = own
    expect(published(own)).toEqual({
      ...rest,
      sideEffects: ["./dist/globals.js"],
      exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" }, "./package.json": "./package.json" }
    })
  })

  it("requires every field and rejects unknown ones", () => {
    const { keywords: _, ...without } = own
    expect(() => published(without)).toThrow(/keywords/)
    expect(() => published({ ...own, main: "dist/index.js" })).toThrow(/main/)
    expect(() => published({ ...own, license: "MIT" })).toThrow(/license/)
  })

  it("requires types for each export", () => {
    expect(() => published({ ...own, exports: { ".": { default: "./dist/index.js" } } })).toThrow(/types/)
  })
})

/** Builds an archive of `packages/api`, whose sources exist. */
const buildArchive = (files: Readonly<Record<string, string>>): Archive => {
  for (const [path, text] of Object.entries(files)) write(path, text)
  const paths = Object.keys(files)
  return {
    manifest: published(own),
    folder: "packages/api",
    file: "",
    staged: place,
    paths,
    packedBytes: 0,
    unpackedBytes: 0
  }
}

describe("The check of archive contents", () => {
  it("accepts build output of sources", () => {
    const map = JSON.stringify({ version: 3, sources: ["../src/index.ts"] })
    const good = { "README.md": "# Thing", "dist/index.js": "", "dist/index.d.ts": "", "dist/index.js.map": map }
    expect(faultsInContents(buildArchive(good))).toEqual([])
  })

  it.each([
    ["src/index.ts", "", /is not build output/],
    ["dist/tsconfig.tsbuildinfo", "", /is not build output/],
    ["dist/WasHere.js", "", /its source was deleted/],
    ["dist/index.js", `// ${["", "home", "ada", "weft"].join("/")}`, /absolute path/],
    ["dist/index.js.map", JSON.stringify({ sources: ["file:///index.ts"] }), /not relative/]
  ])("rejects %s with %j", (path, text, fault) => {
    expect(faultsInContents(buildArchive({ [path]: text }))).toEqual([expect.stringMatching(fault)])
  })
})

describe("A program of a README", () => {
  it("is whole unless a comment has declarations for it or a reason not to run it", () => {
    const text = [
      "```ts\nfirst()\n```",
      "<!-- ts\ndeclare const a: string\n-->\n```ts\nsecond(a)\n```",
      "<!-- not run: it would never end -->\n```ts\nthird()\n```",
      "```sh\nfourth\n```"
    ].join("\n\n")
    expect(readPrograms(buildArchive({ "README.md": `${text}\n` }))).toEqual([
      { text: "first()\n", isWhole: true },
      { text: "declare const a: string\nsecond(a)\n", isWhole: false },
      { text: "third()\n", isWhole: false }
    ])
  })
})

describe("An installation", () => {
  it("counts each dependency and peer once, without optional peers and nested packages", () => {
    const packages = {
      a: { dependencies: { b: "1", c: "1" }, peerDependencies: { d: "1", e: "1" }, peerDependenciesMeta: { e: {} } },
      b: { dependencies: { c: "1" }, optionalDependencies: { elsewhere: "1" } },
      c: {},
      d: {},
      e: {}
    }
    for (const [name, manifest] of Object.entries(packages)) {
      write(`node_modules/${name}/package.json`, JSON.stringify(manifest))
      write(`node_modules/${name}/dist/index.js`, "x".repeat(1000))
    }
    write("node_modules/c/node_modules/f/index.js", "x".repeat(5000))
    const manifests = ["a", "b", "c", "d"] as const
    const bytes = manifests.reduce((sum, name) => sum + JSON.stringify(packages[name]).length + 1000, 0)
    expect(measureInstallation("a", place)).toEqual({ packages: 4, bytes })
  })
})

describe("Sizes in docs/packages.md", () => {
  const size: Size = {
    name: "@weft/thing",
    description: "A thing.",
    packedBytes: 100_000,
    unpackedBytes: 1_000_000,
    installedBytes: 10_000_000,
    packages: 10
  }
  const table = (change: Partial<Size> = {}, bundle = 7000) =>
    renderTable([{ ...size, ...change }], new Map([["@weft/thing", bundle]]))
  const page = withTable("Before\n<!-- sizes: npm run smoke -- --write -->\n<!-- end of sizes -->\nAfter\n", table())

  it("are replaced between their markers", () => {
    expect(page).toContain("| `@weft/thing` | A thing. | 100 | 1,000 | 10,000 | 10 |")
    expect(page).toMatch(/^Before\n.*\nAfter\n$/s)
    expect(withTable(page, table())).toBe(page)
  })

  it("may differ by 5 % for our archives", () => {
    expect(findDrift(page, table({ packedBytes: 104_000, unpackedBytes: 960_000 }, 7300))).toEqual([])
    expect(findDrift(page, table({ packedBytes: 106_000 }))).toEqual([expect.stringContaining("100, 1000, 10000, 10")])
    expect(findDrift(page, table({ unpackedBytes: 940_000 }))).toHaveLength(1)
    expect(findDrift(page, table({}, 7500))).toHaveLength(1)
  })

  it("may differ by 25 % for installations", () => {
    expect(findDrift(page, table({ installedBytes: 12_000_000, packages: 12 }))).toEqual([])
    expect(findDrift(page, table({ installedBytes: 15_000_000 }))).toHaveLength(1)
  })

  it("exist for every package and for no other", () => {
    expect(findDrift(page, table({ name: "@weft/other" }))).toHaveLength(2)
  })
})
