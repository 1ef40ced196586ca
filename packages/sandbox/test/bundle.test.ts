import { assert, layer } from "@effect/vitest"
import { type BundleRejected, Sandbox, type SandboxUnavailable } from "@weft/core/adapter"
import { Effect, Redacted } from "effect"
import { sandbox } from "../src/index.ts"
import { compilerPids } from "./CompilerPids.ts"
import { createTenant } from "./Tenant.ts"
import { buildBundle, type ZipEntry, zipEntries } from "./zip.ts"

const MiB = 1024 * 1024
// Each bundle is loaded by a runner that was started ahead.
const options = {
  spareRunner: true,
  runners: 1,
  key: Redacted.make(new Uint8Array(32).fill(7)),
  limits: { loadMs: 1000, archiveBytes: MiB, unpackedBytes: 2 * MiB, archiveEntries: 100, heapBytes: 64 * MiB }
}

const rejection = (effect: Effect.Effect<unknown, BundleRejected | SandboxUnavailable>) =>
  Effect.map(Effect.flip(effect), (error) => {
    assert.strictEqual(error._tag, "BundleRejected")
    return error.message
  })

const script: ZipEntry = { name: "index.js", content: "export const a = () => 1" }

const unfair: ReadonlyArray<readonly [string, Uint8Array, RegExp]> = [
  ["not a zip", new TextEncoder().encode("hello, this is not a zip, not even close"), /not a usable zip/],
  ["empty", new Uint8Array(0), /not a usable zip/],
  ["cut short", zipEntries([script]).slice(0, 60), /not a usable zip/],
  ["too large", new Uint8Array(MiB + 1), /over 1048576 bytes/],
  ["without index.js", zipEntries([{ name: "main.js", content: "" }]), /no index\.js at its root/],
  ["with index.js in a folder", zipEntries([{ name: "src/index.js", content: "" }]), /no index\.js at its root/],
  [
    "unpacking to too many bytes",
    zipEntries([script, { name: "a", content: "x".repeat(3 * MiB) }]),
    /too large in total/
  ],
  [
    "with a wrong size",
    zipEntries([script, { name: "a", content: "x".repeat(3 * MiB), claimedSize: 10 }]),
    /not a usable zip|too large/
  ],
  ["with a path outside", zipEntries([script, { name: "../a", content: "" }]), /\.\.\/a/],
  ["with a hidden path outside", zipEntries([script, { name: "a/../../b", content: "" }]), /\.\./],
  ["with an absolute name", zipEntries([script, { name: "/etc/passwd", content: "" }]), /etc\/passwd/],
  ["with a drive letter", zipEntries([script, { name: "C:/a", content: "" }]), /C:\/a/],
  ["with a backslash", zipEntries([script, { name: "a\\b", content: "" }]), /not a usable zip/],
  ["with a control character", zipEntries([script, { name: "a\u0000b", content: "" }]), /not allowed/],
  ["with a name twice", zipEntries([script, script]), /two entries "index\.js"/],
  ["with a symbolic link", zipEntries([script, { name: "l", content: "/etc", mode: 0o120777 }]), /symbolic link/],
  ["encrypted", zipEntries([script, { name: "e", content: "x", flags: 1 }]), /encrypted/],
  ["compressed with an unknown method", zipEntries([script, { name: "m", content: "x", method: 99 }]), /unknown way/],
  [
    "of too many files",
    zipEntries([script, ...Array.from({ length: 101 }, (_, index) => ({ name: `f${index}`, content: "" }))]),
    /over 100 entries/
  ]
]

/** Returns code with functions that share one `meta` of 9900 event types. */
const sharedMeta = (count: number): string => `
const meta = { event: Array.from({ length: 9900 }, (_, n) => "event:" + n) }
export const many = {}
for (let n = 0; n < ${count}; n++) many["f" + n] = Object.assign(() => n, { meta })`

const functions = (withMeta: number, without: number): string => `
export const many = {}
for (let n = 0; n < ${withMeta}; n++) many["f" + n] = Object.assign(() => n, { meta: { event: "event:" + n } })
for (let n = 0; n < ${without}; n++) many["g" + n] = () => n`

