/** Parses JSON typed by a user. */
import type { Json } from "@weft/client"
import { Result } from "effect"

export interface JsonError {
  /** The end of a sentence whose subject is the argument: "not JSON: …". */
  readonly message: string
  readonly remedy: string | null
}

export const parseJsonText = (text: string): Result.Result<Json, JsonError> => {
  try {
    const value: Json = JSON.parse(text)
    return Result.succeed(value)
  } catch {
    return Result.fail({
      message: `not JSON: ${excerpt(text)}`,
      remedy: isUnquotedText(text) ? `for text, write '${JSON.stringify(text)}'` : null
    })
  }
}

/** True if the input looks like unquoted text, not like JSON with a syntax error. */
const isUnquotedText = (text: string): boolean => /^[^\s{["'][^\n']*$/.test(text)

const excerpt = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text)
