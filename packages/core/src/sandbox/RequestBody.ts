/** The body of a request on its way to a function: one text, though the function gets two things that are made of it. */
export interface RequestBody {
  /** What the function gets as `body-raw`. */
  readonly text: string
  /** What it gets as `body`: the text as JSON, or as it is where it is none; the text as it is; or what the facts say. */
  readonly as: "json" | "text" | "given"
}

/** What of the request is made of its body; `given` is what the facts have for `body`. */
export const bodyFacts = ({ text, as }: RequestBody, given: unknown): { body: unknown; "body-raw": string } => ({
  body: as === "json" ? jsonOrText(text) : as === "text" ? text : given,
  "body-raw": text
})

const jsonOrText = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
