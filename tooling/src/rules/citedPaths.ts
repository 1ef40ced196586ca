/**
 * Pages about the code must cite what exists: file paths and names in backticks, and names in diagrams.
 *
 * A path begins with a folder of the root, or ends like a file. `*` stands for any characters but a slash. Text with a
 * placeholder, such as `adapters/<name>`, is not checked.
 */
import type { Finding } from "../Finding.ts"
import type { Repository } from "../Repository.ts"

const isPage = (path: string): boolean =>
  ["ARCHITECTURE.md", "CONTRIBUTING.md", "STYLE.md", "docs/glossary.md", "docs/embedding.md"].includes(path) ||
  /^docs\/design\/[^/]+\.md$/.test(path)

export const citedPaths = ({ texts }: Repository): ReadonlyArray<Finding> => {
  const pages = [...texts.keys()].filter(isPage)
  if (pages.length === 0) return []
  const exists = pathLookup([...texts.keys()])
  const isName = nameLookup(texts)
  return pages.flatMap((file) =>
    citationsIn(texts.get(file) ?? "").flatMap(({ text, line }) => {
      if (isPath(text)) {
        return exists(text) ? [] : [{ file, line, rule: "cited-path", message: `${text} does not exist` }]
      }
      return namesIn(text)
        .filter((name) => !isName(name))
        .map((name) => ({ file, line, rule: "cited-path", message: `no source has the name ${name}` }))
    })
  )
}

interface Citation {
  readonly text: string
  readonly line: number
}

/** Returns the texts in backticks, and the words of fenced blocks without a language. */
const citationsIn = (page: string): ReadonlyArray<Citation> => {
  const found: Array<Citation> = []
  let fence: string | null = null
  for (const [index, content] of page.split("\n").entries()) {
    const marker = /^```(\w*)/.exec(content)
    if (marker !== null) fence = fence === null ? (marker[1] ?? "") : null
    else if (fence === null) {
      for (const [, text = ""] of content.matchAll(/`([^`]+)`/g)) found.push({ text, line: index + 1 })
    } else if (fence === "") {
      for (const [text] of content.matchAll(/[A-Z][\w.]*\w/g)) found.push({ text, line: index + 1 })
    }
  }
  return found
}

const fileLike = /\w\.(?:ts|mts|tsx|js|mjs|json|md|svg|sql|yml|yaml)$/
const rootFolders = /^(?:packages|adapters|examples|bench|proof|docs|tooling|\.github)\//

const isPath = (text: string): boolean => /^[\w@.*/-]+$/.test(text) && (fileLike.test(text) || rootFolders.test(text))

/** Returns a predicate: true for a tracked file, by its path or the end of it, and for a folder of tracked files. */
const pathLookup = (paths: ReadonlyArray<string>): ((cited: string) => boolean) => {
  const all = paths.map((path) => `/${path}`)
  return (cited) => {
    const pattern = cited.replace(/\/$/, "").replace(/[.]/g, "\\.").replace(/\*/g, "[^/]*")
    const start = rootFolders.test(cited) ? "^/" : "/"
    const matcher = new RegExp(`${start}${pattern}(?:/|$)`)
    return all.some((path) => matcher.test(path))
  }
}

/** Returns the identifiers of a text such as `Events.publish` that are certainly names: those with a capital inside. */
const namesIn = (text: string): ReadonlyArray<string> =>
  /^[A-Za-z][\w.]*(?:\(\))?$/.test(text)
    ? text.split(/[.()]/).filter((name) => /^[A-Za-z]+[a-z][A-Z]\w*$/.test(name))
    : []

/** Returns a predicate: true for an identifier that occurs in a source or test. */
const nameLookup = (texts: Repository["texts"]): ((name: string) => boolean) => {
  const words = new Set<string>()
  for (const [path, text] of texts) {
    if (/\.[cm]?tsx?$/.test(path)) for (const [word] of text.matchAll(/[A-Za-z]\w*/g)) words.add(word)
  }
  return (name) => words.has(name)
}
