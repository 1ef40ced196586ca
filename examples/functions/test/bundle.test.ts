import { createHash } from "node:crypto"
import { strFromU8, unzipSync } from "fflate"
import { expect, it } from "vitest"
import { bundle } from "../scripts/bundle.ts"

it("the bundle is one module without imports, with a source map, and reproducible", async () => {
  const { zip, hash } = await bundle()
  expect(createHash("sha256").update(zip).digest("hex")).toBe(hash)
  expect((await bundle()).hash).toBe(hash)

  const files = unzipSync(zip)
  expect(Object.keys(files).sort()).toEqual(["index.js", "index.js.map", "manifest.json"])
  const code = strFromU8(files["index.js"] ?? new Uint8Array())
  expect(code).not.toMatch(/^\s*import\b/m)
  const { flaky, github } = await import(`data:text/javascript,${encodeURIComponent(code)}`)
  expect(flaky.meta).toMatchObject({ event: "github:ping" })
  expect(github.receive.meta).toMatchObject({ webhook: { service: "github", path: "/events" } })
})
