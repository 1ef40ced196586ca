/** The programs that the READMEs of packages show. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Archive } from "./Archive.ts"

export interface Program {
  /** A module, with what its comment declares before it. */
  readonly text: string
  /** Whether it is whole: nothing is declared for it, and no reason given not to run it. */
  readonly isWhole: boolean
}

/** A comment may stand before a program: `ts` and declarations that it needs, or `not run:` and why. */
const block = /(?:^<!-- (ts|not run:)(.*?)-->\n)?^```ts\n(.*?)^```$/gms

export const programsOf = ({ staged }: Archive): ReadonlyArray<Program> =>
  [...readFileSync(join(staged, "README.md"), "utf8").matchAll(block)].map(([, kind, before = "", text = ""]) => ({
    text: kind === "ts" ? `${before.trim()}\n${text}` : text,
    isWhole: kind === undefined
  }))
