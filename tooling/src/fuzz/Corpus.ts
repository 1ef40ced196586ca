/** Stored inputs of a target: written by hand, found because they reached new code, or found because they failed. */
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const corpora = fileURLToPath(new URL("../../../proof/corpora", import.meta.url))

/** File that describes the inputs that failed. */
const notes = "FOUND.md"

const entryBytesMax = 4096
const entriesMax = 60

export interface Corpus {
  readonly entries: ReadonlyMap<string, Uint8Array>
  /** Stores an input that failed, with its failure, and returns its name. */
  readonly keepFound: (input: Uint8Array, what: string) => string
  /** Stores an input that reached new code, if it has at most 4 KiB and the corpus less than 60 entries. */
  readonly keepNew: (input: Uint8Array) => void
}

export const openCorpus = (target: string): Corpus => {
  const folder = join(corpora, target)
  const entries = new Map<string, Uint8Array>()
  for (const name of existsSync(folder) ? readdirSync(folder).sort() : []) {
    if (name !== notes) entries.set(name, readFileSync(join(folder, name)))
  }
  const write = (name: string, input: Uint8Array): void => {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, name), input)
    entries.set(name, input)
  }
  return {
    entries,
    keepFound: (input, what) => {
      const name = `found-${hashOf(input)}`
      if (entries.has(name)) return name
      write(name, input)
      writeFileSync(join(folder, notes), `- \`${name}\`: ${what.replace(/\s+/g, " ").slice(0, 300)}\n`, { flag: "a" })
      return name
    },
    keepNew: (input) => {
      if (input.length <= entryBytesMax && entries.size < entriesMax) write(`new-${hashOf(input)}`, input)
    }
  }
}

const hashOf = (input: Uint8Array): string => createHash("sha256").update(input).digest("hex").slice(0, 12)
