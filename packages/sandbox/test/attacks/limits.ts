/** Attacks on removed features, coarse clocks and limits, through every path to them. */
import { type Attack, contained, ends, returns } from "./Attack.ts"

const gone = "features that bypass limits are removed"
const bounded = "resources and calls of a run are limited"
const buffers = "buffers are counted and cannot grow"
const over = "a run that has ended reaches nothing"

const MiB = 1024 * 1024

/** Visits all reachable objects, and returns the names of removed features. */
const walk = `
  const seen = new Set(), found = []
  const kinds = /SharedArrayBuffer|WebAssembly|Atomics|FinalizationRegistry|WeakRef/
  const open = [globalThis, svc, await fetch("https://a.test/"), new AbortController(), (async function* () {})(), new Uint8Array(1),
    structuredClone(new Uint8Array(2)), await svc.events.publish({}), Error.captureStackTrace, new Error("x")]
  while (open.length > 0 && seen.size < 30000) {
    const object = open.pop()
    if (object === null || (typeof object !== "object" && typeof object !== "function") || seen.has(object)) continue
    seen.add(object)
    let kind = ""
    try { kind = Object.prototype.toString.call(object) + (typeof object === "function" ? object.name : "") } catch {}
    if (kinds.test(kind)) found.push(kind)
    for (const key of Reflect.ownKeys(object)) {
      try { const own = Object.getOwnPropertyDescriptor(object, key); open.push(own.value, own.get, own.set) } catch {}
      try { open.push(object[key]) } catch {}
    }
    try { open.push(Object.getPrototypeOf(object)) } catch {}
  }
  return [seen.size > 500, found]`

/** Returns code that measures the smallest visible step of a clock. */
const step = (read: string): string =>
  `const read = () => ${read}; let first = read(); let next = first; for (let n = 0; n < 1e7 && next === first; n++) next = read(); return next === first || next - first >= 0.9`

