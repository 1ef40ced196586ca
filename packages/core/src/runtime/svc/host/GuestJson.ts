/** Parses untrusted JSON text of a guest, before host code receives it. */
import { Effect } from "effect"
import { isDeeper } from "../../../foundation/JsonDepth.ts"
import { Mismatch } from "./HostSchema.ts"

/** Maximum nesting of arrays and objects, so that recursive schemas and functions do not overflow the stack. */
const depthMax = 64

/**
 * Returns the parse value; undefined for an empty text. Fails for values nested deeper than 64 levels, and for the
 * property `__proto__`: merging such a value would change the prototype of an object.
 */
export const readGuestJson = (text: string): Effect.Effect<unknown, Mismatch> =>
  Effect.suspend(() => {
    if (text === "") return Effect.succeed(undefined)
    if (isDeeper(text, depthMax)) return new Mismatch({ reason: `the input is nested deeper than ${depthMax} levels` })
    return Effect.flatMap(parse(text), (value) =>
      // Only such texts can contain the name, plain or with escapes.
      (text.includes("__proto__") || text.includes("\\u")) && namesPrototype(value)
        ? new Mismatch({ reason: "no object of the input may have the name __proto__" })
        : Effect.succeed(value)
    )
  })

const parse = (text: string): Effect.Effect<unknown, Mismatch> =>
  Effect.try({ try: (): unknown => JSON.parse(text), catch: () => new Mismatch({ reason: "the input is not JSON" }) })

/** True if an object of the value has the property `__proto__`. The value must not be deep. */
const namesPrototype = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  (Object.hasOwn(value, "__proto__") || Object.values(value).some(namesPrototype))
