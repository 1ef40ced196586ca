/**
 * The platform in an empty realm, with a fake kernel.
 *
 * It removes the same features as the kernel, and disables code from strings as in an isolate. Time is virtual.
 */
import { fileURLToPath } from "node:url"
import vm from "node:vm"
import { build } from "esbuild"
import type { Bridge, HostCaller } from "../../src/guest/Bridge.ts"
import { CryptoQueue } from "../../src/runner/crypto/CryptoQueue.ts"
import { GuestCrypto } from "../../src/runner/crypto/GuestCrypto.ts"
import { encodingTables } from "../../src/runner/encodings/EncodingTables.ts"
import { optionalBuilds } from "../../src/supervisor/GuestBuild.ts"

const entry = fileURLToPath(new URL("../../src/guest/platform/index.ts", import.meta.url))

const bundle = async (): Promise<string> => {
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: "iife",
    globalName: "platform",
    platform: "neutral",
    target: "es2024",
    mainFields: ["module", "main"],
    minify: true
  })
  return result.outputFiles[0]?.text ?? ""
}

const bundleOptional = (): Promise<ReadonlyArray<string>> =>
  Promise.all(
    Object.entries(optionalBuilds).map(async ([name, options]) => {
      const optionalEntry = fileURLToPath(new URL(`../../src/guest/${name}/main.ts`, import.meta.url))
      const result = await build({ ...options, entryPoints: [optionalEntry], write: false })
      return result.outputFiles[0]?.text ?? ""
    })
  )

const kernelRemovals = `
  for (const name of ["WebAssembly", "SharedArrayBuffer", "Atomics", "FinalizationRegistry", "WeakRef"]) {
    Reflect.deleteProperty(globalThis, name)
  }
  for (const name of ["resize", "transfer"]) Reflect.deleteProperty(ArrayBuffer.prototype, name)
`

export interface LogLine {
  readonly level: string
  readonly message: string
  readonly data: string | null
}

interface Pending {
  readonly id: number
  readonly due: number
  readonly order: number
}

/** Maximum argument of a host call, in bytes. */
export const callBytesMax = 64 * 1024

/** Limits of `crypto.subtle`. */
const cryptoLimits = { cryptoBytes: 4 * 1024 * 1024, cryptoRsaBits: 4096, cryptoRounds: 2_000_000, cryptoMs: 10_000 }

/** Maximum pending timers. */
export const timersMax = 50

/** Wraps `code` so that it returns its result as JSON, or its error as `{ thrown: name }`. */
const wrapped = (code: string): string => `(async () => {
  try {
    return JSON.stringify(await (async () => { ${code} })()) ?? "undefined"
  } catch (error) {
    return JSON.stringify({ thrown: error?.name ?? String(error) })
  }
})()`

export class Guest {
  readonly logs: Array<LogLine> = []
  /** Handler of host calls; null without a current run. */
  onCall: HostCaller | null = null
  readonly #context: vm.Context
  readonly #crypto = new GuestCrypto(new CryptoQueue(cryptoLimits.cryptoMs), cryptoLimits)
  readonly #bridge: Bridge
  #pending: Array<Pending> = []
  #now = 0
  #started = 0
  readonly #scope = {}

  private constructor(context: vm.Context, bridge: (guest: Guest) => Bridge) {
    this.#context = context
    this.#bridge = bridge(this)
  }

  static async start(entropy: Uint8Array = new Uint8Array(48).fill(7)): Promise<Guest> {
    const context = vm.createContext({}, { codeGeneration: { strings: false, wasm: false } })
    vm.runInContext(kernelRemovals, context)
    vm.runInContext(`globalThis.install = (() => { ${await bundled}; return platform.install })()`, context)
    const guest = new Guest(context, (self) => self.#makeBridge(entropy))
    const modules: unknown = context.install(guest.#bridge)
    vm.runInContext("delete globalThis.install", context)
    for (const text of await optional) {
      const installOptional: unknown = vm.runInContext(text, context)
      if (typeof installOptional === "function") Reflect.apply(installOptional, undefined, [modules, encodingTables()])
    }
    return guest
  }

  /** Runs the body of an async function and returns its result, converted through JSON. */
  async run(code: string): Promise<unknown> {
    const answer: unknown = await vm.runInContext(wrapped(code), this.#context)
    return parse(answer)
  }

  /** Evaluates an expression and returns its value unchanged. */
  evaluate(code: string): unknown {
    return vm.runInContext(code, this.#context)
  }

  get pendingTimers(): number {
    return this.#pending.length
  }

  /** Advances the time by `ms` milliseconds and fires due timers in order. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    while (true) {
      await new Promise(setImmediate)
      const next = this.#pending.toSorted((a, b) => a.due - b.due || a.order - b.order)[0]
      if (next === undefined || next.due > end) {
        break
      }
      this.#now = next.due
      this.#pending = this.#pending.filter((timer) => timer !== next)
      this.#bridge.onTimer(next.id)
    }
    this.#now = end
  }

  /** Removes all timers, as the end of their run does. */
  dropTimers(): void {
    for (const { id } of this.#pending) {
      this.#bridge.onTimerDropped?.(id)
    }
    this.#pending = []
  }

  #makeBridge(entropy: Uint8Array): Bridge {
    // An error of the guest's realm, as from the kernel.
    const toError: (name: string, message: string) => Error = vm.runInContext(
      "(name, message) => Object.assign(new Error(message), { name })",
      this.#context
    )
    return {
      compute: (request, bytes) =>
        new Promise((resolve, reject) =>
          this.#crypto.submit({
            request,
            bytes,
            isWanted: () => true,
            settle: (ok, text, detail) => (ok ? resolve(text) : reject(toError(text, detail))),
            overran: () => undefined
          })
        ),
      computeBytes: cryptoLimits.cryptoBytes,
      startTimer: (id, ms) => {
        if (this.#pending.length === timersMax) {
          throw new RangeError("too many timers")
        }
        this.#pending.push({ id, due: this.#now + Math.max(ms, 1), order: this.#started++ })
      },
      stopTimer: (id) => {
        this.#pending = this.#pending.filter((timer) => timer.id !== id)
      },
      onTimer: () => undefined,
      log: (level, message, data) => void this.logs.push({ level, message, data }),
      caller: () => this.onCall ?? undefined,
      scope: () => this.#scope,
      callBytes: callBytesMax,
      // A typed array of the guest's realm, as from the kernel.
      entropy: vm.runInContext(`new Uint8Array([${entropy.join()}])`, this.#context),
      now: () => this.#now
    }
  }
}

/** Runs the code in Node's own realm; guests' results are compared with it. */
export const oracle = async (code: string): Promise<unknown> => parse(await vm.runInThisContext(wrapped(code)))

const parse = (answer: unknown): unknown => (answer === "undefined" ? undefined : JSON.parse(String(answer)))

const bundled = bundle()
const optional = bundleOptional()
