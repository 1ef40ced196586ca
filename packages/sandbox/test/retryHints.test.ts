/** Errors of functions that decide about further attempts, as the sandbox reports them. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { sandbox } from "../src/index.ts"
import { prepareTenant } from "./Tenant.ts"

const script = `
const thrown = (fields) => () => { throw Object.assign(new Error("no"), fields) }
export const plain = thrown({})
export const final = thrown({ nonRetryable: true })
export const namedFinal = thrown({ name: "NonRetryable", retryAfter: "soon" })
export const later = thrown({ retryAfter: 1500.7 })
export const muchLater = thrown({ retryAfter: "P2Y" })
export const overdue = thrown({ retryAfter: new Date(0) })
export const endless = thrown({ retryAfter: Infinity })
export const hostile = () => { throw new Proxy(new Error("no"), { get: () => { throw new Error("trap") } }) }
export const throwsNull = () => { throw null }
`

layer(sandbox({ runners: 1 }), { excludeTestServices: true, timeout: "60 seconds" })(
  "an error in the sandbox",
  (it) => {
    it.effect("has its instructions about further attempts", () =>
      Effect.gen(function* () {
        const tenant = yield* prepareTenant(61, script)
        const retryOf = (fn: string) =>
          Effect.map(tenant.call(fn), ({ outcome }) => (outcome._tag === "Threw" ? outcome.retry : outcome._tag))
        assert.deepStrictEqual(yield* retryOf("final"), { final: true, after_ms: null })
        assert.deepStrictEqual(yield* retryOf("namedFinal"), { final: true, after_ms: null })
        assert.deepStrictEqual(yield* retryOf("later"), { final: false, after_ms: 1500 })
        assert.deepStrictEqual(yield* retryOf("muchLater"), { final: false, after_ms: 365 * 24 * 3_600_000 })
        assert.deepStrictEqual(yield* retryOf("overdue"), { final: false, after_ms: 0 })
        for (const fn of ["plain", "endless", "hostile", "throwsNull"]) assert.isUndefined(yield* retryOf(fn), fn)
      })
    )
  }
)
