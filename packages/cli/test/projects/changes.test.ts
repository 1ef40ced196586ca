import { randomUUID } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { type Manifest, noRetry, ScheduleId } from "@weft/core/adapter"
import fc from "fast-check"
import { diffEntryPoints } from "../../src/deployment/Changes.ts"
import { changeLines } from "../../src/deployment/DeploymentText.ts"
import { type EntryPoint, type EntryPoints, kinds, listEntryPoints } from "../../src/deployment/EntryPoints.ts"
import { makePaint } from "../../src/output/Paint.ts"

const terms = { retry: noRetry, timeout_ms: 300_000, concurrency: null, idempotency: null, durable: false }

const webhook: EntryPoint = {
  kind: "webhook",
  name: "GET /shop/hello",
  fn: "main/hello",
  terms: { auth: "none" },
  due: null
}
const handler: EntryPoint = { kind: "handler", name: "order:* → main/onOrder", fn: "main/onOrder", terms, due: null }

const entryPoint: fc.Arbitrary<EntryPoint> = fc.record({
  kind: fc.constantFrom(...kinds),
  name: fc.constantFrom("a", "b", "c"),
  fn: fc.constantFrom("main/x", "main/y"),
  terms: fc.record({ timeout_ms: fc.constantFrom(1, 2), retry: fc.constantFrom(null, { attempts: 2 }) }),
  due: fc.constant(null)
})
const entryPoints: fc.Arbitrary<EntryPoints> = fc.uniqueArray(entryPoint, {
  selector: ({ kind, name }) => `${kind} ${name}`
})

describe("diffEntryPoints", () => {
  it("lists additions, removals and changes with the changed fields", () => {
    const changes = diffEntryPoints(
      [webhook, handler],
      [
        { ...webhook, fn: "main/welcome", terms: { auth: "required" } },
        { kind: "tool", name: "shop/price", fn: "main/price", terms: {}, due: null }
      ]
    )
    assert.deepStrictEqual(changes, [
      { change: "changed", kind: "webhook", name: "GET /shop/hello", fn: "main/welcome", fields: ["function", "auth"] },
      { change: "added", kind: "tool", name: "shop/price", fn: "main/price", fields: [] },
      { change: "removed", kind: "handler", name: "order:* → main/onOrder", fn: "main/onOrder", fields: [] }
    ])
    assert.deepStrictEqual(changeLines(changes, makePaint(false)), [
      "~ webhook  GET /shop/hello → main/welcome: function, auth",
      "+ tool     shop/price → main/price",
      "- handler  order:* → main/onOrder"
    ])
  })

  it("ignores the order of fields", () => {
    const other: EntryPoint = { ...handler, terms: Object.fromEntries(Object.entries(terms).reverse()) }
    assert.deepStrictEqual(diffEntryPoints([handler], [other]), [])
  })

  it("returns the inverse changes for swapped builds", () => {
    fc.assert(
      fc.property(entryPoints, entryPoints, (before, after) => {
        const forth = diffEntryPoints(before, after)
        const back = diffEntryPoints(after, before)
        const names = (all: typeof forth, change: string) =>
          all.filter((one) => one.change === change).map(({ kind, name }) => `${kind} ${name}`)
        assert.sameMembers(names(forth, "added"), names(back, "removed"))
        assert.sameMembers(names(forth, "removed"), names(back, "added"))
        assert.sameMembers(names(forth, "changed"), names(back, "changed"))
        const key = ({ kind, name }: { readonly kind: string; readonly name: string }) => `${kind} ${name}`
        const touched = new Set(forth.map(key))
        assert.deepStrictEqual(
          before
            .filter((one) => !touched.has(key(one)))
            .map((one) => JSON.stringify(one))
            .sort(),
          after
            .filter((one) => !touched.has(key(one)))
            .map((one) => JSON.stringify(one))
            .sort()
        )
      })
    )
  })
})

describe("listEntryPoints", () => {
  it("returns the triggers, then the functions without a trigger", () => {
    const fn = (name: string) => ({ ns: "main", var: name })
    const background = { retry: noRetry, timeout_ms: 300_000, concurrency: null, idempotency: null, durable: false }
    const manifest: Manifest = {
      functions: ["archive", "hello", "nightly"].map((name) => ({ ...fn(name), ...background })),
      handlers: [],
      schedules: [
        {
          schedule_id: ScheduleId.make(randomUUID()),
          ...fn("nightly"),
          cron: "0 3 * * *",
          timezone: "UTC",
          ...background
        }
      ],
      endpoints: [
        {
          ...{ ...fn("hello"), service: "shop", path: "/", method: "GET", name: "", description: "" },
          ...{ auth: "none", secret_headers: [], timeout_ms: 30_000, record: "before" }
        }
      ],
      tools: [],
      resources: [],
      prompts: []
    }
    assert.deepStrictEqual(
      listEntryPoints(manifest).map(({ kind, name, fn }) => [kind, name, fn]),
      [
        ["webhook", "GET /shop", "main/hello"],
        ["schedule", "0 3 * * * (UTC) → main/nightly", "main/nightly"],
        ["function", "main/archive", "main/archive"]
      ]
    )
  })
})
