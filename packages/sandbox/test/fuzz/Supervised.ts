/** The supervisor with runners that were taken over, as the sandbox has it with its own. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { BuildId, defaultLimits, EnvId, type Execution, type GuestLog, type HostCall, RunId } from "@weft/core"
import { Effect } from "effect"
import { buildSync } from "esbuild"
import { loadOnce } from "../../src/bundle/Preparation.ts"
import { Build } from "../../src/supervisor/Build.ts"
import { Job } from "../../src/supervisor/Job.ts"
import { Police } from "../../src/supervisor/Police.ts"
import { Pool } from "../../src/supervisor/Pool.ts"
import { SpareRunner } from "../../src/supervisor/SpareRunner.ts"
import { idOf } from "../Tenant.ts"

export const limits = defaultLimits

/** All that the host was told of one call. */
export interface Told {
  /** Or why nothing could run it. */
  readonly execution: Execution | string
  readonly logs: ReadonlyArray<GuestLog>
  readonly calls: ReadonlyArray<HostCall>
}

export interface Supervised {
  readonly pool: Pool
  readonly reports: ReadonlyArray<string>
  readonly call: (script: string, answer?: string, timeoutMs?: number, svc?: string) => Promise<Told>
  /** Loads the script for the first time, as at a deploy: what the runner said of its exports, or why it is refused. */
  readonly prepare: (script: string) => Promise<string>
  readonly close: () => void
}

/** In one file, in a folder of its own: runners can read nothing else. */
const folder = mkdtempSync(fileURLToPath(new URL("../../../../node_modules/.cache/weft-hostile-", import.meta.url)))
process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
chmodSync(folder, 0o755)
const outfile = join(folder, "main.mjs")
const entry = fileURLToPath(new URL("./HostileRunner.ts", import.meta.url))
buildSync({ entryPoints: [entry], outfile, bundle: true, platform: "node", format: "esm", conditions: ["weft-source"] })
const program = pathToFileURL(outfile)

let builds = 0

export const supervised = (): Supervised => {
  const reports: Array<string> = []
  const pool = new Pool({
    limits,
    runnerLimits: { ...limits, outboxLength: 2 ** 20, entered: 2 },
    guestScript: "",
    runners: 2,
    runnerProgram: program,
    strikes: Number.MAX_SAFE_INTEGER,
    isolatesPerRunner: 20,
    roomBytes: 2 ** 30,
    callsPerIsolate: 1_000_000,
    waitingPerBuild: 10,
    mapStack: (_, stack) => stack,
    report: (message) => void reports.push(message)
  })
  const police = new Police(pool, { heartbeatMs: 2000, rssBytes: 2 ** 30, idleMs: 60_000, heapBytes: limits.heapBytes })
  return {
    pool,
    reports,
    call: (script, answer = "null", timeoutMs = 20_000, svc = "{}") =>
      Effect.runPromise(called(pool, script, answer, timeoutMs, svc)),
    prepare: (script) => Effect.runPromise(prepared(pool, script)),
    close: () => {
      police.close()
      pool.close()
    }
  }
}

const prepared = (pool: Pool, script: string): Effect.Effect<string> =>
  Effect.match(loadOnce(new SpareRunner(pool, false), limits, 2 ** 30, { script, sourceMap: "" }), {
    onFailure: ({ message }) => message,
    onSuccess: ({ exports }) => exports
  })

/** Only few builds may have killed a runner at a time, and here each does. */
const forgive = (pool: Pool, buildId: BuildId): void => {
  pool.strikes.pardon(buildId)
  for (const runner of pool.lanes.expire(performance.now())) {
    const view = pool.views.get(runner)
    if (view !== undefined) pool.retire(view, "it is forgiven", 0)
  }
}

/** Each script is a build of its own. */
const called = (pool: Pool, script: string, answer: string, timeoutMs: number, svc: string): Effect.Effect<Told> =>
  Effect.withFiber((fiber) =>
    Effect.callback((resume) => {
      const logs: Array<GuestLog> = []
      const calls: Array<HostCall> = []
      const buildId = BuildId.make(idOf(++builds))
      const end = (execution: Told["execution"]): void => {
        forgive(pool, buildId)
        resume(Effect.succeed({ execution, logs, calls }))
      }
      const env_id = EnvId.make(idOf(builds))
      const build = new Build(buildId, buildId, { script, cache: new Uint8Array(0), sourceMap: "" })
      const artifact = Effect.succeed(new Uint8Array(0))
      const invocation = {
        run_id: RunId.make(idOf(builds)),
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
