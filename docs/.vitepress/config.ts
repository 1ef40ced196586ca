/** The site that VitePress makes of the pages. Nothing in it asks anything of another host. */
import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { slug } from "github-slugger"
import { sections } from "./Pages.ts"

/** `api.md` is at `/api`, and the `README.md` of a folder at the folder. */
const addressOf = (file: string): string => `/${file.replace(/(README)?\.md$/, "")}`

/** As much of markdown-it as is touched here. */
interface Token {
  tag: string
  readonly type: string
  readonly content: string
  readonly attrGet: (name: string) => string | null
  readonly attrSet: (name: string, value: string) => void
}
type Rule = (tokens: ReadonlyArray<Token>, index: number, ...rest: ReadonlyArray<unknown>) => string
interface Markdown {
  readonly utils: { readonly escapeHtml: (text: string) => string }
  readonly renderer: { readonly rules: Record<string, Rule | undefined> }
}

const asOnGitHub = ({ utils, renderer }: Markdown): void => {
  const { link_open: open } = renderer.rules
  // A placeholder such as <project_id> looks like HTML, and Vue would treat it as a component.
  renderer.rules.html_inline = (tokens, index) => {
    const content = tokens[index]?.content ?? ""
    return /^<(!--|\/?(br|img|picture|source)\b)/.test(content) ? content : utils.escapeHtml(content)
  }
  renderer.rules.link_open = (tokens, index, ...rest) => {
    const token = tokens[index]
    if (token === undefined) return ""
    const target = token.attrGet("href") ?? ""
    const end = tokens.slice(index).find(({ type }) => type === "link_close")
    // A cited test is outside of the site: its name is a tooltip.
    if (target.endsWith(".test.ts") && end !== undefined) {
      end.tag = "abbr"
      const name = `${target.replace(/^(\.\.\/)+/, "")} › ${token.attrGet("title") ?? ""}`
      return `<abbr title="${utils.escapeHtml(name)}">`
    }
    // The README of a folder is its first page.
    token.attrSet("href", target.replace(/README\.md(?=#|$)/, "index.md"))
    return open?.(tokens, index, ...rest) ?? ""
  }
}

export default {
  lang: "en",
  title: "Weft",
  description: "Workflow automation that mounts inside your own Node process",
  cleanUrls: true,
  rewrites: { "README.md": "index.md", ":folder/README.md": ":folder/index.md" },
  // Not pages: what the build and the tests are made of.
  srcExclude: ["test/**", "scripts/**", "api-reports/**"],
  // Links to headings are the same here and on GitHub.
  markdown: { anchor: { slugify: (heading: string) => slug(heading) }, config: asOnGitHub },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    sidebar: sections.map(({ text, pages }) => ({
      text,
      collapsed: text === "HTTP reference",
      items: pages.map((page) => ({ text: page.text, link: addressOf(page.file) }))
    }))
  },
  buildEnd: ({ srcDir, outDir }: { readonly srcDir: string; readonly outDir: string }) =>
    copyFileSync(join(srcDir, "openapi.json"), join(outDir, "openapi.json"))
}
