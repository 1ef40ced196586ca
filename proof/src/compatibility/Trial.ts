/** Bundles a case as `weft build` does, and runs it in the sandbox. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { openBundler } from "@weft/bundler"
import { EnvId } from "@weft/core"
import { BuildId, type Invocation, type Outcome, RunId, Sandbox } from "@weft/core/adapter"
import { Effect } from "effect"
import { zipSync } from "fflate"
import type { Case } from "./Case.ts"
import { Upstream } from "./Upstream.ts"

export interface Verdict {
  readonly name: string
  /** Null if the case passed. */
  readonly failure: string | null
  /** Size of `index.js`, in bytes. */
  readonly bytes: number
}

let lastId = 0
const makeId = (): string => `01890000-0000-7000-8000-${(++lastId).toString(16).padStart(12, "0")}`

/** Runs a case in the folder where its packages are installed. */
export const tryCase = Effect.fnUntraced(
  function* (folder: string, given: Case) {
    const files = yield* Effect.tryPromise({ try: () => bundle(folder, given), catch: toText })
    const bytes = files["index.js"]?.length ?? 0
    const failure = yield* runFiles(files, given).pipe(Effect.catch((reason) => Effect.succeed(String(reason))))
    return { name: given.name, failure, bytes } satisfies Verdict
  },
  (effect, _, { name }) => Effect.catch(effect, (reason) => Effect.succeed({ name, failure: reason, bytes: 0 }))
)

const toText = (error: unknown): string => {
  const [first = "", second = ""] = (error instanceof Error ? error.message : String(error)).split("\n")
  return `does not bundle: ${first} ${second}`.trim()
}

/** Writes the module of the case, and bundles it with the defaults of `weft.json`. */
const bundle = async (folder: string, { name, code }: Case): Promise<Record<string, Uint8Array>> => {
  const place = join(folder, "src", name.replace(/\W+/g, "-"))
  mkdirSync(place, { recursive: true })
  const entry = join(place, "index.ts")
  writeFileSync(entry, code)
  const bundler = openBundler({ folder, entry })
  try {
    return { ...(await bundler.bundle()).files }
  } finally {
    await bundler.dispose()
  }
}

const describe = (outcome: Outcome): string =>
  outcome._tag === "Threw"
    ? `${outcome.name}: ${outcome.message} ${outcome.stack.split("\n").slice(1, 4).join(" ")}`
    : JSON.stringify(outcome)

/** Runs the function `main` of a build, and returns its result as JSON text. Fails with the reason as text. */
export const invokeMain = Effect.fnUntraced(function* (
  files: Record<string, Uint8Array>,
  timeoutMs: number,
  onHostCall: Invocation["onHostCall"]
) {
  const sandbox = yield* Sandbox
  const { artifact } = yield* Effect.mapError(sandbox.prepare(zipSync(files, { level: 1 })), ({ message }) => message)
  const logs: Array<string> = []
  const { outcome } = yield* Effect.mapError(
    sandbox.invoke({
      run_id: RunId.make(makeId()),
      bundle: {
        env_id: EnvId.make(makeId()),
        build_id: BuildId.make(makeId()),
        artifact: Effect.succeed(artifact),
        renewed: Effect.succeed(artifact)
      },
      fn: { ns: "main", var: "main" },
      svc: JSON.stringify({ args: [], run: {} }),
      trigger: "args",
      timeoutMs,
      queueTimeoutMs: 10_000,
      onHostCall,
      onLog: ({ message }) => void logs.push(message)
    }),
    String
  )
  if (outcome._tag === "Returned") return outcome.output
  return yield* Effect.fail(`${describe(outcome)} ${logs.join(" ")}`.slice(0, 900))
})

/** Returns null, or the difference to the expected result. */
const runFiles = Effect.fnUntraced(function* (files: Record<string, Uint8Array>, { expected, reply }: Case) {
  const result: unknown = JSON.parse(yield* invokeMain(files, 20_000, new Upstream(reply).onHostCall))
  return isDeepStrictEqual(result, expected) ? null : `returned ${JSON.stringify(result)?.slice(0, 400)}`
})
