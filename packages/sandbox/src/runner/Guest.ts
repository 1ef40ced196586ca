/** The script that goes first into every isolate, with its code cache, and how a kernel is made from it. */
import { randomBytes } from "node:crypto"
import ivm from "isolated-vm"
import type { RunnerLimits } from "../protocol/RunnerLimits.ts"
import { bodyKinds } from "../protocol/ToRunner.ts"
import type { Pending } from "./Pending.ts"

type Enter = (
  kind: number,
  run: number,
  a: number,
  text: string,
  detail: string,
  bodyKind: number,
  body: string
) => void

interface KernelShape {
  readonly enter: Enter
  readonly drain: () => string
  readonly report: (describe: boolean) => string
}

type Boot = (mark: Int32Array, limits: string, entropy: string) => KernelShape

/** The kernel's functions as seen from outside. Nothing else of an isolate is ever referred to. */
export interface KernelHandle {
  readonly enter: ivm.Reference<Enter>
  readonly drain: ivm.Reference<() => string>
  readonly report: ivm.Reference<(describe: boolean) => string>
}

const entropyBytes = 48
/** Our own code; a bound all the same, so that a fault in it cannot hang a runner. */
const bootTimeoutMs = 5000

export class Guest {
  readonly #text: string
  readonly #limitsText: string
  #cache: ivm.ExternalCopy<ArrayBuffer> | undefined

  constructor(text: string, limits: RunnerLimits, cache: Uint8Array<ArrayBuffer>) {
    this.#text = text
    this.#limitsText = JSON.stringify(limits)
    this.#cache = cache.length === 0 ? undefined : new ivm.ExternalCopy(cache.buffer)
  }

  /** Boots a kernel in a fresh context. `mark` is shared: see the kernel's `boot`. */
  async boot(isolate: ivm.Isolate, context: ivm.Context, mark: SharedArrayBuffer): Promise<KernelHandle> {
    const script = await isolate.compileScript(this.#text, {
      filename: "weft:kernel",
      ...(this.#cache === undefined ? {} : { cachedData: this.#cache })
    })
    const boot: ivm.Reference<Boot> = await script.run(context, { reference: true, timeout: bootTimeoutMs })
    const kernel: ivm.Reference<KernelShape> = await boot.apply(
      undefined,
      [
        new ivm.ExternalCopy(new Int32Array(mark)).copyInto({ release: true }),
        this.#limitsText,
        JSON.stringify([...randomBytes(entropyBytes)])
      ],
      { result: { reference: true } }
    )
    const handle: KernelHandle = {
      enter: await kernel.get("enter", { reference: true }),
      drain: await kernel.get("drain", { reference: true }),
      report: await kernel.get("report", { reference: true })
    }
    for (const used of [script, boot, kernel]) used.release()
    return handle
  }

  /**
   * Makes the code cache from an isolate that has booted, so that functions compiled lazily are in it, and keeps it.
   * Compiling the same text again finds the functions that already are.
   */
  async warm(heapBytes: number): Promise<Uint8Array<ArrayBuffer>> {
    const isolate = new ivm.Isolate({ memoryLimit: heapBytes / 1024 / 1024 })
    await this.boot(isolate, await isolate.createContext(), new SharedArrayBuffer(8))
    const cache = await cacheOf(isolate, this.#text, "weft:kernel")
    isolate.dispose()
    this.#cache = new ivm.ExternalCopy(cache.buffer)
    return cache
  }
}

/** The code cache of a script that has run in this isolate. */
export const cacheOf = async (
  isolate: ivm.Isolate,
  text: string,
  filename: string
): Promise<Uint8Array<ArrayBuffer>> => {
  const script = await isolate.compileScript(text, { filename, produceCachedData: true })
  const produced: unknown = Reflect.get(script, "cachedData")
  script.release()
  if (!(produced instanceof ivm.ExternalCopy)) return new Uint8Array(0)
  const copied: unknown = produced.copy()
  produced.release()
  return copied instanceof ArrayBuffer ? new Uint8Array(copied) : new Uint8Array(0)
}

/** Boots a kernel in a fresh isolate and runs the bundle under it. `text` is what the kernel reports of it. */
export const loadBundle = async (
  isolate: ivm.Isolate,
  mark: SharedArrayBuffer,
  { guest, limits }: { readonly guest: Guest; readonly limits: RunnerLimits },
  load: { readonly describe: boolean; readonly script: string; readonly cache: Uint8Array<ArrayBuffer> }
): Promise<{ readonly kernel: KernelHandle; readonly text: string }> => {
  const context = await isolate.createContext()
  const kernel = await guest.boot(isolate, context, mark)
  const script = await isolate.compileScript(load.script, {
    filename: "weft:bundle",
    ...(load.cache.length === 0 ? {} : { cachedData: new ivm.ExternalCopy(load.cache.buffer) })
  })
  // What the script throws is dropped, not copied out: the kernel has caught everything that is worth knowing.
  script.runIgnored(context, { timeout: limits.loadMs })
  const text = await kernel.report.apply(undefined, [load.describe], { timeout: limits.loadMs })
  script.release()
  kernel.report.release()
  return { kernel, text }
}

/** Hands messages to a kernel, one call for each. What they bring about. */
export const enter = async (kernel: KernelHandle, messages: ReadonlyArray<Pending>): Promise<string> => {
  for (const { kind, run, a, text, detail, body } of messages) {
    const bodyKind = body === null ? 0 : bodyKinds.indexOf(body.as)
    kernel.enter.applyIgnored(undefined, [kind, run, a, text, detail, bodyKind, body?.text ?? ""])
  }
  return kernel.drain.apply(undefined, [])
}

/** The three texts that the kernel makes of an error. */
export const describedParts = (text: string): readonly [string, string, string] => {
  const parts: unknown = JSON.parse(text)
  if (!Array.isArray(parts)) return ["Error", "", ""]
  const [name, message, stack] = parts.map(String)
  return [name ?? "Error", message ?? "", stack ?? ""]
}
