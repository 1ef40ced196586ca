/** The first script in every isolate, with its code cache, and the functions that start a kernel from it. */
import { randomBytes } from "node:crypto"
import ivm from "isolated-vm"
import { type OptionalScript, readMark } from "../protocol/OptionalNames.ts"
import type { RunnerLimits } from "../protocol/RunnerLimits.ts"
import { bodyKinds } from "../protocol/ToRunner.ts"
import { encodingTables } from "./encodings/EncodingTables.ts"
import type { KernelMessage } from "./KernelMessage.ts"

type Enter = (
  kind: number,
  run: number,
  a: number,
  text: string,
  detail: string,
  bodyKind: number,
  body: string
) => void

interface Kernel {
  readonly enter: Enter
  readonly drain: () => string
  readonly report: (describe: boolean) => string
  readonly platform: object
}

type Boot = (progress: Int32Array, limits: string, entropy: string) => Kernel

/** References to the kernel's functions: the only references into an isolate. */
export interface KernelHandle {
  readonly enter: ivm.Reference<Enter>
  readonly drain: ivm.Reference<() => string>
  readonly report: ivm.Reference<(describe: boolean) => string>
}

const entropyBytes = 48
/** Time limit of the kernel's own code, so that a defect in it cannot hang a runner. */
const bootTimeoutMs = 5000

/** The texts of the scripts that run before a bundle. */
interface Texts {
  readonly guest: string
  readonly optional: Readonly<Record<OptionalScript, string>>
}

export class KernelScript {
  readonly #text: string
  readonly #optionalTexts: Texts["optional"]
  readonly #limitsText: string
  #cache: ivm.ExternalCopy<ArrayBuffer> | undefined

  constructor(texts: Texts, limits: RunnerLimits, cache: Uint8Array<ArrayBuffer>) {
    this.#text = texts.guest
    this.#optionalTexts = texts.optional
    this.#limitsText = JSON.stringify(limits)
    this.#cache = cache.length === 0 ? undefined : new ivm.ExternalCopy(cache.buffer)
  }

  /** Boots a kernel in a new context. `progress` is shared memory: see the kernel's `boot`. */
  async boot(
    isolate: ivm.Isolate,
    context: ivm.Context,
    progress: SharedArrayBuffer,
    optional: ReadonlyArray<OptionalScript>
  ): Promise<KernelHandle> {
    const script = await isolate.compileScript(this.#text, {
      filename: "weft:kernel",
      ...(this.#cache === undefined ? {} : { cachedData: this.#cache })
    })
    const boot: ivm.Reference<Boot> = await script.run(context, { reference: true, timeout: bootTimeoutMs })
    const kernel: ivm.Reference<Kernel> = await boot.apply(
      undefined,
      [
        new ivm.ExternalCopy(new Int32Array(progress)).copyInto({ release: true }),
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
    for (const name of optional) await this.#installOptional(isolate, context, kernel, name)
    for (const used of [script, boot, kernel]) used.release()
    return handle
  }

  async #installOptional(
    isolate: ivm.Isolate,
    context: ivm.Context,
    kernel: ivm.Reference<Kernel>,
    name: OptionalScript
  ): Promise<void> {
    const tables = name === "encodings" ? encodingTables() : null
    if (tables === undefined) return
    const script = await isolate.compileScript(this.#optionalTexts[name], { filename: `weft:${name}` })
    const install: ivm.Reference<(platform: object, tables: Uint32Array | null) => void> = await script.run(context, {
      reference: true,
      timeout: bootTimeoutMs
    })
    const platform = await kernel.get("platform", { reference: true })
    await install.apply(undefined, [
      platform.derefInto({ release: true }),
      tables === null ? null : new ivm.ExternalCopy(tables).copyInto({ release: true })
    ])
    for (const used of [script, install]) used.release()
  }

  /**
   * Creates the code cache from an isolate that has booted, stores it for later boots, and returns it.
   *
   * After the boot, the cache contains the functions that were compiled lazily: a second compilation of the same text
   * finds them.
   */
  async makeCache(heapBytes: number): Promise<Uint8Array<ArrayBuffer>> {
    const isolate = new ivm.Isolate({ memoryLimit: heapBytes / 1024 / 1024 })
    await this.boot(isolate, await isolate.createContext(), new SharedArrayBuffer(8), [])
    const cache = await makeCodeCache(isolate, this.#text, "weft:kernel")
    isolate.dispose()
    this.#cache = new ivm.ExternalCopy(cache.buffer)
    return cache
  }
}

/** Returns the code cache of a script that has run in this isolate. */
export const makeCodeCache = async (
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

/** Boots a kernel in a new isolate and runs the bundle. `text` is the kernel's report. */
export const loadBundle = async (
  isolate: ivm.Isolate,
  progress: SharedArrayBuffer,
  { guest, limits }: { readonly guest: KernelScript; readonly limits: RunnerLimits },
  load: { readonly describe: boolean; readonly script: string; readonly cache: Uint8Array<ArrayBuffer> }
): Promise<{ readonly kernel: KernelHandle; readonly text: string }> => {
  const context = await isolate.createContext()
  const kernel = await guest.boot(isolate, context, progress, readMark(load.script))
  const script = await isolate.compileScript(load.script, {
    filename: "weft:bundle",
    ...(load.cache.length === 0 ? {} : { cachedData: new ivm.ExternalCopy(load.cache.buffer) })
  })
  // Errors of the script are dropped, not copied out of the isolate: the kernel has already caught and recorded them.
  script.runIgnored(context, { timeout: limits.loadMs })
  const text = await kernel.report.apply(undefined, [load.describe], { timeout: limits.loadMs })
  script.release()
  kernel.report.release()
  return { kernel, text }
}

/** Passes messages to a kernel, one call each, and returns its output. */
export const enter = async (kernel: KernelHandle, messages: ReadonlyArray<KernelMessage>): Promise<string> => {
  for (const { kind, run, a, text, detail, body } of messages) {
    const bodyKind = body === null ? 0 : bodyKinds.indexOf(body.as)
    kernel.enter.applyIgnored(undefined, [kind, run, a, text, detail, bodyKind, body?.text ?? ""])
  }
  return kernel.drain.apply(undefined, [])
}

/** Parses the kernel's description of an error: name, message and stack. */
export const parseErrorParts = (text: string): readonly [string, string, string] => {
  const parts: unknown = JSON.parse(text)
  if (!Array.isArray(parts)) return ["Error", "", ""]
  const [name, message, stack] = parts.map(String)
  return [name ?? "Error", message ?? "", stack ?? ""]
}