const broken: ReadonlyArray<readonly [string, string, RegExp]> = [
  ["a syntax error", "export const a = 1\nexport const b = {{", /^index\.js:2:\d+ /],
  ["an import", 'import { x } from "lodash"\nexport { x }', /^index\.js:1:\d+ imports "lodash".*bundler/],
  ["a dynamic import", 'export const a = () => import("node:fs")', /imports "node:fs"/],
  ["an import of a file", 'export * from "/etc/passwd"', /imports "\/etc\/passwd"/],
  ["an error while loading", "const a = 1\n\nnull.x\nexport { a }", /^index\.js:3:\d+ TypeError: .*null/],
  ["null thrown while loading", "export const a = 1\nthrow null", /Error: null/],
  ["an endless loop", "for (;;);\nexport {}", /did not load within 1000 ms/],
  ["an endless loop in a getter", "export const a = () => 1\na.meta = { get x() { for (;;); } }", /within 1000 ms/],
  [
    "too much memory",
    "const a = []\nfor (;;) a.push(new Array(1e5).fill({}))\nexport {}",
    /bytes to load|within|ended/
  ],
  ["a function for meta", "export const a = () => 1\na.meta = () => 1", /^main\/a: meta is a function/],
  [
    "a function in meta",
    "export const a = () => 1\na.meta = { event: 'x', f() {} }",
    /^main\/a: meta\.f is a function/
  ],
  ["a Date in meta", "export const t = { b() {} }\nt.b.meta = { at: new Date() }", /^t\/b: meta\.at is not a plain/],
  ["a cycle in meta", "export const a = () => 1\na.meta = {}\na.meta.a = a.meta", /^main\/a: .*too deep/],
  ["a meta of many functions", sharedMeta(500), /^names and meta of the exports of index\.js have over 1048576 bytes$/],
  [
    "long words in other scripts",
    `export const a = () => 1\na.meta = { description: "é".repeat(600_000) }`,
    /^names and meta of the exports of index\.js have over/
  ],
  ["more functions with meta than a build may have", functions(1001, 0), /^index\.js exports over 1000 functions with/],
  ["NaN in meta", "export const a = () => 1\na.meta = { n: NaN }", /^main\/a: meta\.n is not a finite/],
  [
    "an error with evil getters",
    "const e = new Error('x')\nfor (const k of ['message', 'stack', 'name']) Object.defineProperty(e, k, { get() { for (;;); } })\nthrow e",
    /did not load/
  ]
]

