/** The sandbox's supervisor with compromised runners. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { EnvId } from "@weft/core"
import { BuildId, defaultLimits, type Execution, type GuestLog, type HostCall, RunId, Turns } from "@weft/core/adapter"
import { Context, Effect } from "effect"
import { buildSync } from "esbuild"
import { loadOnce } from "../../src/bundle/Preparation.ts"
import { Build } from "../../src/supervisor/Build.ts"
import { Job } from "../../src/supervisor/Job.ts"
import { Pool } from "../../src/supervisor/Pool.ts"
import { SpareRunner } from "../../src/supervisor/SpareRunner.ts"
import { Watchdog } from "../../src/supervisor/Watchdog.ts"
import { makeId } from "../Tenant.ts"

export const limits = defaultLimits

/** Everything that the host received for one call. */
export interface CallRecord {
  /** The execution, or the reason why no runner could execute it. */
  readonly execution: Execution | string
  readonly logs: ReadonlyArray<GuestLog>
  readonly calls: ReadonlyArray<HostCall>
}

export interface TestSupervisor {
  readonly pool: Pool
  readonly reports: ReadonlyArray<string>
  readonly call: (script: string, answer?: string, timeoutMs?: number, svc?: string) => Promise<CallRecord>
  /** Loads the script for the first time, as a deploy does. Returns the description of its exports, or the reason of the rejection. */
  readonly prepare: (script: string) => Promise<string>
  readonly close: () => void
}

/** Folder with the runner's program as one file: runners can read no other file. */
const folder = mkdtempSync(fileURLToPath(new URL("../../../../node_modules/.cache/weft-hostile-", import.meta.url)))
process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
chmodSync(folder, 0o755)
const outfile = join(folder, "main.mjs")
const entry = fileURLToPath(new URL("./HostileRunner.ts", import.meta.url))
buildSync({ entryPoints: [entry], outfile, bundle: true, platform: "node", format: "esm", conditions: ["weft-source"] })
const program = pathToFileURL(outfile)

let builds = 0

export const startSupervisor = (turns = Context.get(Context.empty(), Turns)): TestSupervisor => {
  const reports: Array<string> = []
  const pool = new Pool({
    limits,
    runnerLimits: { ...limits, outboxLength: 2 ** 20, entered: 2 },
    guestScripts: { guest: "", optional: { optional: "", encodings: "" } },
    runners: 2,
    turns,
    runnerProgram: program,
    strikes: Number.MAX_SAFE_INTEGER,
    strikeMs: 60_000,
    isolatesPerRunner: 20,
    budgetBytes: 2 ** 30,
    callsPerIsolate: 1_000_000,
    queuedPerBuild: 10,
    mapStack: (_, stack) => stack,
    report: (message) => void reports.push(message),
    onQuarantine: () => undefined
  })
  const watchdog = new Watchdog(pool, {
    heartbeatMs: 2000,
    rssBytes: 2 ** 30,
    idleMs: 60_000,
    heapBytes: limits.heapBytes
  })
  return {
    pool,
    reports,
    call: (script, answer = "null", timeoutMs = 20_000, svc = "{}") =>
      Effect.runPromise(called(pool, script, answer, timeoutMs, svc)),
    prepare: (script) => Effect.runPromise(prepared(pool, script)),
    close: () => {
      watchdog.close()
      pool.close()
    }
  }
}

const prepared = (pool: Pool, script: string): Effect.Effect<string> =>
  Effect.match(loadOnce(new SpareRunner(pool, false), limits, 2 ** 30, { script, sourceMap: "" }), {
    onFailure: ({ message }) => message,
    onSuccess: ({ exports }) => exports
  })

/** Clears the strikes of a build. Only few builds may have strikes at a time, and here each build gets one. */
const clearStrikes = (pool: Pool, buildId: BuildId): void => {
  pool.strikes.clear(buildId)
  for (const runner of pool.slots.expire(performance.now())) {
    const view = pool.views.get(runner)
    if (view !== undefined) pool.retire(view, "its strikes are cleared", 0)
  }
}

/** Calls a script as a new build. */
const called = (
  pool: Pool,
  script: string,
  answer: string,
  timeoutMs: number,
  svc: string
): Effect.Effect<CallRecord> =>
  Effect.withFiber((fiber) =>
    Effect.callback((resume) => {
      const logs: Array<GuestLog> = []
      const calls: Array<HostCall> = []
      const buildId = BuildId.make(makeId(++builds))
      const end = (execution: CallRecord["execution"]): void => {
        clearStrikes(pool, buildId)
        resume(Effect.succeed({ execution, logs, calls }))
      }
      const env_id = EnvId.make(makeId(builds))
      const build = new Build(
        env_id,
        buildId,
        { script, cache: new Uint8Array(0), sourceMap: "" },
        {
          keepsState: script.includes("session")
        }
      )
      const artifact = Effect.succeed(new Uint8Array(0))
      const invocation = {
        run_id: RunId.make(makeId(builds)),
        bundle: { env_id, build_id: buildId, artifact, renewed: artifact },
        fn: { ns: "main", var: "go" },
        svc,
        trigger: "event" as const,
        timeoutMs,
        onHostCall: (call: HostCall) =>
          Effect.sync(() => {
            calls.push(call)
            return answer
          }),
        onLog: (line: GuestLog) => void logs.push(line)
      }
      pool.run(new Job(pool.isolates.freshId(), build, invocation, limits, fiber, end, end))
    })
  )