export const limitAttacks: ReadonlyArray<Attack> = [
  {
    name: "capabilities that were taken away, wherever they might still hang",
    proves: gone,
    code: walk,
    checkOutcome: returns([true, []])
  },
  {
    name: "capabilities by their literals",
    proves: gone,
    code: `return [await attempt(() => (0, eval)("new WebAssembly.Memory({ initial: 1 })")), await attempt(() => new (Function("return SharedArrayBuffer")())(8)),
      await attempt(() => (0, eval)("Atomics.wait")), await attempt(() => structuredClone(new ArrayBuffer(8)).constructor === ArrayBuffer),
      await attempt(() => Object.prototype.toString.call(new Uint8Array(8).buffer))]`,
    checkOutcome: returns(["ReferenceError", "ReferenceError", "ReferenceError", true, "[object ArrayBuffer]"])
  },
  {
    name: "growable buffers by every constructor",
    proves: buffers,
    code: `
      const growing = { maxByteLength: 1e9 }
      const made = [() => new ArrayBuffer(8, growing), () => Reflect.construct(ArrayBuffer, [8, growing]),
        () => Reflect.construct(ArrayBuffer, [8, growing], class extends ArrayBuffer {}), () => new (class extends ArrayBuffer {})(8, growing),
        () => new ArrayBuffer(8).slice(0), () => structuredClone(new ArrayBuffer(8)), () => new (new Uint8Array(1).buffer.constructor)(8, growing)]
      const seen = []
      for (const make of made) seen.push(await attempt(() => [make().resizable, make().byteLength]))
      return seen.filter((one) => JSON.stringify(one) !== "[false,8]")`,
    checkOutcome: returns([])
  },
  {
    name: "a buffer that is called, not made",
    proves: buffers,
    code: "return [await attempt(() => ArrayBuffer(8)), typeof ArrayBuffer.prototype.resize, typeof ArrayBuffer.prototype.transfer]",
    checkOutcome: returns(["TypeError", "undefined", "undefined"])
  },
  {
    name: "buffers of a species",
    proves: buffers,
    code: `
      class Mine extends ArrayBuffer { static get [Symbol.species]() { return function (length) { return new ArrayBuffer(length, { maxByteLength: 1e9 }) } } }
      const cut = new Mine(64).slice(8)
      class Bytes extends Uint8Array { static get [Symbol.species]() { return class { constructor() { return new Uint8Array(new ArrayBuffer(64, { maxByteLength: 1e9 })) } } } }
      return [cut.resizable, new Bytes(8).map((x) => x).buffer.resizable]`,
    checkOutcome: returns([false, false])
  },
  {
    name: "buffers detached while they are read",
    proves: buffers,
    code: `
      const bytes = new Uint8Array(1e6).fill(65)
      const take = () => { try { structuredClone(bytes.buffer, { transfer: [bytes.buffer] }) } catch {} try { bytes.buffer.transferToFixedLength(0) } catch {} return 0 }
      const seen = [await attempt(() => bytes.fill({ valueOf: take })), await attempt(() => bytes.set({ length: 1, get 0() { return take() } })),
        await attempt(() => bytes.subarray({ valueOf: take }).length), await attempt(() => new TextDecoder().decode(bytes).length),
        await attempt(() => bytes.sort(() => take()).length), await attempt(() => btoa(String.fromCharCode(...bytes.slice(0, 10))))]
      return seen.length`,
    checkOutcome: returns(6)
  },
  {
    name: "the clock of performance",
    proves: "clocks are coarse",
    code: step("performance.now()"),
    checkOutcome: returns(true)
  },
  { name: "the clock of dates", proves: "clocks are coarse", code: step("Date.now()"), checkOutcome: returns(true) },
  {
    name: "the clock of events",
    proves: "clocks are coarse",
    code: step("new Event('x').timeStamp"),
    checkOutcome: returns(true)
  },
  {
    name: "a clock of microtasks",
    proves: "clocks are coarse",
    code: "const began = Date.now(); let n = 0; while (Date.now() - began < 20) { await null; n++ } const per = []; for (const clock of [performance.now(), performance.timeOrigin]) per.push(Number.isInteger(clock)); return per",
    checkOutcome: returns([true, true])
  },
  {
    name: "a comparator that changes what it sorts",
    proves: bounded,
    code: "const a = Array.from({ length: 5000 }, (_, i) => i); a.sort((x, y) => { a.length = 1e6; a.push(x); a.length = 0; return x - y }); return a.length >= 0",
    checkOutcome: contained
  },
  {
    name: "host calls beyond what may wait",
    proves: bounded,
    code: "const all = []; for (let n = 0; n < 5000; n++) all.push(attempt(() => svc.events.publish({ n }))); return (await Promise.all(all)).filter((x) => x === 'LimitExceeded').length",
    checkOutcome: returns(4000)
  },
  {
    name: "a host call that is too large",
    proves: bounded,
    code: "return attempt(() => svc.events.publish({ type: 'x'.repeat(2e6) }))",
    checkOutcome: returns("LimitExceeded")
  },
  {
    name: "a result that is too large",
    proves: bounded,
    code: "return 'x'.repeat(2e6)",
    checkOutcome: ends("LimitExceeded")
  },
  {
    name: "a body that is too large",
    proves: bounded,
    code: "return { status: 200, headers: { 'content-type': 'text/plain' }, body: 'é'.repeat(9e5) }",
    trigger: "request",
    checkOutcome: ends("LimitExceeded")
  },
  {
    name: "bytes that are too large",
    proves: bounded,
    code: "return new Response(new Uint8Array(3e6))",
    trigger: "request",
    checkOutcome: ends("LimitExceeded", "CpuExhausted", "OutOfMemory")
  },
  {
    name: "headers that are too many",
    proves: bounded,
    code: "return { status: 200, headers: Object.fromEntries(Array.from({ length: 5000 }, (_, n) => ['x-' + n, 'y'.repeat(20)])), body: '' }",
    trigger: "request",
    checkOutcome: ends("Threw")
  },
  {
    name: "cookies that are too many",
    proves: bounded,
    code: "return { status: 200, headers: { 'set-cookie': Array.from({ length: 5000 }, () => 'a=' + 'y'.repeat(20)) }, body: '' }",
    trigger: "request",
    checkOutcome: ends("Threw")
  },
  {
    name: "headers of two lines",
    proves: "a response cannot be split",
    code: "return { status: 200, headers: { 'x-a': 'b\\r\\nset-cookie: c=d' }, body: '' }",
    trigger: "request",
    checkOutcome: ends("Threw")
  },
  {
    name: "headers of the connection",
    proves: "a response cannot be split",
    code: "return { status: 200, headers: { 'transfer-encoding': 'chunked', connection: 'upgrade', upgrade: 'h2c', 'content-length': '5', 'x-a': 'b' }, body: 'x' }",
    trigger: "request",
    checkOutcome: (outcome) =>
      outcome._tag === "Responded" && JSON.stringify(outcome.headers) === '{"x-a":"b"}'
        ? undefined
        : JSON.stringify(outcome)
  },
  {
    name: "a log that is too long",
    proves: bounded,
    code: "for (let n = 0; n < 3000; n++) console.log('x'.repeat(1000)); return 1",
    checkOutcome: returns(1),
    checkTraffic: ({ lines }) => {
      const length = lines.join("").length
      return length > 500_000 && length <= MiB ? undefined : `its log has ${length} characters`
    }
  },
  {
    name: "timers that outlive the run",
    proves: over,
    code: "setTimeout(() => { for (;;); }, 1); setInterval(() => svc.events.publish({ type: 'late' }), 1); return 1",
    checkOutcome: returns(1),
    checkTraffic: ({ calls }) => (calls.length === 0 ? undefined : `the host received ${calls.length} calls`)
  },
  {
    name: "names of functions that nobody exported",
    proves: "only exports can be called",
    code: "const seen = []; for (const name of ['constructor', '__proto__', 'main/constructor', 'toString', '', 'main/', '/', 'main/attack0/x']) seen.push(await attempt(() => svc.invoke(name))); return [...new Set(seen)]",
    checkOutcome: returns(["FunctionNotFound"])
  },
  {
    name: "the name of a host function that is too long",
    proves: bounded,
    code: "let f = svc.host; for (let n = 0; n < 1e4; n++) f = f.a; return attempt(() => f(1))",
    checkOutcome: ends("Returned", "CpuExhausted")
  },
  {
    name: "symbols and inherited names as host functions",
    proves: "a name is text, and looked up by the host",
    code: "return [typeof svc.host[Symbol.iterator], typeof svc.host.then, await attempt(() => svc.host())]",
    checkOutcome: returns(["undefined", "undefined", "NotFound"])
  },
  {
    name: "traps set on the prototype of handlers",
    proves: "the kernel's proxies inherit nothing",
    // Own descriptors must not inherit the attack's properties.
    code: `
      let hits = 0
      const traps = ["apply", "construct", "has", "ownKeys", "getPrototypeOf", "get"]
      const value = () => { hits++ }
      for (const trap of traps) Object.defineProperty(Object.prototype, trap, { __proto__: null, value, configurable: true })
      const answer = await attempt(() => svc.host.a.b(1))
      for (const trap of traps) delete Object.prototype[trap]
      return [hits, typeof answer]`,
    checkOutcome: returns([0, "object"])
  }
]

