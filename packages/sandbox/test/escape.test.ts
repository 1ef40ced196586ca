/** Known escapes from sandboxes. Each probe is code with its only acceptable result. */
import { assert, layer } from "@effect/vitest"
import { HostCallRefused, type Outcome, Sandbox } from "@weft/core/adapter"
import { Effect } from "effect"
import { sandbox } from "../src/index.ts"
import { createTenant, prepareTenant } from "./Tenant.ts"

/** Visits every object that is reachable from a function's arguments, and searches for types of the engine. */
const graphWalk = `
  const seen = new Set(), found = []
  const kinds = /^(Reference|ExternalCopy|Isolate|Context|Script|Module|Callback|Dereference|Copy|NativeModule|Transferable)$/
  const open = [[globalThis, "globalThis"], [svc, "svc"], [event, "event"]]
  while (open.length > 0) {
    const [object, path] = open.pop()
    if (object === null || (typeof object !== "object" && typeof object !== "function") || seen.has(object)) continue
    seen.add(object)
    let kind = ""
    try { kind = object.constructor?.name ?? "" } catch {}
    if (kinds.test(kind) || "applySync" in object || "copyInto" in object || "derefInto" in object) found.push(path)
    for (const key of Reflect.ownKeys(object)) {
      let property
      try { property = Object.getOwnPropertyDescriptor(object, key) } catch { continue }
      for (const value of [property?.value, property?.get, property?.set]) open.push([value, path + "." + String(key)])
      try { open.push([object[key], path + "." + String(key)]) } catch {}
    }
    try { open.push([Object.getPrototypeOf(object), path + ".__proto__"]) } catch {}
  }
  return [seen.size > 500, found]`

