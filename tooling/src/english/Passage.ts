/** A piece of prose in a file. */
export interface Passage {
  readonly kind: "docstring" | "comment" | "string" | "title" | "paragraph" | "heading"
  /** Offset of `text` in the file. */
  readonly start: number
  /** The prose, as long as its source: markup and line prefixes are blanked, code spans are one word each. */
  readonly text: string
  /** True for the first passage of a docstring and for the description of each of its tags. */
  readonly opens: boolean
}

/** A rule's complaint about a place in a passage. */
export interface Complaint {
  /** Offset in the passage's text. */
  readonly at: number
  readonly rule: "words" | "opening" | "subject" | "length"
  readonly message: string
  readonly say: string
}

/** Replaces every character but line breaks with a space, so that offsets stay. */
export const blank = (text: string): string => text.replace(/[^\n]/g, " ")

/** Replaces a span by one word of the same length. */
export const oneWord = (text: string): string => "x".repeat(text.length)

/** Makes code spans, links and addresses one word each. */
export const maskCode = (text: string): string =>
  text
    .replace(/(`+)[\s\S]*?\1(?!`)/g, oneWord)
    .replace(/\{@\w+[^}]*\}/g, oneWord)
    .replace(/\bhttps?:\/\/[^\s)>\]]+/g, oneWord)
