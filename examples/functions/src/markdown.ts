/** Converts Markdown to plain text with one line per block. HTML in it is dropped. */
import { marked, type Token } from "marked"

export const plainText = (markdown: string): string =>
  marked
    .lexer(markdown)
    .map(toText)
    .map((block) => block.trim())
    .filter((block) => block !== "")
    .join("\n")

const toText = (token: Token): string => {
  if (token.type === "html" || token.type === "hr" || token.type === "space") return ""
  if (token.type === "br") return "\n"
  const inner = innerTokens(token).map(toText)
  if (inner.length > 0) return inner.join(separators.get(token.type) ?? "")
  return "text" in token && typeof token.text === "string" ? token.text : ""
}

/** Separators for parts of a block between which marked has no token. */
const separators: ReadonlyMap<string, string> = new Map([
  ["list", "\n"],
  ["blockquote", "\n"],
  ["table", " "]
])

/** Returns the inner tokens: `items` of lists, `header` and `rows` of tables, otherwise `tokens`. */
const innerTokens = (token: Token): ReadonlyArray<Token> =>
  ["tokens", "items", "header", "rows"].flatMap((key) => {
    const inner: unknown = Reflect.get(token, key)
    return Array.isArray(inner) ? inner.flat() : []
  })
