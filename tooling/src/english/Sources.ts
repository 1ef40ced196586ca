/** Checks the prose of TypeScript, shell scripts, YAML and manifests. */
import { type EnglishFinding, makeLocator } from "./Finding.ts"
import type { Complaint, Passage } from "./Passage.ts"
import { complaintsAboutSentences } from "./Sentences.ts"
import { passagesInHashComments, passagesInManifest } from "./ShellAndManifest.ts"
import { passagesInTypeScript } from "./TypeScript.ts"
import { findWords } from "./Words.ts"

/** Separates two passages, so that no pattern matches across them. */
const border = "\n.\u0000\n"

export const findingsInSource = (file: string, text: string): ReadonlyArray<EnglishFinding> => {
  const locate = makeLocator(text)
  const language = languages.find(([, pattern]) => pattern.test(file))?.[0] ?? "sh"
  return complaintsInSource(language, text).map(({ at, ...complaint }) => ({ file, ...locate(at), ...complaint }))
}

/** A language as fenced code blocks name it; `sh` stands for all languages with `#` comments. */
export type Language = "ts" | "json" | "sh"

const languages: ReadonlyArray<readonly [Language, RegExp]> = [
  ["ts", /\.[cm]?[tj]sx?$/],
  ["json", /\.json$/]
]

/** Returns the complaints about a source text, with offsets in that text. */
export const complaintsInSource = (language: Language, text: string): ReadonlyArray<Complaint> => {
  const passages = readers[language](text)
  const sentences = passages.flatMap((passage) =>
    complaintsAboutSentences(passage).map((complaint) => ({ ...complaint, at: passage.start + complaint.at }))
  )
  const joined = join(passages)
  const words = findWords(joined.text).map(
    ({ at, found, say }): Complaint => ({ at: joined.offset(at), rule: "words", message: `"${found}"`, say })
  )
  return [...sentences, ...words]
}

const readers: Readonly<Record<Language, (text: string) => ReadonlyArray<Passage>>> = {
  ts: passagesInTypeScript,
  json: passagesInManifest,
  sh: passagesInHashComments
}

const join = (passages: ReadonlyArray<Passage>) => {
  const starts: Array<{ readonly joined: number; readonly start: number }> = []
  let text = ""
  for (const passage of passages) {
    starts.push({ joined: text.length, start: passage.start })
    text += passage.text + border
  }
  const offset = (at: number) => {
    const passage = starts.findLast(({ joined }) => joined <= at)
    return passage === undefined ? at : passage.start + at - passage.joined
  }
  return { text, offset }
}
