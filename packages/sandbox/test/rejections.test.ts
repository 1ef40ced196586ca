/** Errors that no code of a function handles. */
import { assert, describe, layer } from "@effect/vitest"
import { sandbox } from "@weft/sandbox"
import { Effect } from "effect"
import { prepareTenant } from "./Tenant.ts"

const script = `
  const seen = []
  for (const type of ["unhandledrejection", "rejectionhandled"]) addEventListener(type, (event) => seen.push(event.reason))
  export const lost = async () => {
    Promise.reject(new Error("at once"))
    setTimeout(() => { Promise.reject(new Error("in a timer")) }, 1)
    const late = Promise.reject(new Error("handled later"))
    await new Promise((resolve) => setTimeout(resolve, 20))
    return late.catch(({ message }) => [message, seen])
  }
  export const dispatched = () => {
    const event = new PromiseRejectionEvent("unhandledrejection", { promise: Promise.resolve(), reason: "own", cancelable: true })
    let handled
    onunhandledrejection = ({ reason }) => { handled = reason }
    dispatchEvent(event)
    return [seen, handled ?? null]
  }
  export const reported = () => {
    const errors = []
    addEventListener("error", (event) => { errors.push(event.error.message); event.preventDefault() })
    reportError(new Error("reported"))
    queueMicrotask(() => { throw new Error("in a microtask") })
    return new Promise((resolve) => setTimeout(() => resolve(errors), 5))
  }
`

describe("an error that no code handles", () => {
  layer(sandbox({ runners: 1 }), { excludeTestServices: true })((it) => {
    it.effect("does not end the run, and the engine reports no rejection", () =>
      Effect.gen(function* () {
        const tenant = yield* prepareTenant(1, script)
        const { outcome } = yield* tenant.call("lost")
        assert.deepInclude(outcome, { _tag: "Returned", output: '["handled later",[]]' })
      })
    )

    it.effect("reaches listeners if code dispatches or reports it", () =>
      Effect.gen(function* () {
        const tenant = yield* prepareTenant(2, script)
        const { outcome: dispatched } = yield* tenant.call("dispatched")
        assert.deepInclude(dispatched, { _tag: "Returned", output: '[["own"],"own"]' })
        const { outcome: reported } = yield* tenant.call("reported")
        assert.deepInclude(reported, { _tag: "Returned", output: '["reported","in a microtask"]' })
      })
    )
  })
})
