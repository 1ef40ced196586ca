/** JSON text from a guest, before anything of the host sees it. */
import { Effect } from "effect"
import { Mismatch } from "./HostSchema.ts"

/** Arrays and objects within each other: schemas and functions that recurse must not run out of stack. */
const depthMax = 64

/**
 * The value of the text; nothing, of an empty one. Refuses what is nested deeper than 64 levels, and names that would
 * change the prototype of an object which the value is merged into.
 */
export const readGuestJson = (text: string): Effect.Effect<unknown, Mismatch> =>
  Effect.suspend(() => {
    if (text === "") return Effect.succeed(undefined)
    if (isDeep(text)) return new Mismatch({ reason: `the input is nested deeper than ${depthMax} levels` })
    return Effect.flatMap(parsed(text), (value) =>
      // Only these texts can hold the name, plain or with escapes.
      (text.includes("__proto__") || text.includes("\\u")) && namesPrototype(value)
        ? new Mismatch({ reason: "no object of the input may have the name __proto__" })
        : Effect.succeed(value)
    )
  })

const parsed = (text: string): Effect.Effect<unknown, Mismatch> =>
  Effect.try({ try: (): unknown => JSON.parse(text), catch: () => new Mismatch({ reason: "the input is not JSON" }) })

const codes = { quote: 34, backslash: 92, bracket: 91, bracketEnd: 93, brace: 123, braceEnd: 125 }

/** Of text that may be no JSON at all. */
const isDeep = (text: string): boolean => {
  let depth = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (inString) {
      if (code === codes.backslash) at++
      else if (code === codes.quote) inString = false
    } else if (code === codes.quote) inString = true
    else if (code === codes.bracket || code === codes.brace) {
      if (++depth > depthMax) return true
    } else if (code === codes.bracketEnd || code === codes.braceEnd) depth--
  }
  return false
}

/** Of a value that is not deep. */
const namesPrototype = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  (Object.hasOwn(value, "__proto__") || Object.values(value).some(namesPrototype))
