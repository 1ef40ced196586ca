/** The words of a Markdown text, blocks on lines of their own, without markup. HTML in it is dropped. */
import { marked, type Token } from "marked"

export const plainText = (markdown: string): string =>
  marked
    .lexer(markdown)
    .map(wordsOf)
    .map((block) => block.trim())
    .filter((block) => block !== "")
    .join("\n")

const wordsOf = (token: Token): string => {
  if (token.type === "html" || token.type === "hr" || token.type === "space") return ""
  if (token.type === "br") return "\n"
  const inner = innerTokens(token).map(wordsOf)
  if (inner.length > 0) return inner.join(separators.get(token.type) ?? "")
  return "text" in token && typeof token.text === "string" ? token.text : ""
}

/** Between the parts of a block that marked does not separate by a token. */
const separators: ReadonlyMap<string, string> = new Map([
  ["list", "\n"],
  ["blockquote", "\n"],
  ["table", " "]
])

/** Lists keep theirs in `items`, tables in `header` and `rows`, everything else in `tokens`. */
const innerTokens = (token: Token): ReadonlyArray<Token> =>
  ["tokens", "items", "header", "rows"].flatMap((key) => {
    const inner: unknown = Reflect.get(token, key)
    return Array.isArray(inner) ? inner.flat() : []
  })
