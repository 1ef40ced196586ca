/** The site that VitePress makes of the pages. Nothing in it asks anything of another host. */
import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { anchorOf } from "./anchorOf.ts"
import { sections } from "./Pages.ts"

/** `api.md` is at `/api`, and the `README.md` of a folder at the folder. */
const addressOf = (file: string): string => `/${file.replace(/(README)?\.md$/, "")}`

/** As much of markdown-it as is touched here. */
interface Markdown {
  readonly utils: { readonly escapeHtml: (text: string) => string }
  readonly renderer: {
    readonly rules: Record<string, (tokens: ReadonlyArray<{ readonly content: string }>, index: number) => string>
  }
}

/** `<project_id>` in a page is the name of something, which GitHub shows as text only within backticks, and Vue never. */
const escapePlaceholders = ({ utils, renderer }: Markdown): void => {
  renderer.rules.html_inline = (tokens, index) => {
    const content = tokens[index]?.content ?? ""
    return /^<(!--|\/?(br|img|picture|source)\b)/.test(content) ? content : utils.escapeHtml(content)
  }
}

export default {
  lang: "en",
  title: "Weft",
  description: "Workflow automation that mounts inside your own Node process",
  cleanUrls: true,
  rewrites: { "README.md": "index.md", ":folder/README.md": ":folder/index.md" },
  // Not pages: what the build and the tests are made of.
  srcExclude: ["test/**", "scripts/**"],
  markdown: { anchor: { slugify: anchorOf }, config: escapePlaceholders },
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
