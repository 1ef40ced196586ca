/** Rules about sentences: how a docstring opens, what a sentence begins with, and how long it is. */
import { SentenceSplitterSyntax, split } from "sentence-splitter"
import type { Complaint, Passage } from "./Passage.ts"

/** Maximum words of a sentence. A code span, a link's address and an expression of a template are one word each. */
const wordsPerSentenceMax = 25

const relative = /^\W*(Who|What|Whether|How|Where|That|Which|When|Whoever|Whose|Whom|If)\b/
const subject = /^\W*(Who|Whoever|What|Whatever)\b/i
const beginsRelative = /(?:^|[.!?:]\W*\s)\W*(?:who|whoever|what|whatever)\b/i

export const complaintsAboutSentences = (passage: Passage): ReadonlyArray<Complaint> => {
  const opening = openingOf(passage)
  const mayBeLong = passage.kind !== "title" && passage.kind !== "string" && passage.kind !== "heading"
  const words = mayBeLong ? countWords(passage.text) : 0
  if (words <= wordsPerSentenceMax && !beginsRelative.test(passage.text)) return opening
  const complaints = [...opening]
  for (const { at, text } of sentencesIn(passage.text)) {
    const first = subject.exec(text)?.[1]
    if (
      first !== undefined &&
      !isQuestion(text) &&
      passage.kind !== "heading" &&
      !(opening.length > 0 && passage.text.slice(0, at).trim() === "")
    ) {
      complaints.push({
        at: at + text.search(/\w/),
        rule: "subject",
        message: `begins with "${first}"`,
        say: "the noun first: the client, the node, the value"
      })
    }
    const count = mayBeLong ? countWords(text) : 0
    if (count > wordsPerSentenceMax) {
      complaints.push({
        at: at + Math.max(0, text.search(/\S/)),
        rule: "length",
        message: `a sentence of ${count} words, more than ${wordsPerSentenceMax}`,
        say: "two sentences, or a list"
      })
    }
  }
  return complaints
}

const openingOf = ({ kind, opens, text }: Passage): ReadonlyArray<Complaint> => {
  const first = kind === "docstring" && opens ? relative.exec(text)?.[1] : undefined
  if (first === undefined) return []
  return [
    {
      at: text.search(/\w/),
      rule: "opening",
      message: `a docstring opens with "${first}"`,
      say: '"Returns ...", a noun phrase, or "True if ..."'
    }
  ]
}

const isQuestion = (text: string): boolean => /\?\W*$/.test(text)

const countWords = (text: string): number => text.match(/[^\s]*[\p{L}\p{N}][^\s]*/gu)?.length ?? 0

/** Returns the sentences of a text with their offsets. The splitter takes "403." for the start of a list, so its last digit is masked. */
const sentencesIn = (text: string): ReadonlyArray<{ readonly at: number; readonly text: string }> =>
  split(text.replace(/\d(?=\.\s)/g, "n"))
    .filter(({ type }) => type === SentenceSplitterSyntax.Sentence)
    .map(({ range, raw }) => ({ at: range[0], text: raw }))
