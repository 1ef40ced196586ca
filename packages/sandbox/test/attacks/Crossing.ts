/** Tries each value of `crossings.ts` at each place. */
import { Effect } from "effect"
import { prepareTenant } from "../Tenant.ts"
import { contained } from "./Attack.ts"
import type { AttackHarness } from "./AttackHarness.ts"
import { crossingScript, places, values } from "./crossings.ts"

export interface Crossed {
  readonly crossed: number
  readonly faults: ReadonlyArray<string>
}

/**
 * Each place has its own tenant, so that one broken isolate does not hide another. `thorough` tries each value at each
 * place. Otherwise it tries a fifth of these, with every value and every place several times.
 */
export const cross = Effect.fnUntraced(function* ({ call, tenant, victims }: AttackHarness, thorough: boolean) {
  const { artifact } = yield* prepareTenant(3, crossingScript)
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
      const { execution, faults: leaks } = yield* call(guest, `place${index}`, { svc, trigger, timeoutMs: 1000 })
      const { outcome } = execution
      const fault = contained(outcome)
      if (fault !== undefined) faults.push(`${name} as ${place} ${fault}`)
      if (outcome._tag === "Returned" && !isJson(outcome.output)) faults.push(`${name} as ${place} is not JSON`)
      faults.push(...leaks.map((text) => `${name} as ${place}: ${text}`))
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
