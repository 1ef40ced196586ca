/** Extracts the programs from the READMEs of packages. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Archive } from "./Archive.ts"

export interface Program {
  /** Source of the module, after the declarations of its comment. */
  readonly text: string
  /** True if the program can be run: it has no declarations in a comment and no `not run:` reason. */
  readonly isWhole: boolean
}

/** A program with an optional comment before it: `ts` and declarations, or `not run:` and the reason. */
const block = /(?:^<!-- (ts|not run:)(.*?)-->\n)?^```ts\n(.*?)^```$/gms

export const readPrograms = ({ staged }: Archive): ReadonlyArray<Program> =>
  [...readFileSync(join(staged, "README.md"), "utf8").matchAll(block)].map(([, kind, before = "", text = ""]) => ({
    text: kind === "ts" ? `${before.trim()}\n${text}` : text,
    isWhole: kind === undefined
  }))
