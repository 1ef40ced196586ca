/** Compares pure rules of the test kit with those of the runtime. */
import { readFile } from "node:fs/promises"
import { EventValues, isAwaited as isAwaitedByRuntime, JsonText } from "@weft/core/adapter"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import type { Event } from "../../src/index.ts"
import { canonicalJson, isAwaited } from "../../src/testing/durable/EventMatch.ts"

it("durations are parsed by the code of the runtime", async () => {
  const read = (path: string) => readFile(new URL(path, import.meta.url), "utf8")
  expect(await read("../../src/testing/durable/Duration.ts")).toBe(
    await read("../../../core/src/foundation/time/Duration.ts")
  )
})

const value = fc.jsonValue({ maxDepth: 2 })
const data = fc.oneof(value, fc.record({ order: fc.record({ id: value }), amount: value }))
const path = fc.constantFrom("order", "order.id", "amount", "__proto__", "toString", "order.id.id")
const time = fc.integer({ min: 0, max: 5 })

it("an event ends the waits that it ends in the runtime", () => {
  const cases = fc.record({
    ...{ type: fc.constantFrom("a", "b"), since: time, until: fc.option(time), created: time, data },
    match: fc.array(fc.tuple(path, value), { maxLength: 2 }),
    fromData: fc.boolean()
  })
  fc.assert(
    fc.property(cases, ({ type, since, until, created, data, match, fromData }) => {
      const pairs = match.map(([at, required]) => [at, canonicalJson(fromData ? read(data, at) : required)] as const)
      const iso = new Date(created).toISOString()
      const event: Event = {
        ...{ event_id: "1", env_id: "1", stream_id: "1", event_type: "a", event_data: data },
        ...{ event_time: iso, created_at: iso }
      }
      const wait: object = { event_type: type, match: JSON.stringify(pairs), since, until, outcome: null }
      const stored: object = { ...event, created_at: created }
      expect(isAwaited({ type, match: pairs, since, until }, event)).toBe(
        Reflect.apply(isAwaitedByRuntime, undefined, [
          wait,
          stored,
          new EventValues({ event_data: JsonText.make(JSON.stringify(data)) })
        ])
      )
    }),
    { numRuns: 500 }
  )
})

const read = (data: unknown, path: string): unknown =>
  path
    .split(".")
    .reduce<unknown>((at, name) => (typeof at === "object" && at !== null ? Reflect.get(at, name) : null), data)
