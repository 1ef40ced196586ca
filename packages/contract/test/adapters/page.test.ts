/** `docs/adapters.md` must contain the tested adapter verbatim. */
import { readFile } from "node:fs/promises"
import { expect, it } from "vitest"

it.each(["TableBlobs.ts", "TableBlobs.test.ts"])("docs/adapters.md contains %s verbatim", async (name) => {
  const page = await readFile(new URL("../../../../docs/adapters.md", import.meta.url), "utf8")
  const file = await readFile(new URL(name, import.meta.url), "utf8")
  expect(page).toContain(`\`\`\`ts\n// ${name}\n${file}\`\`\`\n`)
})
