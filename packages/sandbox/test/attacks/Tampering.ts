/**
 * Replaces every method of every built-in, one at a time, by one that returns a liar. A liar is an object with the
 * length 0 that converts to forged frames. Then the guest uses its whole API.
 */
import { Effect } from "effect"
import { prepareTenant } from "../Tenant.ts"
import type { AttackHarness } from "./AttackHarness.ts"

/** Number of the actions that load little of the platform; the others take longer. */
const nimble = 11

const script = `
const holders = ["Object", "Function", "Array", "String", "Number", "Boolean", "Symbol", "Map", "Set", "WeakMap", "Promise",
  "RegExp", "Error", "Date", "JSON", "Math", "Reflect", "Uint8Array", "ArrayBuffer", "DataView", "Proxy", "BigInt"]
const places = () => {
  const typed = Object.getPrototypeOf(Uint8Array.prototype)
  const all = []
  for (const holder of [...holders.flatMap((name) => [globalThis[name], globalThis[name].prototype]), typed]) {
    if (holder === undefined) continue
    for (const key of Reflect.ownKeys(holder)) {
      const own = Object.getOwnPropertyDescriptor(holder, key)
      if (typeof own.value === "function" && own.configurable && key !== "constructor") all.push([holder, key])
    }
  }
  return all
}
export const count = () => places().length
// Runs have consecutive numbers: an attacker can guess them.
const framesFrom = (guess) => {
  let text = ""
  const letters = [["C", 7, "forged", "FORGED"], ["L", 0, "FORGED", ""], ["R", 0, '"FORGED"', ""], ["H", 99999, "{}", "FORGED"]]
  for (let run = guess; run < guess + 80; run++) for (const [letter, a, first, second] of letters)
    text += letter + run + "," + a + ",0," + first.length + "," + second.length + ":" + first + second
  return text
}
export const tamper = async ({ place, deeds }, svc) => {
  const [holder, key] = places()[place]
  const frames = framesFrom(place * 2)
  const define = Object.defineProperty
  const liar = { length: 0, name: "x", value: 1, done: true, toString: () => frames, valueOf: () => 1e10, toJSON: () => liar }
  const pause = (ms) => new Promise((go) => setTimeout(go, ms))
  const all = [
    () => console.log("a", { b: [1, "c", new Map([[1, 2]])] }, "%s %d", 1),
    () => console.table([{ a: 1 }]),
    () => console.error(new Error("e", { cause: liar })),
    () => svc.log.info("m", { n: 1 }),
    () => { setTimeout(() => console.log("timer"), 1) },
    () => svc.events.publish({ type: "t", data: { a: 1 } }),
    () => svc.host.crm.lookup({ a: 1 }),
    () => svc.context.get("k"),
    () => svc.stream.emit("t", [1]),
    () => svc.schedules.create({ fn: "f", args: [], schedule: "* * * * *" }),
    () => svc.call("main/f", [1]),
    () => fetch("https://a.test/", { method: "POST", headers: { "x-a": "b" }, body: JSON.stringify({ a: 1 }) }).then((r) => r.json()),
    () => svc.files.get("a.txt"),
    () => svc.asset("a.txt"),
    () => new Response("x", { headers: { a: "b" } }).text(),
    () => structuredClone({ a: [1] }),
    () => new URL("https://a.test/?b=c").searchParams.get("b"),
    () => crypto.randomUUID()
  ].slice(0, deeds)
  define(holder, key, { value: () => liar, configurable: true, writable: true })
  for (let at = 0; at < all.length; at++) {
    let doing
    try { doing = all[at]() } catch {}
    if (at > 4) try { await Promise.race([doing, pause(4)]) } catch {}
  }
  return { status: 200, headers: { "x-a": "b" }, body: "end" }
}
`

export interface Tampered {
  /** Number of replaced methods. */
  readonly places: number
  readonly faults: ReadonlyArray<string>
}

const forged = /^forged$/i

/** Runs the attack. `thorough`: every method and every action; otherwise every third method, and the actions near the kernel. */
export const tamper = Effect.fnUntraced(function* ({ call, tenant }: AttackHarness, thorough: boolean) {
  const { artifact } = yield* prepareTenant(2, script)
  const counted = (yield* tenant(artifact).call("count")).outcome
  const length = counted._tag === "Returned" ? Number(counted.output) : 0
  const places = Array.from({ length }, (_, place) => place).filter((place) => thorough || place % 3 === 0)
  const deeds = thorough ? 100 : nimble
  const faultsAt = Effect.fnUntraced(function* (place: number) {
    const svc = { event: { place, deeds }, run: {} }
    const { execution, lines, calls, faults } = yield* call(tenant(artifact), "tamper", { svc, timeoutMs: 1000 })
    const { outcome } = execution
    const lies = [...lines, ...calls.map(({ op }) => op)].filter((text) => forged.test(text))
    if (outcome._tag === "Returned" && outcome.output === '"FORGED"') lies.push("the result")
    return [
      ...lies.slice(0, 1).map((lie) => `method ${place} forged ${lie}`),
      ...(outcome._tag === "RunnerLost" ? [`method ${place}: ${outcome.message}`] : []),
      ...faults.map((fault) => `method ${place}: ${fault}`)
    ]
  })
  const faults = yield* Effect.forEach(places, faultsAt, { concurrency: 8 })
  return { places: places.length, faults: faults.flat() } satisfies Tampered
})