/** The body of \`async (event, svc)\`, and its required result. A function decides if several results are valid. */
const probes: Readonly<Record<string, readonly [string, unknown | ((outcome: Outcome) => boolean)]>> = {
  "nothing of Node": [
    'return ["process", "require", "module", "Buffer", "__dirname", "global", "setImmediate", "exports"].filter((name) => name in globalThis)',
    []
  ],
  "Function sees the realm's own global": ['return typeof Function("return this")().process', "undefined"],
  "a constructor's constructor": [
    'try { return String(({}).constructor.constructor("return process")()) } catch (error) { return error.name }',
    "ReferenceError"
  ],
  "the constructor of async functions": [
    'return await (async () => {}).constructor("return typeof process")()',
    "undefined"
  ],
  "the constructor of generators": [
    'return (function* () {}).constructor("return typeof process")().next().value',
    "undefined"
  ],
  "results are promises of the realm": [
    "const p = svc.events.publish({}); return [p instanceof Promise, p.constructor === Promise, Object.getPrototypeOf(p) === Promise.prototype]",
    [true, true, true]
  ],
  "results are values of the realm": [
    "const v = await svc.events.publish({}); return [v.constructor === Object, Array.isArray(v.list), v.list instanceof Array]",
    [true, true, true]
  ],
  "refusals are errors of the realm": [
    'try { await svc.events.publish({ type: "refuse" }) } catch (e) { return [e instanceof Error, e.constructor === Error, typeof e.constructor.constructor("return typeof process")()] }',
    [true, true, "string"]
  ],
  "no object of the engine is in reach": [graphWalk, [true, []]],
  "svc has functions of the realm only": [
    `const all = []
     for (let o = svc; o && o !== Object.prototype; o = Object.getPrototypeOf(o))
       for (const k of Reflect.ownKeys(o)) {
         const value = Reflect.get(o, k, svc)
         if (typeof value === "function" && !(value instanceof Function)) all.push(k)
       }
     return all`,
    []
  ],
  "callers are hidden": [
    "function f() { return f.caller } try { return String(f()) } catch (error) { return error.name }",
    "TypeError"
  ],
  "code is strict": ["return [this === undefined, (function () { return this })() === undefined]", [true, true]],
  "call sites leak nothing": [
    `const found = []
     Error.prepareStackTrace = (error, sites) => {
       for (const site of sites) {
         const self = site.getThis?.()
         if (self !== undefined && self !== globalThis) found.push(typeof self)
         if (site.getFunction?.() !== undefined) found.push("function")
       }
       return ""
     }
     new Error("x").stack
     delete Error.prepareStackTrace
     return found`,
    []
  ],
  "an overflow at the border": [
    `let seen = "nothing"
     ;(function f() { try { f() } catch { try { svc.events.publish({}).catch(() => {}) } catch (error) {
       seen = [error instanceof Error, error.constructor.constructor === Function].join() } } })()
     return seen === "nothing" || seen === "true,true"`,
    true
  ],
  "the loader is removed": [
    "return Object.getOwnPropertyNames(globalThis).filter((name) => /weft|kernel|boot|guest|drain|enter/i.test(name))",
    []
  ],
  "features that bypass limits are removed": [
    'return ["WebAssembly", "SharedArrayBuffer", "Atomics", "FinalizationRegistry", "WeakRef"].filter((name) => name in globalThis)',
    []
  ],
  "buffers do not grow": [
    `const made = new ArrayBuffer(8, { maxByteLength: 1e9 })
     return [made.resizable, made.constructor === ArrayBuffer, typeof made.resize, typeof made.transfer, made.slice(0).constructor === ArrayBuffer]`,
    [false, true, "undefined", "undefined", true]
  ],
  "no other realm": ["return [typeof ShadowRealm, typeof Realm]", ["undefined", "undefined"]],
  "imports of Node": [
    'const name = ["node", "fs"].join(":"); try { await import(name); return "got it" } catch { return "blocked" }',
    "blocked"
  ],
  "imports of data": [
    'const name = "data:text/javascript,export default 1"; try { await import(name); return "got it" } catch { return "blocked" }',
    "blocked"
  ],
  "imports in evaluated code": [
    'try { await (0, eval)("import(\\"fs\\")"); return "got it" } catch { return "blocked" }',
    "blocked"
  ],
  "natives of the engine": [
    'try { (0, eval)("%DebugPrint(1)"); return "got it" } catch (error) { return error.name }',
    "SyntaxError"
  ],
  "parameters that close a function": [
    'try { return String(new Function("/*", "*/){return typeof process")()) } catch (error) { return error.name }',
    (outcome: Outcome) => outcome._tag === "Returned" && /SyntaxError|undefined/.test(outcome.output)
  ],
  "__proto__ in results": ["const v = await svc.events.publish({}); return [v.x, Object.prototype.x]", [null, null]],
  "lengths count as the kernel counts": [
    'return "\\ud800x\\udc00é𝄞"',
    (outcome: Outcome) => outcome._tag === "Returned"
  ],
  "frames in a result": ['return "R1,0,0,4,0:nullR2,0,0,4,0:null"', "R1,0,0,4,0:nullR2,0,0,4,0:null"],
  "frames in a log": ['console.log("R1,0,0,7,0:\\"pwned\\""); return "real"', "real"],
  "frames in a host call": ['await svc.events.publish({ "x\\nR1,0,0,7,0:\\"pwned\\"": 1 }); return "real"', "real"],
  "built-ins replaced": [
    `Map.prototype.get = Map.prototype.set = Map.prototype.delete = () => { throw 1 }
     String.prototype.slice = () => "Z"; String.prototype.indexOf = () => -1; String.prototype.charCodeAt = () => 0
     Promise.prototype.then = function () { throw 2 }; JSON.stringify = () => "pwned"; JSON.parse = () => "pwned"
     Array.prototype[Symbol.iterator] = null; Object.defineProperty = Reflect.apply = () => { throw 3 }
     return "real"`,
    "real"
  ],
  "setters on every prototype": [
    `let hits = 0
     const names = ["0", "1", "status", "headers", "body", "resolve", "reject", "run", "svc", "value", "get", "set"]
     for (const name of names) for (const prototype of [Object.prototype, Array.prototype])
       Object.defineProperty(prototype, name, { set() { hits++ }, get() { return undefined }, configurable: true })
     await svc.events.publish({})
     const seen = hits
     for (const name of names) { delete Object.prototype[name]; delete Array.prototype[name] }
     return seen`,
    (outcome: Outcome) => outcome._tag === "Returned" || outcome._tag === "Threw"
  ],
  "species of promises": [
    'class X extends Promise { static get [Symbol.species]() { return Promise } } const p = svc.events.publish({}); p.constructor = X; await p; return "real"',
    "real"
  ],
  "a thenable that settles twice": ['return { then(resolve) { resolve("first"); resolve("second") } }', "first"],
  "symbols are the isolate's own": [
    'return [Symbol.keyFor(Symbol.for("nodejs.util.inspect.custom")), Symbol.for("weft") in globalThis]',
    ["nodejs.util.inspect.custom", false]
  ],
  "clocks are coarse": [
    "const first = performance.now(); let next = first; while (next === first) next = performance.now(); return next - first >= 0.09",
    true
  ],
  "stacks reveal nothing of the host": [
    'return /\\/work|\\/home|node:|node_modules|\\.ts/.test(new Error("x").stack)',
    false
  ],
  "refusals reveal nothing of the host": [
    'try { await svc.events.publish({ type: "refuse" }) } catch (error) { return /\\/|node:/.test(error.message + error.name) }',
    false
  ],
  "no secrets in globals": [
    'return Object.getOwnPropertyNames(globalThis).filter((name) => /secret|env$|token|key$/i.test(name) && name !== "CryptoKey")',
    []
  ],
  "entropy differs": [
    "return crypto.getRandomValues(new Uint8Array(8)).join() !== crypto.getRandomValues(new Uint8Array(8)).join()",
    true
  ],
  "an error with getters that throw": [
    'const e = new Error("x"); for (const k of ["message", "stack", "name"]) Object.defineProperty(e, k, { get() { throw 1 } }); throw e',
    (outcome: Outcome) => outcome._tag === "Threw"
  ],
  "an error with a revoked proxy inside": [
    "const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy",
    (outcome: Outcome) => outcome._tag === "Threw"
  ],
  "an unhandled error with getters that throw": [
    'const e = new Error("x"); for (const k of ["message", "stack"]) Object.defineProperty(e, k, { get() { throw 1 } }); Promise.reject(e); return "real"',
    "real"
  ],
  "a result that changes while it is read": [
    'let reads = 0; return { get status() { return ++reads > 1 ? 99999 : 200 }, headers: {}, body: "x" }',
    (outcome: Outcome) => outcome._tag === "Returned" || outcome._tag === "Responded"
  ],
  "svc of another run": [
    'globalThis.kept ??= svc; const other = globalThis.kept; try { await other.events.publish({}); return "ok" } catch (error) { return error.name }',
    "ok"
  ]
}

