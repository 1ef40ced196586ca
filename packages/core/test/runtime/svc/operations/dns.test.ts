/** Host calls of `node:dns`, as a compromised guest would make them, with a fake egress. */
import { assert, describe, it } from "@effect/vitest"
import { EnvId } from "@weft/core"
import { Egress, EgressFailed, EgressRefused, noEgress } from "@weft/core/adapter"
import { Effect } from "effect"
import { makeOperationCalls } from "../../../../src/runtime/svc/GuestCalls.ts"
import { dnsLookup } from "../../../../src/runtime/svc/operations/dns.ts"
import { makeId, makeRun } from "../Runs.ts"

const run = makeRun(EnvId.make(makeId(2)))

const makeCall = (egress?: Egress["Service"]) => {
  const made = makeOperationCalls([dnsLookup])
  return Effect.map(egress === undefined ? made : Effect.provideService(made, Egress, egress), ({ execute }) => {
    const lookup = execute.get("dns.lookup")
    if (lookup === undefined) throw new Error("There is no dns.lookup")
    return (payload: unknown) =>
      Effect.map(lookup(run, JSON.stringify(payload), new Set()), (json): unknown => JSON.parse(json))
  })
}

describe("the operation dns.lookup", () => {
  it.effect("passes the environment and the name to the egress, and keeps the kind of a failure", () =>
    Effect.gen(function* () {
      const asked: Array<unknown> = []
      const call = yield* makeCall(
        Egress.of({
          ...noEgress,
          lookup: (...given) => {
            asked.push(given)
            if (given[1] === "inner.test") return Effect.fail(new EgressRefused({ reason: "not allowed" }))
            if (given[1] === "broken.test") return Effect.fail(new EgressFailed({ reason: "no server" }))
            return Effect.succeed(["192.0.2.1", "2001:db8::1"])
          }
        })
      )
      assert.deepStrictEqual(yield* call({ host: "a.test" }), ["192.0.2.1", "2001:db8::1"])
      const failures = yield* Effect.all([call({ host: "inner.test" }), call({ host: "broken.test" })].map(Effect.flip))
      assert.deepStrictEqual(
        failures.map(({ name, message }) => [name, message]),
        [
          ["EgressRefused", "not allowed"],
          ["EgressFailed", "no server"]
        ]
      )
      assert.deepStrictEqual(asked, [
        [run.env_id, "a.test"],
        [run.env_id, "inner.test"],
        [run.env_id, "broken.test"]
      ])
      for (const payload of [null, {}, { host: "" }, { host: 1 }, { host: "a".repeat(254) }, ["a.test"]]) {
        assert.strictEqual((yield* Effect.flip(call(payload))).name, "TypeError", JSON.stringify(payload))
      }
      assert.strictEqual(asked.length, 3)
    })
  )

  it.effect("refuses every name without an egress", () =>
    Effect.gen(function* () {
      const call = yield* makeCall()
      const { name, message } = yield* Effect.flip(call({ host: "a.test" }))
      assert.deepStrictEqual([name, message], ["EgressRefused", "this host allows no outbound requests"])
    })
  )
})
