/**
 * Programs that try to hang, crash or starve their runtime: each is the body of an async function.
 *
 * `expected` lists the valid outcomes of a run. If there are several, the machine's speed decides which limit is
 * reached first.
 */
import type { Outcome } from "@weft/core/adapter"

export interface Shape {
  readonly code: string
  readonly expected: ReadonlyArray<Outcome["_tag"]>
  /** True if it runs with every change, as all do that end without a limit; `npm run proof -- attacks` runs the others. */
  readonly always?: true
}

const cpu = ["CpuExhausted"] as const
const memory = ["OutOfMemory", "CpuExhausted"] as const
const threw = ["Threw"] as const
const returned = ["Returned"] as const
const crashes = ["RunnerLost", "OutOfMemory", "CpuExhausted"] as const
/** Ends alone or at a limit, depending on the machine. */
const either = ["Returned", "Threw", "CpuExhausted", "OutOfMemory"] as const

const evilError = `
  const error = new Error("x")
  for (const name of ["message", "stack"]) Object.defineProperty(error, name, { get() { for (;;); } });`

export const shapes: Readonly<Record<string, Shape>> = {
  // Loops.
  "a loop": { code: "for (;;);", expected: cpu, always: true },
  "a loop of microtasks": { code: "for (;;) await 0", expected: cpu, always: true },
  "a chain of promises": { code: "const f = () => Promise.resolve().then(f); f()", expected: cpu },
  "microtasks left behind": { code: "(async () => { for (;;) await null })(); return 1", expected: cpu, always: true },
  recursion: { code: "(function f() { f() })()", expected: threw, always: true },
  "recursion in finally": { code: "(function f() { try { f() } finally { f() } })()", expected: cpu },
  "a loop after a host call": {
    code: 'await svc.events.publish({ type: "x" }); for (;;);',
    expected: cpu,
    always: true
  },
  "a loop in a timer": {
    code: "setTimeout(() => { for (;;); }, 1); await new Promise(() => {})",
    expected: cpu,
    always: true
  },
  "an async generator without end": { code: "for (;;) (async () => { await null; await null })()", expected: cpu },
  dates: { code: 'for (;;) new Date().toLocaleString("en", { timeZone: "UTC" })', expected: cpu },
  "locale strings": { code: 'for (;;) (1e21).toLocaleString("ar-EG")', expected: cpu },
  "word segments": {
    code: 'const s = new Intl.Segmenter("ja", { granularity: "word" }); for (;;) for (const _ of s.segment("これはテスト".repeat(1000)));',
    expected: cpu
  },

  // The engine's own code, which cannot be interrupted.
  "a backtracking expression": { code: 'return /^(a+)+$/.test("a".repeat(40) + "b")', expected: cpu, always: true },
  "a large expression": {
    code: 'return new RegExp("(?:(?:a{0,1000}){0,1000}){0,100}b").test("a".repeat(100))',
    expected: either
  },
  "nested groups": { code: 'return new RegExp("(".repeat(1e6) + ")".repeat(1e6)).test("x")', expected: threw },
  "an array filled": { code: "return new Array(2 ** 27).fill(0).length", expected: crashes, always: true },
  "an array of 1e9": { code: "return Array(1e9).fill(1).length", expected: [...crashes, "Threw"], always: true },
  "an array from 1e9": { code: "return Array.from({ length: 1e9 }).length", expected: crashes },
  "a search of everything": { code: "return [].indexOf.call({ length: 2 ** 53 - 1 }, 1)", expected: cpu, always: true },
  "a sparse search": { code: "const a = []; a.length = 2 ** 32 - 1; a[5] = 1; return a.lastIndexOf(7)", expected: cpu },
  "a sparse reversal": {
    code: "const a = []; a.length = 2 ** 32 - 1; a[5] = 1; return a.reverse().length",
    expected: cpu
  },
  "a sparse join": { code: 'return [].join.call({ length: 2 ** 29 }, "").length', expected: cpu },
  "a power": { code: "return (2n ** (2n ** 29n)).toString().length", expected: crashes, always: true },
  squares: { code: "let x = 3n; for (;;) x = x * x", expected: [...crashes, "Threw"] },
  "a long number": { code: "return (7n ** 20000000n).toString().length", expected: cpu },
  "long numbers": { code: "let x = (1n << 8000000n) + 12345n; for (;;) x.toString()", expected: cpu },
  "a sort": {
    code: "const a = Array.from({ length: 3e6 }, (_, i) => (i * 7919) % 1000003); for (;;) a.sort((x, y) => x - y)",
    expected: memory
  },
  "a sort of numbers": {
    code: "const a = new Float64Array(4e6).map(Math.random); for (;;) a.sort((x, y) => y - x)",
    expected: memory
  },
  "a replacement": { code: 'return "a".repeat(1e8).replace(/a/g, "b").length', expected: crashes, always: true },
  "many matches": { code: 'return [..."a".repeat(5e7).matchAll(/a/g)].length', expected: memory },
  "a comparison": { code: 'const a = "x".repeat(1e6); for (;;) a.localeCompare(a + "y")', expected: cpu },
  "an address decoded": { code: 'decodeURIComponent("%41".repeat(1.5e8)); return 1', expected: [...crashes, "Threw"] },
  "addresses decoded": { code: 'let s = "%41".repeat(1e7); for (;;) decodeURIComponent(s)', expected: crashes },
  "a huge call": { code: "return Reflect.apply(Math.max, null, { length: 2 ** 26 })", expected: [...crashes, "Threw"] },
  "many arguments": { code: "return Math.max(...new Array(2e7).fill(1))", expected: either },
  "a chain of proxies": {
    code: "let p = {}; for (let i = 0; i < 1e6; i++) p = new Proxy(p, {}); return p.x",
    expected: either
  },
  "a chain of bound functions": {
    code: "let f = () => 1; for (let i = 0; i < 1e6; i++) f = f.bind(null); return f()",
    expected: either
  },

  "a join of nothing": { code: 'return Array(5e7).join("abcdefghij").length', expected: [...either, "RunnerLost"] },
  "a flattened chain": {
    code: "let a = []; for (let i = 0; i < 1e6; i++) a = [a]; return a.flat(Infinity).length",
    expected: either
  },
  "a product": {
    code: "const x = 1n << (1n << 29n); return String(typeof (x * x))",
    expected: [...crashes, "Threw", "Returned"]
  },
  "two loops of microtasks": {
    code: "const f = async () => { for (let i = 0; i < 1e9; i++) await 0 }; f(); f(); return 1",
    expected: cpu
  },
  "a stop of the debugger": { code: "debugger; return 1", expected: returned },

  // Heap.
  objects: {
    code: 'const a = []; for (;;) a.push({ x: [1, 2, 3], y: "s" + a.length })',
    expected: memory,
    always: true
  },
  arrays: { code: "const a = []; for (;;) a.push(new Array(1e5).fill({}))", expected: memory },
  numbers: { code: "const a = []; for (;;) a.push(1)", expected: crashes },
  promises: { code: "const a = []; for (;;) a.push(new Promise(() => {}))", expected: memory },
  closures: { code: "let f = () => 0; for (;;) { const g = f; f = () => g }", expected: memory },
  "a growing map": { code: "const m = new Map(); for (;;) m.set({}, { a: 1 })", expected: crashes, always: true },
  "a growing set": { code: "const s = new Set(); for (let i = 0; ; i++) s.add(i)", expected: crashes },
  "a growing object": { code: 'const o = {}; for (let i = 0; ; i++) o["k" + i] = i', expected: crashes, always: true },
  "a weak chain": {
    code: "const m = new WeakMap(); const all = []; let k = {}; for (;;) { const n = {}; m.set(k, n); k = n; all.push(k) }",
    expected: crashes
  },
  "one huge array": {
    code: "const a = new Array(1e8); for (let i = 0; i < 1e8; i++) a[i] = i + 0.5; return a.length",
    expected: crashes,
    always: true
  },
  groups: {
    code: "return Object.groupBy({ *[Symbol.iterator]() { for (let i = 0; ; i++) yield i } }, (x) => x)",
    expected: crashes
  },
  // 240 MB for a moment. At its limit, the engine lets a heap grow by up to 1 GiB before the next check, to avoid the
  // end of the process. Memory that was freed by then does not count. The limit of the process applies.
  "an array out of a buffer": {
    code: "const b = new ArrayBuffer(30e6); const v = new Array(b.byteLength); const u = new Uint8Array(b); let i = v.length; while (i--) v[i] = u[i]",
    expected: either
  },
  "a heap after a host call": {
    code: 'await svc.events.publish({ type: "x" }); const a = []; for (;;) a.push({ x: [1, 2, 3] })',
    expected: memory
  },

  // Strings and JSON.
  "a doubled string": { code: 'let s = "x"; for (;;) s += s', expected: threw, always: true },
  "flattened strings": {
    code: 'const a = []; for (;;) { let t = "x".repeat(2 ** 28) + a.length; t.charCodeAt(5); /y/.test(t); a.push(t) }',
    expected: crashes
  },
  "a string of letters": { code: 'return [..."." .repeat(5e8)].length', expected: crashes },
  "a split string": { code: 'return "xy".repeat(2.5e8).split("").length', expected: crashes, always: true },
  "a normalized string": { code: 'return "\\u00e9".repeat(2e8).normalize("NFD").length', expected: crashes },
  "a replacement with its own text": {
    code: 'return "x".repeat(5e4).replace(/x/g, "x".repeat(5e4)).length',
    expected: [...threw, ...crashes]
  },
  "a JSON bomb": {
    code: "let o = {}; for (let i = 0; i < 40; i++) o = { a: o, b: o }; return JSON.stringify(o).length",
    expected: [...crashes, "Threw"],
    always: true
  },
  "deep JSON": {
    code: 'return JSON.parse("[".repeat(5e6) + "]".repeat(5e6)).length',
    expected: [...crashes, "Threw"],
    always: true
  },
  "large JSON": {
    code: 'return JSON.parse("[" + \'{"a":1},\'.repeat(1.5e7) + "1]").length',
    expected: [...crashes, "Threw"]
  },
  "JSON in a loop": { code: "return JSON.stringify({ toJSON() { for (;;); } })", expected: cpu },

  // Buffers and other memory outside the heap.
  "10 GB of buffers": {
    code: "const a = []; for (let i = 0; i < 2000; i++) { const u = new Uint8Array(5e6); u.fill(1); a.push(u) } return a.length",
    expected: [...threw, ...memory],
    always: true
  },
  "one huge buffer": { code: "return new ArrayBuffer(4e9).byteLength", expected: threw },
  "a growing buffer": {
    code: "const b = new ArrayBuffer(1, { maxByteLength: 4e9 }); for (let n = 1; ; n += 20e6) b.resize(n)",
    expected: threw,
    always: true
  },
  "growing shared memory": {
    code: "return new SharedArrayBuffer(1, { maxByteLength: 3e9 }).byteLength",
    expected: threw
  },
  "WebAssembly compiled later": {
    code: "return WebAssembly.instantiate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))",
    expected: threw
  },
  "waiting on memory for later": { code: "return Atomics.waitAsync(new Int32Array(4), 0, 0).value", expected: threw },
  "shared memory": { code: "return new SharedArrayBuffer(20e6).byteLength", expected: threw },
  WebAssembly: { code: "return new WebAssembly.Memory({ initial: 1000 }).buffer.byteLength", expected: threw },
  "waiting on memory": { code: "return Atomics.wait(new Int32Array(4), 0, 0)", expected: threw },
  formats: {
    code: 'const a = []; for (let i = 0; i < 2e5; i++) a.push(new Intl.DateTimeFormat("en-US", { timeZone: "Asia/Tokyo", dateStyle: "full" })); return a.length',
    expected: crashes
  },
  finalizers: { code: "new FinalizationRegistry(() => { for (;;); })", expected: threw },

  // Values that leave the isolate.
  "a promise that never settles": { code: "await new Promise(() => {})", expected: ["TimedOut"], always: true },
  "a getter that loops": {
    code: 'return Object.defineProperty({}, "x", { enumerable: true, get() { for (;;); } })',
    expected: cpu
  },
  "a then that loops": { code: "return { get then() { for (;;); } }", expected: cpu },
  "an error with evil getters": { code: `${evilError} throw error`, expected: cpu, always: true },
  "an evil error that nobody handles": {
    code: `${evilError} Promise.reject(error); return 1`,
    expected: [...cpu, ...returned],
    always: true
  },
  "an error that nobody handles": {
    code: 'Promise.reject(new Error("x")); return 1',
    expected: returned,
    always: true
  },
  "an error whose name loops": {
    code: 'throw Object.defineProperty(new Error("x"), "name", { get() { for (;;); } })',
    expected: cpu
  },
  "a proxy thrown": {
    code: "throw new Proxy({}, { get() { for (;;); }, getPrototypeOf() { for (;;); } })",
    expected: cpu
  },
  "null thrown": { code: "throw null", expected: threw, always: true },
  "an error with a huge message": { code: 'throw new Error("x".repeat(4e8))', expected: [...threw, ...crashes] },
  "a stack of its own": {
    code: "Error.prepareStackTrace = () => { for (;;); }; null.x",
    expected: cpu
  },
  "a huge string": { code: 'return "x".repeat(5e8)', expected: ["LimitExceeded", ...crashes, "Threw"], always: true },
  "a deep object": {
    code: "let o = {}; for (let i = 0; i < 2e5; i++) o = { o }; return o",
    // To detect cycles, the engine compares each level with all levels above it.
    expected: ["Threw", "LimitExceeded", "CpuExhausted"]
  },

  // Floods.
  "host calls": {
    code: 'for (;;) svc.events.publish({ type: "x" }).catch(() => {})',
    expected: memory,
    always: true
  },
  "large host calls": {
    code: 'const s = "x".repeat(3e8); for (;;) svc.events.publish({ type: s }).catch(() => {})',
    expected: crashes
  },
  timers: { code: "for (;;) { try { setTimeout(() => {}, 1) } catch {} }", expected: memory, always: true },
  "log lines": { code: 'for (;;) console.log("x".repeat(1000))', expected: cpu, always: true },

  // Manipulated built-ins.
  "polluted prototypes": {
    code: 'Object.prototype.then = (r) => r("polluted"); Array.prototype.toJSON = () => "x"; Promise.prototype.then = () => {}; return 1',
    expected: [...returned, "TimedOut"],
    always: true
  },
  "array setters": {
    code: "Object.defineProperty(Array.prototype, 0, { get() { for (;;); }, set() { for (;;); }, configurable: true }); return [1]",
    expected: returned
  },
  "code from text": { code: 'return eval("1 + 1")', expected: returned, always: true },
  "code from many members": {
    code: 'return (0, eval)("[" + "1,".repeat(5e6) + "1]").length',
    expected: [...either, "RunnerLost"]
  },
  "code from deep text": { code: 'return (0, eval)("(".repeat(2e5) + "1" + ")".repeat(2e5))', expected: threw },
  "functions from text": {
    code: 'const a = []; for (let i = 0; ; i++) a.push(new Function("return " + i + "+" + Math.random()))',
    expected: crashes
  },
  "code from much text": { code: 'return new Function("return " + "1+".repeat(5e6) + "1")()', expected: threw }
}
