/** Tries each value of `crossings.ts` at each place. */
import { Effect } from "effect"
import { tenantOf } from "../Tenant.ts"
import { contained } from "./Attack.ts"
import { crossingScript, places, values } from "./crossings.ts"
import type { Range } from "./Range.ts"

export interface Crossed {
  readonly crossed: number
  readonly faults: ReadonlyArray<string>
}

/**
 * A tenant for each place, so that what breaks one isolate does not hide what breaks another. `thorough`: each value at
 * each place; else a fifth of these, every value and every place several times.
 */
export const cross = Effect.fnUntraced(function* ({ call, tenant, victims }: Range, thorough: boolean) {
  const { artifact } = yield* tenantOf(3, crossingScript)
  const names = Object.keys(values)
  let crossed = 0
  const atPlace = Effect.fnUntraced(function* (place: string, index: number) {
    const guest = tenant(artifact)
    const trigger = places[place]?.trigger ?? "event"
    const faults: Array<string> = []
    for (const [value, name] of names.entries()) {
      if (!thorough && (value + index) % 5 !== 0) continue
      crossed++
      const svc = { event: { value }, request: { value }, run: {} }
      const { execution, faults: heard } = yield* call(guest, `place${index}`, { svc, trigger, timeoutMs: 1000 })
      const { outcome } = execution
      const fault = contained(outcome)
      if (fault !== undefined) faults.push(`${name} as ${place} ${fault}`)
      if (outcome._tag === "Returned" && !isJson(outcome.output)) faults.push(`${name} as ${place} is no JSON`)
      faults.push(...heard.map((text) => `${name} as ${place}: ${text}`))
    }
    return faults
  })
  const faults = yield* Effect.forEach(Object.keys(places), atPlace, { concurrency: 4 })
  return { crossed, faults: [...faults.flat(), ...victims.failed] } satisfies Crossed
})

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
