/** The names that stand-ins export, compared with those of Node. */
import { builtinModules } from "node:module"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"
import { assert, describe, it } from "vitest"
import { findStandIn, nodeModuleNames } from "../src/NodeModules.ts"
import { modulePath } from "../src/NodePlugin.ts"

/** Properties that Node's process and modules have for themselves. */
const internal = /^_|^(?:domain|module\.exports|default)$/

/** Modules that code imports by their default export: a run has few facts of a process, and constants are an object. */
const onlyDefault: ReadonlyArray<string> = ["constants", "process"]

const exportsOf = async (path: string): Promise<ReadonlyArray<string>> => {
  const { metafile } = await build({
    entryPoints: [path],
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    outfile: "out.js"
  })
  return Object.values(metafile.outputs).flatMap((output) => output.exports)
}

describe("the stand-ins", () => {
  it("exist for every module of Node", () => {
    const names = builtinModules.map((name) => name.replace(/^node:/, "")).filter((name) => !name.startsWith("_"))
    assert.deepStrictEqual(
      names.filter((name) => findStandIn(`node:${name}`) === undefined),
      []
    )
    assert.isUndefined(findStandIn("test"))
    assert.isUndefined(findStandIn("left-pad"))
  })

  it("export every name that Node exports", async () => {
    const missing: Record<string, ReadonlyArray<string>> = {}
    for (const name of nodeModuleNames) {
      const standIn = findStandIn(`node:${name}`)
      if (standIn === undefined || standIn.kind === "refused" || onlyDefault.includes(name)) continue
      const path = standIn.kind === "own" ? modulePath(standIn.path) : fileURLToPath(import.meta.resolve(standIn.path))
      const exported = new Set(await exportsOf(path))
      const original: object = await import(`node:${name}`)
      const absent = Object.keys(original).filter((each) => !internal.test(each) && !exported.has(each))
      if (absent.length > 0) missing[name] = absent
    }
    assert.deepStrictEqual(missing, {})
  })
})
