import { describe, expect, it } from "vitest"
import { supplyChain } from "../../src/rules/supplyChain.ts"
import { findingsOf } from "../fixture.ts"

const integrity = "sha512-x"
const good = { version: "1.0.0", integrity, license: "MIT" }

const said = (packages: Readonly<Record<string, object>>, dependencies: Readonly<Record<string, string>> = {}) =>
  findingsOf(supplyChain, {
    "packages/core/package.json": { name: "@weft/core", dependencies },
    "package-lock.json": { packages }
  })

describe("an installed package", () => {
  it("is accepted with an exact version from the registry, a digest and a free licence", () => {
    expect(said({ "": {}, "packages/core": {}, "node_modules/a": good }, { a: "1.0.0" })).toEqual([])
  })

  it("must have an exact version, from the registry", () => {
    for (const version of [
      "^1.0.0",
      "1",
      "*",
      "latest",
      "git+https://a.example/a.git",
      "https://a.example/a.tgz",
      "file:../a"
    ]) {
      expect(said({}, { a: version }), version).toEqual([
        `packages/core/package.json:4 supply-chain a is ${version}, which is not an exact version`
      ])
    }
    expect(said({ "node_modules/a": { ...good, resolved: "git+ssh://git@a.example/a.git#1" } })).toEqual([
      expect.stringContaining("a is not from the registry")
    ])
  })

  it("must have a digest", () => {
    expect(said({ "node_modules/a": { version: "1.0.0", license: "MIT" } })).toEqual([
      expect.stringContaining("a has no digest")
    ])
  })

  it("must not run an install script, unless the script was reviewed", () => {
    const packages = {
      "node_modules/isolated-vm": { ...good, hasInstallScript: true },
      "node_modules/a/node_modules/@b/c": { ...good, hasInstallScript: true }
    }
    expect(said(packages)).toEqual([expect.stringContaining("@b/c runs an install script")])
  })

  it("must have a redistributable licence if users install it", () => {
    const packages = {
      "node_modules/a": { ...good, dependencies: { b: "1" } },
      "node_modules/a/node_modules/b": { ...good, license: "AGPL-3.0" },
      "node_modules/b": { version: "2.0.0", integrity },
      "node_modules/tool": { ...good, license: "GPL-3.0" }
    }
    expect(said(packages, { a: "1.0.0" })).toEqual([expect.stringContaining("b has the licence AGPL-3.0")])
  })
})
