/** Finds the build and the function of a replay. */
import { Effect } from "effect"
import { BadRequest } from "../../foundation/Errors.ts"
import type { Build } from "../../resources/builds/Build.ts"
import { BuildStore } from "../../resources/builds/BuildStore.ts"
import { Deployments, type Match } from "../../resources/builds/Deployments.ts"
import type { FunctionEntry } from "../../resources/builds/Manifest.ts"
import { backgroundTimeoutMs, durableTimeoutMs } from "../../resources/builds/Manifest.ts"
import { noRetry } from "../../resources/builds/RetryPolicy.ts"
import { parseEventIds } from "../runs/EventBatch.ts"
import type { Run } from "../runs/Run.ts"

/** The build of the original run, or the deployed build of its project. */
export type ReplayBuild = "same" | "deployed"

/** The fields of a run that its replay needs. */
export type ReplayedRun = Pick<Run, "env_id" | "project_id" | "build_id" | "ns" | "var" | "activations" | "event_ids">

/** True if the function handles batches of events. The code of the run's own build handles what the run handled. */
export const isBatched = (
  { build_id, event_ids }: Pick<Run, "build_id" | "event_ids">,
  { build, handler }: Match
): boolean => (build.build_id === build_id ? event_ids !== null : handler.flow?.batch !== undefined)

/** Returns a function that finds the function and the build to run again. */
export const makeFindReplay = Effect.gen(function* () {
  const builds = yield* BuildStore
  const deployments = yield* Deployments

  return Effect.fnUntraced(function* (run: ReplayedRun, which: ReplayBuild) {
    const name = `${run.ns}/${run.var}`
    const functions = yield* deployments.of(run.env_id)
    const deployed = functions.functions(name).find(({ build }) => build.project_id === run.project_id)
    if (which === "deployed") {
      if (deployed === undefined)
        return yield* new BadRequest({ reason: `build: the deployed build of the project has no function ${name}` })
      const match: Match = { ...deployed, run_type: "run" }
      const events = run.event_ids === null ? 1 : parseEventIds(run.event_ids).length
      return events === 1 || isBatched(run, match)
        ? match
        : yield* new BadRequest({
            reason: `build: the run handled a batch of ${events} events, and ${name} of the deployed build has no batch`
          })
    }
    const build = yield* Effect.catchTag(builds.get(run.env_id, run.build_id, run.project_id), "NotFound", () =>
      Effect.fail(new BadRequest({ reason: 'the build of this run was deleted; use `build: "deployed"`' }))
    )
    if (deployed === undefined) return toMatch(build, defaultHandler(run))
    // The build of the run may lack the function that the deployed one calls after a failure.
    const { on_failure, ...handler } = deployed.handler
    const isSame = deployed.build.build_id === build.build_id
    return toMatch(build, isSame && on_failure !== undefined ? { ...handler, on_failure } : handler)
  })
})

/**
 * Returns a function that finds the matches of many runs, in their order, or the reasons why they cannot run. Runs of one
 * function and build share a search.
 */
export const makeFindReplays = Effect.map(makeFindReplay, (find) =>
  Effect.fnUntraced(function* (runs: ReadonlyArray<ReplayedRun>, which: ReplayBuild) {
    const found = new Map<string, Match | string>()
    const matches: Array<Match | string> = []
    for (const run of runs) {
      const batch = run.event_ids === null ? "" : parseEventIds(run.event_ids).length
      const key = `${run.project_id} ${run.build_id} ${run.ns}/${run.var} ${run.activations === null} ${batch}`
      const search = Effect.catchTag(find(run, which), "BadRequest", ({ reason }) => Effect.succeed(reason))
      const match = found.get(key) ?? (yield* search)
      found.set(key, match)
      matches.push(match)
    }
    return matches
  })
)

const toMatch = (build: Build, handler: FunctionEntry): Match => ({ build, handler, run_type: "run" })

/** Returns default settings for a function that is no longer deployed. */
const defaultHandler = ({ ns, var: name, activations }: ReplayedRun): FunctionEntry => ({
  ns,
  var: name,
  retry: noRetry,
  timeout_ms: activations === null ? backgroundTimeoutMs : durableTimeoutMs,
  concurrency: null,
  idempotency: null,
  durable: activations !== null
})
