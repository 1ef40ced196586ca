/** The code of `docs/testing-durable.md` compiles and passes its own tests. */
import { readFile } from "node:fs/promises"
import { expect, it } from "vitest"
import { authorsProject, vitestConfig } from "../compiled.ts"
import { filesIn } from "../markdown.ts"

it("the code of docs/testing-durable.md compiles and passes its tests", async () => {
  const files = filesIn(await readFile(new URL("../../../../docs/testing-durable.md", import.meta.url), "utf8"))
  await using project = await authorsProject({ ...files, "vitest.config.mjs": vitestConfig })
  expect(await project.compile()).toEqual([])
  const { ok, output } = await project.run("vitest", ["run"])
  expect(ok, output).toBe(true)
  expect(output).toMatch(/Tests .*5 passed/)
}, 120_000)
