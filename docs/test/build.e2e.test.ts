/** The site is made without a network, asks nothing of other hosts, and finds what is on its pages. */
import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { sections } from "../.vitepress/Pages.ts"
import { root } from "./blocks/Page.ts"

const folder = mkdtempSync(join(tmpdir(), "weft-site-"))
let files: ReadonlyArray<string> = []
beforeAll(async () => {
  const vitepress = join(root, "node_modules/vitepress/bin/vitepress.js")
  await promisify(execFile)(process.execPath, [vitepress, "build", join(root, "docs"), "--outDir", folder])
  files = readdirSync(folder, { recursive: true, encoding: "utf8" })
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe("the site", () => {
  it("has a page for each of its sidebar, and the document of the API", () => {
    const addresses = sections.flatMap(({ pages }) =>
      pages.map(({ file }) => file.replace(/README\.md$/, "index.md").replace(/\.md$/, ".html"))
    )
    expect(files).toEqual(expect.arrayContaining([...addresses, "openapi.json"]))
  })

  it("loads nothing from elsewhere", () => {
    for (const file of files.filter((name) => name.endsWith(".html"))) {
      const loaded = [
        ...readFileSync(join(folder, file), "utf8").matchAll(/<(?:script|link|img)\b[^>]*?(?:src|href)="([^"]+)"/g)
      ]
      expect(loaded.length, file).toBeGreaterThan(0)
      for (const [, address = ""] of loaded) expect(address, file).toMatch(/^(\/(?!\/)|data:)/)
    }
    for (const file of files.filter((name) => name.endsWith(".css"))) {
      expect(readFileSync(join(folder, file), "utf8")).not.toMatch(/url\(["']?(https?:)?\/\//)
    }
  })

  it("can be searched", () => {
    const index = files.find((file) => /localSearchIndex/.test(file)) ?? ""
    expect(readFileSync(join(folder, index), "utf8")).toMatch(/nodelost/i)
  })
})
