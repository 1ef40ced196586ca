/** The body of a request for a function. It is passed as one text, from which the sandbox makes two fields. */
export interface RequestBody {
  /** The field `body-raw`. */
  readonly text: string
  /**
   * Source of the field `body`: the text as JSON if possible, as text, as a form, or the value in the facts. A stranger chooses the text, so only the sandbox parses it.
   */
  readonly as: "json" | "text" | "form" | "given"
}

// All runtimes have it, but TypeScript declares it only with a platform's types, which core does not use.
declare const URLSearchParams: new (text: string) => Iterable<[string, string]>

/** Returns the fields of the request that are made from its body. `given` is the value of `body` in the facts. */
export const bodyFacts = ({ text, as }: RequestBody, given: unknown): { body: unknown; "body-raw": string } => ({
  body: as === "given" ? given : parseBody(text, as),
  "body-raw": text
})

const parseBody = (text: string, as: "json" | "text" | "form"): unknown => {
  switch (as) {
    case "json":
      return jsonOrText(text)
    case "form":
      return Object.fromEntries(new URLSearchParams(text))
    case "text":
      return text
  }
}

const jsonOrText = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
