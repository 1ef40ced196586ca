/** A build in the sandbox, whose functions tests call. */
import { EnvId } from "@weft/core"
import { BuildId, type HostCall, type HostCallRefused, RunId, Sandbox } from "@weft/core/adapter"
import { sandbox } from "@weft/sandbox"
import { Effect } from "effect"
import { zipSync } from "fflate"
import { type BundleSettings, openBundler } from "../src/index.ts"

let lastId = 0
const makeId = (): string => `01890000-0000-7000-8000-${(++lastId).toString(16).padStart(12, "0")}`

/** Bundles a project and returns its files: `index.js` and the source map. */
export const bundle = async (settings: BundleSettings): Promise<Record<string, Uint8Array>> => {
  const bundler = openBundler(settings)
  try {
    return { ...(await bundler.bundle()).files }
  } finally {
    await bundler.dispose()
  }
}

export type OnHostCall = (call: HostCall) => Effect.Effect<string, HostCallRefused>

export type Call = (fn: string, onHostCall?: OnHostCall) => Effect.Effect<unknown>

/** Loads the files once. A call returns the result of a function, or the text of its failure. */
export const load = Effect.fnUntraced(function* (files: Record<string, Uint8Array>) {
  const sandbox = yield* Sandbox
  const { artifact } = yield* sandbox.prepare(zipSync(files, { level: 1 }))
  const ids = { env_id: EnvId.make(makeId()), build_id: BuildId.make(makeId()) }
  const call: Call = Effect.fnUntraced(function* (name, onHostCall = () => Effect.succeed("null")) {
    const { outcome } = yield* Effect.orDie(
      sandbox.invoke({
        run_id: RunId.make(makeId()),
        bundle: { ...ids, artifact: Effect.succeed(artifact), renewed: Effect.succeed(artifact) },
        fn: { ns: "main", var: name },
        svc: JSON.stringify({ args: [], run: {} }),
        trigger: "args",
        timeoutMs: 10_000,
        queueTimeoutMs: 10_000,
        onHostCall,
        onLog: () => undefined
      })
    )
    if (outcome._tag === "Returned") return JSON.parse(outcome.output)
    return outcome._tag === "Threw" ? `${outcome.name}: ${outcome.message}\n${outcome.stack}` : outcome._tag
  })
  return call
})

export const oneRunner = sandbox({ runners: 1 })
