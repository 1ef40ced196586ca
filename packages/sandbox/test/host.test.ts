/** `svc.host`: the host calls that it makes, also for hostile code. */
import { assert, layer } from "@effect/vitest"
import { type HostCall, HostCallRefused } from "@weft/core/adapter"
import { Effect } from "effect"
import { sandbox } from "../src/index.ts"
import { prepareTenant } from "./Tenant.ts"

const script = `
const outcome = (promise) => promise.then((value) => ["answer", value], (error) => [error.name, error.message])

export const asks = async (event, svc) => [
  await svc.host.crm.lookup({ id: "7" }),
  await svc.host.ping(),
  await Promise.all(["a", "b"].map(svc.host.crm.all.of)),
  await (0, svc.host.crm.lookup)(null),
  await Reflect.apply(svc.host.ping, undefined, [1]),
  await svc.host.ping.call(null, 2)
]
export const refused = (event, svc) => outcome(svc.host.crm.refused({}))
export const nothing = async (event, svc) => [await svc.host.nothing(), "end"]

export const language = async (event, svc) => {
  const awaited = await svc.host
  const below = await svc.host.crm
  const names = ["then", "toJSON", "constructor", "toString", "valueOf", "hasOwnProperty", "__proto__", "apply", "bind"]
  return [
    awaited === svc.host,
    typeof below,
    names.map((name) => typeof svc.host[name]),
    String(svc.host).length > 0,
    JSON.stringify({ host: svc.host, crm: svc.host.crm }),
    Object.keys(svc.host),
    "crm" in svc.host,
    svc.host instanceof Function,
    typeof svc.host[Symbol.iterator],
    svc.host.constructor === Function
  ]
}
export const returned = (event, svc) => ({ host: svc.host, list: [svc.host.crm] })
export const thrown = (event, svc) => { throw svc.host.crm }
export const logged = (event, svc) => { console.log(svc.host, svc.host.crm.lookup); return "logged" }

export const frozen = (event, svc) => {
  const tries = {
    set: () => { svc.host.crm = 1 },
    define: () => Object.defineProperty(svc.host, "crm", { value: 1 }),
    remove: () => { delete svc.host.length },
    prototype: () => Object.setPrototypeOf(svc.host, null),
    construct: () => new svc.host.crm.lookup()
  }
  const seen = {}
  for (const name of Object.keys(tries)) {
    try { tries[name](); seen[name] = "nothing" } catch (error) { seen[name] = error.name }
  }
  return [seen, typeof svc.host.crm]
}

export const names = async (event, svc) => {
  const seen = []
  for (const path of [[], ["x".repeat(129)], ["__proto"], ["a.b"], [""], ["ключ"], ["\\u0000"]]) {
    let found = svc.host
    for (const segment of path) found = found[segment]
    seen.push((await outcome(found(1)))[0])
  }
  return seen
}
export const deep = async (event, svc) => {
  let found = svc.host
  for (let at = 0; at < 100000; at++) found = found.a
  return (await outcome(found()))[0]
}
export const polluted = async (event, svc) => {
  let hits = 0
  for (const trap of ["get", "apply", "has", "ownKeys", "construct", "getPrototypeOf"]) {
    Object.prototype[trap] = () => { hits++; return "mine" }
  }
  Function.prototype.lookup = () => "mine"
  Reflect.get = Reflect.has = JSON.stringify = JSON.parse = () => { throw 1 }
  globalThis.Proxy = function () { hits++ }
  const answers = [await svc.host.crm.find({ id: 1 }), svc.host.crm.lookup(), hits]
  return answers
}
export const oddities = async (event, svc) => {
  const cyclic = {}
  cyclic.self = cyclic
  const seen = []
  for (const input of [1n, cyclic, () => 1, Symbol("s"), { toJSON() { throw new RangeError("mine") } }, undefined]) {
    seen.push((await outcome(svc.host.ping(input)))[0])
  }
  return seen
}
export const large = (event, svc) => outcome(svc.host.ping("x".repeat(1024 * 1024)))
export const flood = async (event, svc) => {
  const ended = await Promise.allSettled(Array.from({ length: 1500 }, (_, n) => svc.host.ping(n)))
  const refused = ended.filter(({ status }) => status === "rejected")
  return [ended.length - refused.length, refused.length, refused[0].reason.name]
}
export const another = async (event, svc) => {
  globalThis.kept ??= svc.host.crm.lookup
  return outcome(globalThis.kept({ id: "kept" }))
}
`

