/** Guest code that loops, allocates or overflows. Each program is the body of an async function. */
import { hookMeta, hookPath, type Room, type Shape } from "../Shape.ts"

/** Declares a function with this body, as a webhook with a timeout of 2 s. */
export const asWebhook = (body: string, path = "x", options?: string): string => `
export const ${path} = async (request, svc) => { ${body} }
${path}.meta = ${hookMeta(path, options)}
`

export interface Program {
  readonly name: string
  /** Predicate of a sentence about the function: "a function that …". */
  readonly does: string
  readonly code: string
  readonly room?: Room
  readonly sees?: Shape["sees"]
}

export const clientsOfPrograms = 4

/** Makes the shape of a program: clients call its webhook repeatedly. */
export const toShape = ({ name, does, code, room = "sandbox", sees = [200, 500] }: Program): Shape => ({
  name,
  attacker: "tenant",
  room,
  sends: `${clientsOfPrograms} clients repeatedly call a function that ${does}`,
  sees: [...sees, "pending"],
  source: asWebhook(code),
  attack: (attack) => attack.clients(clientsOfPrograms, () => attack.send({ method: "POST", path: hookPath("x") }))
})

const programs: ReadonlyArray<Program> = [
  { name: "endless-loop", does: "never pauses", code: "for (;;) {}" },
  { name: "endless-microtasks", does: "awaits without end", code: "for (;;) await null" },
  {
    name: "left-microtasks",
    does: "returns and leaves an endless loop of microtasks",
    code: "(async () => { for (;;) await null })(); return 1"
  },
  {
    name: "heap-bomb",
    does: "fills its heap",
    code: "const a = []; for (;;) a.push({ x: [1, 2, 3], y: 's' + a.length })"
  },
  {
    name: "growing-map",
    does: "grows a map, which V8 doubles in one step",
    code: "const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })"
  },
  {
    name: "filled-array",
    does: "fills an array of a billion elements in one call",
    code: "return Array(1e9).fill(1).length"
  },
  {
    name: "buffer-bomb",
    does: "allocates 10 GB of array buffers",
    code: "const a = []; for (let i = 0; i < 10240; i++) a.push(new Uint8Array(1 << 20).fill(1)); return a.length"
  },
  {
    name: "string-bomb",
    does: "flattens strings of 500 MB",
    code: "let s = 'x'; for (;;) { s += s; if (s.length > 2 ** 28) { s.indexOf('y'); s = 'x' } }"
  },
  {
    name: "long-number",
    does: "computes a number of 100 million digits",
    code: "return (2n ** (2n ** 29n)).toString().length"
  },
  {
    name: "regex-bomb",
    does: "runs a catastrophic regular expression",
    code: "return /^(a+)+$/.test('a'.repeat(40) + 'b')"
  },
  {
    name: "promise-flood",
    does: "creates promises that never resolve",
    code: "const a = []; for (;;) a.push(new Promise(() => {}))"
  },
  {
    name: "timer-flood",
    does: "starts 1,000 timers that restart themselves",
    code: "for (let i = 0; i < 1000; i++) setInterval(() => {}, 1); await new Promise(() => {})"
  },
  {
    name: "rejections",
    does: "leaves 100,000 rejected promises",
    code: "for (let i = 0; i < 1e5; i++) Promise.reject(new Error('x' + i)); return 1"
  },
  { name: "log-flood", does: "logs kilobytes without end", code: "for (;;) console.log('x'.repeat(1000))" },
  {
    name: "log-lines",
    does: "logs a million short lines",
    code: "for (let i = 0; i < 1e6; i++) console.log(i); return 1"
  },
  { name: "giant-result", does: "returns 400 MB", code: "return 'x'.repeat(4e8)" },
  {
    name: "result-at-limit",
    does: "returns 1 MB, the limit of a result",
    code: "return 'x'.repeat(1024 * 1024 - 100)"
  },
  {
    name: "deep-recursion",
    does: "recurses in `finally`",
    code: "const f = () => { try { f() } finally { f() } }; f()"
  },
  {
    name: "deep-json",
    does: "converts ever deeper objects to JSON",
    code: "let o = {}; for (;;) { o = { o, p: 'x'.repeat(1000) }; JSON.stringify(o) }"
  },
  {
    name: "deep-result",
    does: "returns an object of 100,000 levels",
    code: "let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; return o"
  },
  {
    name: "wasm-loop",
    does: "tries to loop in WebAssembly",
    code: "return new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array([0,97,115,109,1,0,0,0,1,4,1,96,0,0,3,2,1,0,7,5,1,1,102,0,0,10,9,1,7,0,3,64,12,0,11,11]))).exports.f()"
  },
  {
    name: "atomics-wait",
    does: "tries to block its thread with `Atomics.wait`",
    code: "return Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)"
  },
  {
    name: "sorted-array",
    does: "sorts 3 million numbers again and again",
    code: "const a = Array.from({ length: 3e6 }, (_, i) => (i * 7919) % 1000003); for (;;) a.sort((x, y) => x - y)"
  },
  {
    name: "structured-clone",
    does: "clones 1 MB again and again",
    code: "const o = Array.from({ length: 20000 }, (_, i) => ({ i, s: 'x'.repeat(40) })); for (;;) structuredClone(o)"
  },
  {
    name: "digest-loop",
    does: "hashes 10 MB again and again",
    code: "const b = new Uint8Array(1e7); for (;;) await crypto.subtle.digest('SHA-256', b)"
  },
  {
    name: "thrown-getter",
    does: "throws an error whose message never ends",
    code: "const e = new Error('x'); Object.defineProperty(e, 'message', { get() { for (;;); } }); throw e"
  },
  {
    name: "busy-slices",
    does: "computes for 400 ms, below the limit, and pauses for 1 ms",
    code: "for (;;) { const until = Date.now() + 400; while (Date.now() < until); await new Promise((done) => setTimeout(done, 1)) }"
  },
  {
    name: "garbage-churn",
    does: "allocates and frees 50 MB again and again",
    code: "for (;;) { let a = []; for (let i = 0; i < 1e6; i++) a.push({ i }); a = null; await new Promise((done) => setTimeout(done, 1)) }"
  }
]

export const programShapes: ReadonlyArray<Shape> = programs.map(toShape)
