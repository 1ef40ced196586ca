/** Edits of a text by positions, and helpers for the syntax tree. */
import type { AnyNode, Pattern } from "acorn"

export interface Edit {
  readonly start: number
  /** Exclusive; `start` to insert only. */
  readonly end: number
  readonly text: string
}

/** Returns the text between two positions after edits within it. Of edits that overlap, the first one counts. */
export const renderEdits = (source: string, edits: ReadonlyArray<Edit>, start: number, end: number): string => {
  // A sort is stable: edits at one position keep their order, but insertions come first.
  const sorted = [...edits].sort((a, b) => a.start - b.start || Number(a.end > a.start) - Number(b.end > b.start))
  let text = ""
  let at = start
  for (const edit of sorted) {
    if (edit.start < at) continue
    text += source.slice(at, edit.start) + edit.text
    at = edit.end
  }
  return text + source.slice(at, end)
}

/** Returns the names that a pattern binds. */
export const collectNames = (pattern: Pattern): ReadonlyArray<string> => {
  switch (pattern.type) {
    case "Identifier":
      return [pattern.name]
    case "ObjectPattern":
      return pattern.properties.flatMap((property) =>
        collectNames(property.type === "RestElement" ? property.argument : property.value)
      )
    case "ArrayPattern":
      return pattern.elements.flatMap((element) => (element === null ? [] : collectNames(element)))
    case "AssignmentPattern":
      return collectNames(pattern.left)
    case "RestElement":
      return collectNames(pattern.argument)
    default:
      return []
  }
}

/** Number of line breaks. */
export const countLines = (text: string): number => text.split("\n").length - 1

export const isNode = (value: unknown): value is AnyNode =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"