let tenants = 600

layer(sandbox({ runners: 1 }), { excludeTestServices: true, timeout: "60 seconds" })("svc.host", (it) => {
  /** Replies with the name and the input, and records the calls. */
  const host = () => {
    const seen: Array<HostCall> = []
    const onHostCall = (call: HostCall) =>
      Effect.suspend(() => {
        seen.push(call)
        if (call.op === "host.crm.refused") return new HostCallRefused({ name: "CustomerUnknown", message: "no such" })
        return Effect.succeed(
          call.op === "host.nothing" ? "" : `[${JSON.stringify(call.op)},${call.payload === "" ? "0" : call.payload}]`
        )
      })
    return { seen, onHostCall }
  }
  const value = Effect.fnUntraced(function* (fn: string) {
    // One environment per function, so that no code affects the realm of the next one.
    const tenant = yield* prepareTenant(tenants++, script)
    const { seen, onHostCall } = host()
    const { outcome } = yield* tenant.call(fn, { onHostCall })
    return { seen, outcome, output: outcome._tag === "Returned" ? JSON.parse(outcome.output) : outcome }
  })
  const gives = (fn: string, expected: unknown) =>
    it.effect(`returns the expected result for ${fn}`, () =>
      Effect.map(value(fn), ({ output }) => assert.deepStrictEqual(output, expected))
    )

  gives("asks", [
    ["host.crm.lookup", { id: "7" }],
    ["host.ping", 0],
    [
      ["host.crm.all.of", "a"],
      ["host.crm.all.of", "b"]
    ],
    ["host.crm.lookup", null],
    ["host.ping", 1],
    ["host.ping", 2]
  ])
  gives("refused", ["CustomerUnknown", "no such"])
  gives("nothing", [null, "end"])
  gives("language", [
    true,
    "function",
    ["undefined", "undefined", ...new Array(7).fill("function")],
    true,
    "{}",
    [],
    false,
    true,
    "undefined",
    true
  ])
  gives("returned", { list: [null] })
  gives("logged", "logged")
  gives("frozen", [
    { set: "TypeError", define: "TypeError", remove: "TypeError", prototype: "TypeError", construct: "TypeError" },
    "function"
  ])
  gives("names", ["NotFound", "NotFound", "answer", "answer", "NotFound", "answer", "answer"])
  gives("deep", "NotFound")
  gives("polluted", [["host.crm.find", { id: 1 }], "mine", 0])
  gives("oddities", ["TypeError", "TypeError", "answer", "answer", "RangeError", "answer"])
  gives("large", ["LimitExceeded", "a host call's argument is over 1048576 bytes"])
  gives("flood", [1000, 500, "LimitExceeded"])

  it.effect("can be thrown, which fails the run as any thrown value", () =>
    Effect.map(value("thrown"), ({ outcome }) => assert.include(outcome, { _tag: "Threw", name: "Error" }))
  )

  it.effect("reaches nothing after the end of its run", () =>
    Effect.gen(function* () {
      const tenant = yield* prepareTenant(tenants++, script)
      const { seen, onHostCall } = host()
      const first = yield* tenant.call("another", { onHostCall })
      assert.deepInclude(first.outcome, { output: '["answer",["host.crm.lookup",{"id":"kept"}]]' })
      const second = yield* tenant.call("another", { onHostCall })
      assert.deepInclude(second.outcome, { output: '["RunEnded","the run has ended"]' })
      assert.lengthOf(seen, 1)
    })
  )
})
