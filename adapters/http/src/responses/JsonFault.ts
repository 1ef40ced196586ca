/**
 * Finds the position of a JSON syntax error. `JSON.parse` reports a position only for some errors, and its message
 * quotes the text, which must not appear in a response.
 */

/** Returns line and column, both from 1, of the first invalid character, or null for valid JSON. */
export const findJsonFault = (text: string): { readonly line: number; readonly column: number } | null => {
  const at = faultIndex(text)
  if (at === null) return null
  const before = text.slice(0, at).split("\n")
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 }
}

const space = /[ \t\n\r]*/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: a string of JSON must not have them
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const literal = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y

/** The next valid token. The parser keeps a stack instead of recursing, because the sender controls the nesting. */
type Expected = "value" | "value or ]" | "name" | "name or }" | ":" | "more" | "end"

const faultIndex = (text: string): number | null => {
  const open: Array<"{" | "["> = []
  let expected: Expected = "value"
  let at = 0
  const skip = (pattern: RegExp): string => {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0] ?? ""
    at += found.length
    return found
  }
  const afterValue = (): Expected => (open.length === 0 ? "end" : "more")
  while (true) {
    skip(space)
    const next = text[at]
    if (expected === "end") return at === text.length ? null : at
    if (next === undefined) return at
    const closes = (next === "]" && open.at(-1) === "[") || (next === "}" && open.at(-1) === "{")
    if (closes && (expected === "more" || expected === "value or ]" || expected === "name or }")) {
      open.pop()
      at++
      expected = afterValue()
    } else if (expected === "more" && next === ",") {
      at++
      expected = open.at(-1) === "{" ? "name" : "value"
    } else if (expected === ":" && next === ":") {
      at++
      expected = "value"
    } else if ((expected === "name" || expected === "name or }") && skip(string) !== "") {
      expected = ":"
    } else if ((expected === "value" || expected === "value or ]") && (next === "{" || next === "[")) {
      open.push(next)
      at++
      expected = next === "{" ? "name or }" : "value or ]"
    } else if ((expected === "value" || expected === "value or ]") && skip(next === '"' ? string : literal) !== "") {
      expected = afterValue()
    } else {
      return at
    }
  }
}