/** Attacks that compute until they are stopped. */
export const loopAttacks: ReadonlyArray<Attack> = [
  {
    name: "transfers of buffers without end",
    proves: buffers,
    code: "let b = new ArrayBuffer(5e6); for (;;) b = typeof b.transferToFixedLength === 'function' ? b.transferToFixedLength(5e6) : structuredClone(b)",
    checkOutcome: ends("CpuExhausted", "OutOfMemory", "Threw", "RunnerLost")
  },
  {
    name: "comparators that never end",
    proves: bounded,
    code: "const a = Array.from({ length: 1000 }, (_, i) => i); a.sort(() => { for (;;); })",
    checkOutcome: ends("CpuExhausted")
  },
  {
    name: "expressions that backtrack, by every method",
    proves: bounded,
    code: 'const s = "a".repeat(40) + "b"; for (const f of [() => s.match(/^(a|a)*$/), () => s.search(/^(a|aa)+$/), () => s.split(/(a*)*c/), () => s.replaceAll(/(a+)+c/g, "")]) f()',
    checkOutcome: ends("CpuExhausted")
  },
  {
    name: "a large look behind",
    proves: bounded,
    code: 'return /(?<=(a+)+)b(?<!(x|a)*)$/u.test("a".repeat(50) + "c")',
    checkOutcome: contained
  },
  {
    name: "formats without end",
    proves: bounded,
    code: 'for (;;) new Intl.NumberFormat("ar-u-nu-thai", { style: "currency", currency: "THB" }).formatToParts(1e300)',
    checkOutcome: ends("CpuExhausted", "OutOfMemory", "RunnerLost")
  },
  {
    name: "promises that nobody settles",
    proves: bounded,
    code: "globalThis.kept = []; for (let n = 0; n < 2e4; n++) kept.push(new Promise(() => {}).then(() => {})); return kept.length",
    checkOutcome: ends("Returned", "CpuExhausted", "OutOfMemory")
  },
  {
    name: "microtasks that make two",
    proves: bounded,
    code: "const f = () => { queueMicrotask(f); queueMicrotask(f) }; f(); await new Promise(() => {})",
    checkOutcome: ends("CpuExhausted", "OutOfMemory", "RunnerLost")
  },
  {
    name: "intervals of nothing",
    proves: bounded,
    code: "let n = 0; const made = await attempt(() => { for (;;) setInterval(() => { n++ }, 0) }); return made",
    checkOutcome: ends("LimitExceeded", "Returned")
  },
  {
    name: "time limits without end",
    proves: bounded,
    code: "for (;;) AbortSignal.timeout(1e6)",
    checkOutcome: ends("LimitExceeded", "Threw", "CpuExhausted", "OutOfMemory", "RunnerLost")
  },
  {
    name: "signals that hang on signals",
    proves: bounded,
    code: "let s = new AbortController().signal; for (let n = 0; n < 1e5; n++) s = AbortSignal.any([s]); return 1",
    checkOutcome: ends("Returned", "CpuExhausted", "OutOfMemory", "Threw", "RunnerLost")
  },
  {
    name: "groups of the console without end",
    proves: bounded,
    code: "for (let n = 0; n < 1e5; n++) console.group(); console.log('a\\n'.repeat(1e5)); return 1",
    checkOutcome: ends("Returned", "CpuExhausted")
  },
  {
    name: "labels of the console without end",
    proves: bounded,
    code: "for (let n = 0; n < 5e4; n++) console.time('l' + n); return 1",
    checkOutcome: ends("Returned", "CpuExhausted", "LimitExceeded")
  },
  {
    name: "work that outlives the run",
    proves: over,
    code: "const mine = svc; (async () => { for (;;) { await null; mine.events.publish({ type: 'late' }).catch(() => {}) } })(); return 1",
    checkOutcome: ends("Returned", "CpuExhausted", "LimitExceeded")
  }
]
