/** The generated methods of `svc`: the host calls that they make. The trusted sandbox makes the same ones. */
import { assert, layer } from "@effect/vitest"
import type { HostCall } from "@weft/core/adapter"
import { Effect } from "effect"
import { sandbox } from "../src/index.ts"
import { prepareTenant } from "./Tenant.ts"

const script = `
export const calls = async (_, svc) => [
  await svc.events.publish({ type: "paid", data: { id: 7 }, delay: "1h" }),
  await svc.context.get("KEY"),
  await svc.context.all(),
  await svc.schedules.create({ fn: "main/add", schedule: "P1D" }),
  await svc.schedules.cancel({ fn: "main/add" }) === undefined,
  await svc.stream.emit("progress", { half: 0.5 }) === undefined,
  await svc.stream.emit("end") === undefined,
  await svc.mcp.log({ level: "info", data: 1 }) === undefined,
  await svc.mcp.progress({ progress: 1 }) === undefined,
  await svc.mcp.sample({ messages: [], maxTokens: 1 }),
  await svc.mcp.elicit({ message: "Sure?", requestedSchema: {} }),
  await svc.mcp.updated("crm://a") === undefined,
  svc.events === svc.events && svc.events !== svc.context
]

const outcome = (promise) => promise.then(() => "resolved", (error) => [error.name, error.message])
export const wrong = (_, svc) => Promise.all([
  svc.events.publish(7), svc.context.get(null), svc.schedules.create(null), svc.schedules.cancel("id"), svc.stream.emit({})
].map(outcome))

export const detached = async (_, svc) => {
  const { call } = svc
  const { publish } = svc.events
  return (await Promise.all([outcome(call("main/add")), outcome(publish({})), outcome(call.call({}, "main/add"))]))
    .map(([name]) => name)
}

export const surface = (_, svc) => {
  const prototype = Object.getPrototypeOf(svc)
  return [
    Object.keys(svc),
    Object.getOwnPropertyNames(prototype).sort(),
    Object.entries(Object.getOwnPropertyDescriptors(prototype)).filter(([, { enumerable }]) => enumerable)
  ]
}

export const polluted = async (_, svc) => {
  let hits = 0
  for (const name of ["context", "events", "stream", "schedules"]) {
    Object.defineProperty(Object.prototype, name, { get: () => hits++, set: () => hits++, configurable: true })
  }
  Object.setPrototypeOf(svc.constructor, class { constructor(run) { hits++ } })
  JSON.parse = JSON.stringify = () => { hits++; throw 1 }
  Array.isArray = () => { hits++ }
  return [await svc.context.get("KEY"), await svc.call("main/add", 7), hits]
}
`

layer(sandbox({ runners: 1 }), { excludeTestServices: true, timeout: "60 seconds" })("svc", (it) => {
  const run = Effect.fnUntraced(function* (number: number, fn: string) {
    const tenant = yield* prepareTenant(number, script)
    const seen: Array<readonly [string, unknown]> = []
    const onHostCall = ({ op, payload }: HostCall) =>
      Effect.sync(() => {
        seen.push([op, JSON.parse(payload)])
        return JSON.stringify(op)
      })
    const { outcome } = yield* tenant.call(fn, { onHostCall })
    return { seen, output: outcome._tag === "Returned" ? JSON.parse(outcome.output) : outcome }
  })

  it.effect("makes the host calls of the table of operations", () =>
    Effect.gen(function* () {
      const { seen, output } = yield* run(2900, "calls")
      const names = ["events.publish", "context.get", "context.all", "schedules.create"]
      assert.deepStrictEqual(output, [
        ...[...names, true, true, true],
        ...[true, true, "mcp.sample", "mcp.elicit", true],
        true
      ])
      assert.deepStrictEqual(seen, [
        ["events.publish", { type: "paid", data: { id: 7 }, delay: "1h" }],
        ["context.get", { key: "KEY" }],
        ["context.all", {}],
        ["schedules.create", { fn: "main/add", schedule: "P1D" }],
        ["schedules.cancel", { fn: "main/add" }],
        ["stream.emit", { data_type: "progress", payload: { half: 0.5 } }],
        ["stream.emit", { data_type: "end", payload: null }],
        ["mcp.log", { level: "info", data: 1 }],
        ["mcp.progress", { progress: 1 }],
        ["mcp.sample", { messages: [], maxTokens: 1 }],
        ["mcp.elicit", { message: "Sure?", requestedSchema: {} }],
        ["mcp.updated", { uri: "crm://a" }]
      ])
    })
  )

  it.effect("rejects wrong arguments without a host call", () =>
    Effect.gen(function* () {
      const { seen, output } = yield* run(2901, "wrong")
      assert.deepStrictEqual(output, [
        ["BadRequest", "svc.events.publish takes an object with type and data"],
        ["BadRequest", "svc.context.get takes a string, the key"],
        ["BadRequest", "svc.schedules.create takes an object with fn, args and schedule"],
        ["BadRequest", "svc.schedules.cancel takes an object with id or fn"],
        ["BadRequest", "svc.stream.emit takes a string, the type of the data, and the payload"]
      ])
      assert.deepStrictEqual(seen, [])
      assert.deepStrictEqual((yield* run(2902, "detached")).output, ["TypeError", "TypeError", "TypeError"])
    })
  )

  it.effect("has its methods on its prototype, where guests cannot redirect them", () =>
    Effect.gen(function* () {
      const [own, inherited, enumerable] = (yield* run(2903, "surface")).output
      assert.deepStrictEqual([own, enumerable], [["event", "run"], []])
      assert.includeMembers(inherited, ["asset", "call", "context", "events", "files", "host", "invoke", "log"])
      const { seen, output } = yield* run(2904, "polluted")
      assert.deepStrictEqual(output, ["context.get", "call", 0])
      assert.deepStrictEqual(seen, [
        ["context.get", { key: "KEY" }],
        ["call", { fn: "main/add", args: [7] }]
      ])
    })
  )
})
