/** JSON that somebody has typed. */
import type { Json } from "@weft/client"
import { Result } from "effect"

export interface NoJson {
  /** To follow a name: "no JSON: …". */
  readonly message: string
  readonly remedy: string | null
}

export const jsonOf = (text: string): Result.Result<Json, NoJson> => {
  try {
    const value: Json = JSON.parse(text)
    return Result.succeed(value)
  } catch {
    return Result.fail({
      message: `not JSON: ${excerpt(text)}`,
      remedy: isWord(text) ? `for text, write '${JSON.stringify(text)}'` : null
    })
  }
}

/** What somebody meant as a text, rather than as an object that has a mistake in it. */
const isWord = (text: string): boolean => /^[^\s{["'][^\n']*$/.test(text)

const excerpt = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text)
