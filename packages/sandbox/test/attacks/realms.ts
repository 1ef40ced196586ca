/**
 * Paths to another realm. All values from outside, and all objects that the engine creates in calls, must belong to the
 * guest's own realm. Includes the published escapes of vm2 and isolated-vm.
 */
import { type Attack, contained, returns } from "./Attack.ts"

const proves = "no object of another realm is in reach"

export const realmAttacks: ReadonlyArray<Attack> = [
  {
    name: "constructors of everything that is given",
    proves,
    code: `
      const answer = await svc.events.publish({ type: "t" })
      const error = await svc.events.publish({ type: "refuse" }).catch((error) => error)
      const response = await fetch("https://a.test/")
      return ways([svc, event, svc.events, svc.host, svc.host.a.b, svc.files, svc.log, svc.stream, svc.context, svc.signal,
        svc.schedules, svc.events.publish, svc.host.a, answer, answer.list, error, error.message, response, response.headers,
        response.body, await response.arrayBuffer(), svc.events.publish({}), fetch, setTimeout, setTimeout(() => {}, 1),
        console, console.log, crypto, crypto.subtle, crypto.getRandomValues(new Uint8Array(4)), performance, structuredClone({}),
        new URL("https://a.test/"), new TextEncoder().encode("x"), queueMicrotask, globalThis].filter((value) => home(value) !== "none"))`,
    checkOutcome: returns(["home"])
  },
  {
    name: "the constructors of functions, from each kind",
    proves,
    code: `
      const kinds = [function () {}, async () => {}, function* () {}, async function* () {}, class {}, fetch, svc.events.publish]
      const seen = []
      for (const kind of kinds) {
        const made = await attempt(() => kind.constructor("return typeof process + typeof require")())
        const value = typeof made?.next === "function" ? (await made.next()).value : made
        seen.push(value)
      }
      return [...new Set(seen)].sort()`,
    checkOutcome: returns(["undefinedundefined"])
  },
  {
    name: "prepareStackTrace is called with things of the realm (CVE-2023-29017)",
    proves,
    code: `
      const seen = []
      Error.prepareStackTrace = (error, frames) => {
        seen.push(home(error), home(frames), ...frames.map(home), ...frames.map((frame) => home(frame.getThis?.())),
          ...frames.map((frame) => home(frame.getFunction?.())))
        return ""
      }
      void new Error("x").stack
      await svc.events.publish({ type: "refuse" }).catch((error) => void error.stack)
      void (() => { try { null.x } catch (error) { return error.stack } })()
      Promise.reject(new Error("nobody waits"))
      await null
      return [...new Set(seen)].filter((way) => way !== "none").sort()`,
    checkOutcome: returns(["home"])
  },
  {
    name: "an Error replaced before the stack is made (CVE-2022-36067)",
    proves,
    code: `
      const seen = []
      const Native = Error
      globalThis.Error = class extends Native {}
      globalThis.Error.prepareStackTrace = Native.prepareStackTrace = (_, frames) => { seen.push(home(frames)); return frames }
      for (const provoke of [() => null.x, () => decodeURIComponent("%"), () => new Array(-1), () => svc.events.publish(1)])
        try { await provoke() } catch (error) { const stack = error.stack; seen.push(home(error), home(stack)) }
      return [...new Set(seen)].filter((way) => way !== "none")`,
    checkOutcome: returns(["home"])
  },
  {
    name: "an error while an error is handled (CVE-2023-30547)",
    proves,
    code: `
      const handler = { getPrototypeOf() { (function deeper() { new Error().stack; deeper() })() } }
      try { throw new Proxy({}, handler) } catch (error) {
        const found = await attempt(() => home(error))
        if (found !== "home" && found !== "none" && found !== "RangeError") return found
      }
      throw new Proxy({}, handler)`,
    checkOutcome: contained
  },
  {
    name: "a name that is a proxy (CVE-2023-32314)",
    proves,
    code: `
      const seen = []
      const error = new Error()
      error.name = { toString: new Proxy(() => "", { apply(_, self, args) { seen.push(home(self), home(args)); return "n" } }) }
      void error.stack
      console.log(error); console.error("%s %o", error, error)
      svc.log.info(error)
      return [...new Set(seen)].every((way) => way === "home")`,
    checkOutcome: returns(true)
  },
  {
    name: "species of the promises that calls answer with (CVE-2023-37466)",
    proves,
    code: `
      const seen = []
      class Fake { constructor(executor) { executor((value) => seen.push(home(value)), (error) => seen.push(home(error), home(error.constructor))) } then() {} }
      for (const type of ["t", "refuse"]) for (const make of [() => svc.events.publish({ type }), () => svc.host.a({ type }), () => fetch("https://a.test/" + type)]) {
        const promise = make()
        promise.constructor = { [Symbol.species]: Fake }
        try { promise.then(() => {}, () => {}); promise.catch(() => {}); promise.finally(() => {}) } catch {}
      }
      await new Promise((go) => setTimeout(go, 10))
      return [...new Set(seen)].sort()`,
    checkOutcome: returns(["home"])
  },
  {
    name: "a custom inspection (CVE-2023-37903)",
    proves,
    code: `
      const seen = []
      const spy = { [Symbol.for("nodejs.util.inspect.custom")](...args) { seen.push(home(this), ...args.map(home)); return args } }
      console.log(spy, [spy], { spy }); console.table([spy]); console.dir(spy); svc.log.info(spy, spy)
      return [...new Set(seen)].filter((way) => way !== "home" && way !== "none")`,
    checkOutcome: returns([])
  },
  {
    name: "an import and its promise (CVE-2021-23449)",
    proves: "there are no modules to import",
    code: `
      const seen = []
      for (const name of ["fs", "node:fs", "./x.js", "data:text/javascript,export default 1", "isolated-vm", "file:///etc/passwd"]) {
        const promise = (0, eval)("(name) => import(name)")(name)
        seen.push(home(promise), home(promise.toString))
        seen.push(await promise.then(() => "IMPORTED", (error) => home(error)))
      }
      return [...new Set(seen)]`,
    checkOutcome: returns(["home"])
  },
  {
    name: "import.meta and import attributes",
    proves: "there are no modules to import",
    code: `
      return [
        await attempt(() => (0, eval)("import.meta.url")),
        await attempt(() => new Function("return import('fs', { with: { type: 'json' } })")().then(() => "IMPORTED", () => "refused")),
        await attempt(() => import("x", { with: { get type() { throw new RangeError() } } }).then(() => "IMPORTED", () => "refused"))]`,
    checkOutcome: returns(["SyntaxError", "refused", "refused"])
  },
  {
    name: "overflows at each depth of a call of the host (CVE-2021-23555)",
    proves,
    code: `
      const seen = new Set()
      const probe = (left) => {
        if (left > 0) { probe(left - 1); return }
        for (const deed of [() => svc.events.publish({ type: "t" }), () => svc.host.a(1)])
          try { deed()?.catch?.((error) => seen.add(home(error))) } catch (error) { seen.add(home(error)) }
      }
      let most = 0
      try { (function deeper() { most++; deeper() })() } catch (error) { seen.add(home(error)) }
      for (let at = most * 0.3; at < most; at += most / 40) try { probe(at) } catch (error) { seen.add(home(error)) }
      await new Promise((go) => setTimeout(go, 5))
      return [...seen].sort()`,
    checkOutcome: (outcome) => (outcome._tag === "CpuExhausted" ? undefined : returns(["home"])(outcome))
  },
  {
    name: "overflows while a result is made into text",
    proves,
    code: `
      let deep = []
      for (let level = 0; level < 9000; level++) deep = [deep]
      return deep`,
    checkOutcome: contained
  },
  {
    name: "a function's caller and arguments",
    proves,
    code: `
      const sloppy = Function("return (function f() { try { return f.caller } catch (e) { return e.name } })()")
      const seen = [sloppy(), [1].map(sloppy)[0], await Promise.resolve().then(sloppy)]
      JSON.stringify({ toJSON: () => seen.push(sloppy()) })
      return seen.filter((caller) => caller !== null && typeof caller !== "string").map(home).filter((way) => way !== "home")`,
    checkOutcome: returns([])
  },
  {
    name: "a function without a bound this",
    proves,
    code: `return [Function("return this")() === globalThis, home(Function("return this")()), (0, eval)("this") === globalThis, typeof (0, eval)("typeof process !== 'undefined' && process")]`,
    checkOutcome: returns([true, "home", true, "boolean"])
  },
  {
    name: "names of the engine and the loader",
    proves: "the loader leaves nothing behind",
    code: `
      const known = Object.getOwnPropertyNames(globalThis)
      const tried = ["ivm", "Reference", "ExternalCopy", "Isolate", "_ivm", "$0", "global", "__weft_load", "__weft_bundle", "__weft",
        "kernel", "bridge", "boot", "mark", "primordials", "internalBinding", "process", "require", "Deno", "Bun", "importScripts"]
      return tried.filter((name) => known.includes(name) || (0, eval)("typeof " + name) !== "undefined")`,
    checkOutcome: returns([])
  },
  {
    name: "the loader called again",
    proves: "a build is loaded once",
    code: "return [typeof __weft_load, await attempt(() => __weft_load(() => ({})))]",
    checkOutcome: returns(["undefined", "ReferenceError"])
  },
  {
    name: "other realms",
    proves,
    code: `return ["ShadowRealm", "Realm", "Compartment", "Worker", "SharedWorker",
      "postMessage", "onmessage", "document", "window", "frames", "XMLHttpRequest"].filter((name) => name in globalThis)`,
    checkOutcome: returns([])
  },
  {
    name: "natives and the debugger",
    proves: "the engine's own syntax is off",
    code: 'debugger; return [await attempt(() => (0, eval)("%GetOptimizationStatus(1)")), await attempt(() => Function("return %DebugPrint(1)")()), typeof gc, typeof d8, typeof v8debug]',
    checkOutcome: returns(["SyntaxError", "SyntaxError", "undefined", "undefined", "undefined"])
  },
  {
    name: "code that closes its function",
    proves: "text does not become code outside of its function",
    code: 'return [await attempt(() => new Function("/*", "*/){return typeof process")()), await attempt(() => Function("}, globalThis.escaped = 1, function () {")()), typeof escaped, await attempt(() => new Function("a = this.process", "return typeof a")())]',
    checkOutcome: returns(["SyntaxError", "SyntaxError", "undefined", "undefined"])
  },
  {
    name: "the classes behind svc",
    proves: "the parts of svc lead to no other run",
    code: `
      const seen = []
      for (const part of [svc, svc.events, svc.context, svc.stream, svc.log, svc.schedules]) {
        const made = await attempt(() => new part.constructor({ call: (...args) => { seen.push(...args.map(home)); return "1" }, id: 1 }, {}, {}))
        await attempt(() => made.publish({}))
        await attempt(() => made.get("secret"))
        await attempt(() => part.constructor.prototype.publish?.call({}, {}))
        seen.push(Reflect.ownKeys(part).length <= 3 ? "home" : "TOO MUCH", String(await attempt(() => part.constructor.prototype.get?.call(svc.events, "secret"))))
      }
      return [...new Set(seen)].filter((way) => !["home", "none", "undefined", "TypeError", "[object Object]"].includes(way))`,
    checkOutcome: returns([])
  },
  {
    name: "symbols that the engine asks for",
    proves,
    code: `
      const seen = []
      const trap = new Proxy({}, { get: (_, key) => typeof key === "symbol" || key === "then" || key === "toJSON"
        ? (...args) => { seen.push(...args.map(home)); return key === Symbol.toPrimitive ? "x" : undefined } : undefined })
      for (const deed of [() => svc.events.publish(trap), () => svc.host.a(trap), () => svc.call("main/x", trap), () => svc.stream.emit("t", trap),
        () => fetch(trap), () => fetch("https://a.test/", trap), () => fetch("https://a.test/", { method: "POST", body: trap, headers: trap, signal: trap }),
        () => svc.invoke(trap), () => svc.files.get(trap), () => svc.asset(trap), () => setTimeout(trap, trap), () => console.log(trap), () => structuredClone(trap),
        () => new URL(trap), () => new Headers(trap), () => new Response(trap), () => crypto.subtle.digest(trap, trap), () => svc.schedules.create(trap)])
        await attempt(() => Promise.race([deed(), new Promise((go) => setTimeout(go, 5))]))
      return [...new Set(seen)].filter((way) => way !== "home" && way !== "none")`,
    checkOutcome: returns([])
  },
  {
    name: "instanceof with a right side of its own",
    proves,
    code: `
      const seen = []
      const spy = { get(value) { seen.push(home(value)); return true } }
      for (const name of ["Error", "Promise", "Response", "Uint8Array", "Map", "Date", "AbortSignal", "ReadableStream", "Blob"])
        try { Object.defineProperty(globalThis[name], Symbol.hasInstance, { value: (value) => spy.get(value) }) } catch {}
      await attempt(() => console.log(new Error("x"), new Map(), svc))
      await svc.events.publish({ type: "t" })
      try { await fetch("https://a.test/", { body: "x", method: "POST" }) } catch {}
      return [...new Set(seen)].filter((way) => way !== "home" && way !== "none")`,
    checkOutcome: returns([])
  },
  {
    name: "async iteration of input",
    proves,
    code: `
      const seen = []
      Object.defineProperty(Object.prototype, Symbol.asyncIterator, { get() { seen.push(home(this)); return undefined }, configurable: true })
      const body = (await fetch("https://a.test/")).body
      for await (const chunk of body) seen.push(home(chunk), home(chunk.buffer))
      delete Object.prototype[Symbol.asyncIterator]
      return [...new Set(seen)]`,
    checkOutcome: returns(["home"])
  },
  {
    name: "a prototype that was polluted before an answer came",
    proves,
    code: `
      const seen = []
      const watch = (value) => { const way = home(value); if (way !== "home" && way !== "none") seen.push(way) }
      for (const key of ["then", "list", "text", "message", "name", "stack", "cause", "payload", "status", "headers", "value", "done", "id"])
        Object.defineProperty(Object.prototype, key, { __proto__: null, get() { watch(this); return undefined }, set(value) { watch(this); watch(value)
          Object.defineProperty(this, key, { __proto__: null, value, writable: true, configurable: true, enumerable: true }) }, configurable: true })
      await attempt(() => svc.events.publish({ type: "t" }))
      await attempt(() => svc.events.publish({ type: "refuse" }))
      await attempt(() => svc.host.a.b({}))
      await attempt(() => fetch("https://a.test/").then((response) => response.json()))
      return seen.length`,
    checkOutcome: returns(0)
  },
  {
    name: "globals that are replaced under the kernel's feet",
    proves: "the kernel uses what it captured before",
    code: `
      const { defineProperty } = Object
      for (const name of ["Error", "Promise", "JSON", "Object", "Reflect", "Map", "Set", "String", "Array", "AbortController", "DOMException", "Response", "Uint8Array", "console"])
        defineProperty(globalThis, name, { get() { throw new TypeError("replaced") }, configurable: true })
      await svc.events.publish({ type: "t" })
      return "done"`,
    checkOutcome: returns("done")
  },
  {
    name: "shadowing by with",
    proves,
    code: `
      const spy = []
      Function("scope", "run", "with (scope) { run() }")(new Proxy({}, { has: (_, key) => { spy.push(String(key)); return key !== "run" }, get: () => undefined }), () => svc.events.publish({ type: "t" }))
      return spy.filter((name) => name !== "run" && name !== "Symbol(Symbol.unscopables)")`,
    checkOutcome: returns([])
  }
]
