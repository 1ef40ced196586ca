/** The code of `docs/sdk.md` compiles, bundles and passes its own tests. */
import { readFile } from "node:fs/promises"
import { expect, it } from "vitest"
import { authorsProject, vitestConfig } from "./compiled.ts"
import { filesIn } from "./markdown.ts"

it("the code of docs/sdk.md compiles, bundles and passes its tests", async () => {
  const markdown = await readFile(new URL("../../../docs/sdk.md", import.meta.url), "utf8")
  const files = filesIn(markdown)
  expect(Object.keys(files)).toContain("src/index.ts")
  await using project = await authorsProject(files)
  expect(await project.compile()).toEqual([])

  const [, bundling = ""] = /^npx esbuild (.*)$/m.exec(markdown) ?? []
  const bundled = await project.run("esbuild", [...bundling.split(" "), "--conditions=weft-source"])
  expect(bundled.ok, bundled.output).toBe(true)
  expect(bundled.output).not.toContain("WARNING")
  const code = await readFile(`${project.folder}/dist/index.js`, "utf8")
  expect(code).not.toMatch(/^import /m)

  await using tested = await authorsProject({ ...files, "vitest.config.mjs": vitestConfig })
  const { ok, output } = await tested.run("vitest", ["run"])
  expect(ok, output).toBe(true)
  expect(output).toMatch(/Tests .*5 passed/)
}, 120_000)
