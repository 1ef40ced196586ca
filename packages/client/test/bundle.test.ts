import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { build } from "esbuild"

const entry = fileURLToPath(new URL("../src/index.ts", import.meta.url))

describe("the client's bundle", () => {
  it("has no Node modules, no dependencies, and less than 12 KB", async () => {
    const { outputFiles, metafile } = await build({
      entryPoints: [entry],
      bundle: true,
      minify: true,
      format: "esm",
      platform: "browser",
      target: "es2022",
      write: false,
      metafile: true
    })
    const [bundle] = outputFiles
    assert.isDefined(bundle)
    assert.isBelow(gzipSync(bundle.contents).length, 12 * 1024)
    assert.notMatch(bundle.text, /\bprocess\.|\brequire\(|node:|\bBuffer\b/)
    const inputs = Object.keys(metafile.inputs)
    assert.isTrue(inputs.every((path) => path.includes("client/src/")))
  })
})
