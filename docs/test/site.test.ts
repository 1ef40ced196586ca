/** The site has every page, and no link leads nowhere. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { describe, expect, it } from "vitest"
import { anchorOf } from "../.vitepress/anchorOf.ts"
import { sections } from "../.vitepress/Pages.ts"
import { referencePages } from "../scripts/ReferencePages.ts"
import { pages, readPage, root } from "./blocks/Page.ts"

const written = pages().filter((page) => page.startsWith("docs/"))

/** Pages, and what stands beside the README: they lead to each other. */
const linked = [...pages(), ...readdirSync(root).filter((file) => file.endsWith(".md") && file !== "README.md")]

/** Text without code, where nothing is a link or a heading. */
const proseOf = (page: string): string => readPage(page).replace(/^( *)(```+)[\s\S]*?^\1\2 *$/gm, "")

/** What a heading reads as: links by their text, code without its backticks. */
const shown = (heading: string): string => heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[`*]/g, "")

const anchorsOf = (page: string): ReadonlySet<string> =>
  new Set([...proseOf(page).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = ""]) => anchorOf(shown(heading))))

/** Links within the repository, images too. */
const linksOf = (page: string): ReadonlyArray<{ readonly file: string; readonly anchor: string | undefined }> => {
  const prose = proseOf(page).replace(/(`+)[^`]*\1/g, "")
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = ""]) => {
    if (/^[a-z]+:/.test(target)) return []
    const [path = "", anchor] = target.split("#")
    return [{ file: path === "" ? page : normalize(join(dirname(page), path)), anchor }]
  })
}

describe("the site", () => {
  it("has each page in one place of its sidebar", () => {
    const listed = sections.flatMap((section) => section.pages.map(({ file }) => `docs/${file}`))
    expect([...listed].sort()).toEqual([...written].sort())
  })

  it("names every page on its first one", () => {
    const named = new Set(linksOf("docs/README.md").map(({ file }) => file))
    const missing = written.filter(
      (page) => !page.startsWith("docs/http/") && page !== "docs/README.md" && !named.has(page)
    )
    expect(missing).toEqual([])
  })

  it("leads only to pages of its own, as what is beside them is not on it", () => {
    const outside = written.flatMap((page) =>
      linksOf(page).flatMap(({ file }) => (file.startsWith("docs/") ? [] : [`${page}: ${file}`]))
    )
    expect(outside).toEqual([])
  })

  it("has a title on every page, and each once", () => {
    const titles = written.map((page) => /^# (.+)$/m.exec(readPage(page))?.[1] ?? page)
    expect(titles.filter((title, index) => /\.md$/.test(title) || titles.indexOf(title) !== index)).toEqual([])
  })
})

describe("links", () => {
  it("lead to files and headings that are there", () => {
    const dead = linked.flatMap((page) =>
      linksOf(page).flatMap(({ file, anchor }) => {
        if (!existsSync(join(root, file))) return [`${page}: ${file}`]
        return anchor === undefined || !file.endsWith(".md") || anchorsOf(file).has(anchor)
          ? []
          : [`${page}: ${file}#${anchor}`]
      })
    )
    expect(dead).toEqual([])
  })
})

describe("the HTTP reference", () => {
  it("is what follows from openapi.json: npm run reference -w docs", () => {
    const folder = join(root, "docs/http")
    const files = readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), "utf8")] as const)
    expect(new Map(files)).toEqual(referencePages())
  })
})