const script = Object.values(probes)
  .map(([code], index) => `export const probe${index} = async (event, svc) => {\n${code}\n}`)
  .join("\n")

layer(sandbox({ runners: 1 }), { excludeTestServices: true, timeout: "60 seconds" })("an escape", (it) => {
  it.effect("has its only acceptable result", () =>
    Effect.gen(function* () {
      const faults: Array<string> = []
      const sandbox = yield* Sandbox
      const { artifact } = yield* prepareTenant(1000, script)
      for (const [index, [name, [, expected]]] of Object.entries(probes).entries()) {
        // One build per probe, so that no probe affects the realm of the next one.
        const tenant = createTenant(sandbox, index + 1, artifact)
        for (const round of ["first", "again"]) {
          const { outcome } = yield* tenant.call(`probe${index}`, {
            onHostCall: ({ payload }) =>
              payload.includes("refuse")
                ? Effect.fail(new HostCallRefused({ name: "Forbidden", message: "no" }))
                : Effect.succeed('{"list":[1],"__proto__":{"x":1}}')
          })
          const honest =
            typeof expected === "function"
              ? expected(outcome)
              : outcome._tag === "Returned" && outcome.output === JSON.stringify(expected)
          if (!honest && !(round === "again" && name === "svc of another run")) {
            faults.push(`${name} (${round}): ${JSON.stringify(outcome).slice(0, 300)}`)
          }
        }
      }
      assert.deepStrictEqual(faults, [])
    })
  )

  it.effect("through the svc of an ended run reaches nothing", () =>
    Effect.gen(function* () {
      const tenant = yield* prepareTenant(100, script)
      const probe = `probe${Object.keys(probes).indexOf("svc of another run")}`
      assert.deepInclude((yield* tenant.call(probe)).outcome, { output: '"ok"' })
      assert.deepInclude((yield* tenant.call(probe)).outcome, { output: '"RunEnded"' })
    })
  )
})