layer(sandbox(options), { excludeTestServices: true, timeout: "60 seconds" })("a bundle", (it) => {
  it.effect.each(unfair)("%s is rejected by the check", ([, zip, reason]) =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      assert.match(yield* rejection(sandbox.check(zip)), reason)
    })
  )

  it.effect.each(broken)("with %s is rejected by its preparation", ([, source, reason]) =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      assert.match(yield* rejection(sandbox.prepare(buildBundle(source))), reason)
    })
  )

  it.effect("lists its functions with their meta, in order", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const source = `
        export const b = () => 1
        export async function a() {}
        a.meta = { event: "order:created", retry: { attempts: 3 } }
        export default class {}
        export const constant = 7
        const create = () => 1
        create.meta = { schedule: ["0 3 * * *"] }
        export const orders = { create, note: "text" }
        export { orders as "billing.invoices" }
        const hidden = {}
        Object.defineProperty(hidden, "secret", { value: () => 1, enumerable: false })
        export { hidden }
      `
      const { functions } = yield* sandbox.prepare(buildBundle(source))
      assert.deepStrictEqual(functions, [
        { ns: "billing.invoices", var: "create", meta: { schedule: ["0 3 * * *"] } },
        { ns: "main", var: "a", meta: { event: "order:created", retry: { attempts: 3 } } },
        { ns: "main", var: "b", meta: undefined },
        { ns: "main", var: "default", meta: undefined },
        { ns: "orders", var: "create", meta: { schedule: ["0 3 * * *"] } }
      ])
    })
  )

  it.effect("lists the maximum number of functions", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      for (const [source, count] of [
        [functions(1000, 10_000), 11_000],
        [sharedMeta(5), 5]
      ] as const) {
        assert.strictEqual((yield* sandbox.prepare(buildBundle(source))).functions.length, count)
      }
    })
  )

  it.effect("keeps the author's lines through a source map", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      // One mapping: line 1, column 0 of index.js to line 41, column 2 of src/author.ts.
      const map = JSON.stringify({ version: 3, sources: ["src/author.ts"], names: [], mappings: "AAwCE" })
      const { artifact } = yield* sandbox.prepare(
        buildBundle("export const fails = () => { throw new Error('here') }", { "index.js.map": map })
      )
      const { outcome } = yield* createTenant(sandbox, 500, artifact).call("fails")
      assert.include(outcome._tag === "Threw" ? outcome.stack : "", "src/author.ts:41:")
    })
  )

  it.effect("is compiled after the compiler's process was killed", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      for (let time = 0; time < 2; time++) {
        const { functions } = yield* sandbox.prepare(zipEntries([script]))
        assert.deepStrictEqual(functions, [{ ns: "main", var: "a", meta: undefined }])
        const compilers = compilerPids()
        assert.isAbove(compilers.length, 0)
        for (const pid of compilers) process.kill(pid, "SIGKILL")
      }
    })
  )

  it.effect("cannot make the compiler read a file", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const outside = new URL("./outside.js.map", import.meta.url).pathname
      const source = `export const fails = () => { throw new Error("x") }\n//# sourceMappingURL=${outside}\n`
      const { artifact } = yield* sandbox.prepare(buildBundle(source))
      const { outcome } = yield* createTenant(sandbox, 501, artifact).call("fails")
      assert.include(outcome._tag === "Threw" ? outcome.stack : "", "index.js:1:")
    })
  )

  it.effect("runs without the code cache of another script, which the engine itself would accept", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      // The engine compares only the length of the scripts.
      const [one, other] = yield* Effect.forEach(["one", "two"], (word) =>
        sandbox.prepare(buildBundle(`const pad = "${"x".repeat(3000)}"\nexport const say = () => "${word}" + pad[0]`))
      )
      const mixed = withCacheOf(one?.artifact ?? assert.fail(), other?.artifact ?? assert.fail())
      const { outcome } = yield* createTenant(sandbox, 520, mixed).call("say")
      assert.deepInclude(outcome, { _tag: "Returned", output: '"onex"' })
    })
  )

  it.effect("runs without a manipulated code cache, and does not run a manipulated script", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const source = `const pad = "${"x".repeat(3000)}"\nexport const size = () => pad.length`
      const { artifact } = yield* sandbox.prepare(buildBundle(source))
      const cacheTampered = artifact.slice()
      cacheTampered[cacheTampered.length - 100] = (cacheTampered.at(-100) ?? 0) ^ 0xff
      const survived = yield* createTenant(sandbox, 502, cacheTampered).call("size")
      assert.deepInclude(survived.outcome, { _tag: "Returned", output: "3000" })

      const scriptTampered = artifact.slice()
      const at = Buffer.from(scriptTampered).indexOf("xxxx")
      scriptTampered[at] = "y".charCodeAt(0)
      const bad = [scriptTampered, artifact.slice(0, -1), new Uint8Array(0), new Uint8Array(500)]
      for (const [index, artifact] of bad.entries()) {
        const exit = yield* Effect.exit(createTenant(sandbox, 510 + index, artifact).call("size"))
        assert.strictEqual(exit._tag, "Failure")
      }
    })
  )
})

/** Splits magic and version, the MACs of script and cache, and then script, map, engine and cache after their lengths. */
const splitParts = (artifact: Uint8Array) => {
  const bytes = Buffer.from(artifact)
  const lengthsBefore = [0, 1, 2].reduce((at) => at + 4 + bytes.readUInt32LE(at), 69)
  return {
    head: bytes.subarray(0, 37),
    cacheMac: bytes.subarray(37, 69),
    code: bytes.subarray(69, lengthsBefore),
    cache: bytes.subarray(lengthsBefore)
  }
}

const withCacheOf = (artifact: Uint8Array, other: Uint8Array): Uint8Array => {
  const { head, code } = splitParts(artifact)
  const { cacheMac, cache } = splitParts(other)
  return new Uint8Array(Buffer.concat([head, cacheMac, code, cache]))
}
