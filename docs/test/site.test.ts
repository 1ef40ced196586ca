/** The site has every page. `npm run lint:links` checks where its links lead. */
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { describe, expect, it } from "vitest"
import { sections } from "../.vitepress/Pages.ts"
import { referencePages } from "../scripts/ReferencePages.ts"
import { pages, readPage, root } from "./blocks/Page.ts"

const written = pages().filter((page) => page.startsWith("docs/"))

/** Returns the files that a page links to or shows, without those in code. */
const linkedFiles = (page: string): ReadonlyArray<string> => {
  const prose = readPage(page)
    .replace(/^( *)(```+)[\s\S]*?^\1\2 *$/gm, "")
    .replace(/(`+)[^`]*\1/g, "")
  return [...prose.matchAll(/\]\(([^)\s#]+)/g)].flatMap(([, path = ""]) =>
    /^[a-z]+:/.test(path) ? [] : [normalize(join(dirname(page), path))]
  )
}

describe("the site", () => {
  it("lists each page once in the sidebar", () => {
    const listed = sections.flatMap((section) => section.pages.map(({ file }) => `docs/${file}`))
    expect([...listed].sort()).toEqual([...written].sort())
  })

  it("links every page from its first page", () => {
    const named = new Set(linkedFiles("docs/README.md"))
    const missing = written.filter(
      (page) => !page.startsWith("docs/http/") && page !== "docs/README.md" && !named.has(page)
    )
    expect(missing).toEqual([])
  })

  it("links only to its own pages, and to the tests that the specification cites", () => {
    const isCited = (page: string, file: string) => page === "docs/specification.md" && file.endsWith(".test.ts")
    const outside = written.flatMap((page) =>
      linkedFiles(page).flatMap((file) => (file.startsWith("docs/") || isCited(page, file) ? [] : [`${page}: ${file}`]))
    )
    expect(outside).toEqual([])
  })

  it("has a unique title on every page", () => {
    const titles = written.map((page) => /^# (.+)$/m.exec(readPage(page))?.[1] ?? page)
    expect(titles.filter((title, index) => /\.md$/.test(title) || titles.indexOf(title) !== index)).toEqual([])
  })
})

describe("the HTTP reference", () => {
  it("is what follows from openapi.json: npm run reference -w docs", () => {
    const folder = join(root, "docs/http")
    const files = readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), "utf8")] as const)
    expect(new Map(files)).toEqual(referencePages())
  })
})
