/** The prose of TypeScript or JavaScript: comments, and literals that read like prose. */
import { parseSync } from "oxc-parser"
import { passagesInComments } from "./Comments.ts"
import { passagesInLiterals } from "./Literals.ts"
import type { Passage } from "./Passage.ts"

export const passagesInTypeScript = (text: string): ReadonlyArray<Passage> => {
  const { comments, program } = parseSync("source.ts", text, { sourceType: "module", lang: "ts" })
  return [...passagesInComments(text, comments), ...passagesInLiterals(text, program)]
}
