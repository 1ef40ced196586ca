/** Handlers of the admin endpoints about the installation: plans, usage, the node, its checks and quarantines. */
import {
  Builds,
  type Check,
  Diagnosis,
  EnvId,
  Nodes,
  NotFound,
  OrgUsages,
  type PageRequest,
  PlanName,
  Plans,
  Tenants
} from "@weft/core"
import { type AnySeries, now as currentTime, type Reading } from "@weft/core/adapter"
import { Effect, Schema } from "effect"
import type { HttpSettings } from "../app/HttpOptions.ts"
import { pageOf } from "./Listing.ts"

const isEnvId = Schema.is(EnvId)

/** Fails with `NotFound` for text that is not an id. */
export const parseEnvId = (text: string): Effect.Effect<EnvId, NotFound> =>
  isEnvId(text) ? Effect.succeed(text) : Effect.fail(new NotFound({ resource: "environment" }))

export const makeOperatorHandlers = Effect.fnUntraced(function* (
  { version, gitSha, metricsMs, checks: readHostChecks }: HttpSettings,
  metrics: Reading
) {
  const plans = yield* Plans
  const tenants = yield* Tenants
  const usages = yield* OrgUsages
  const builds = yield* Builds
  const diagnosis = yield* Diagnosis
  const nodes = yield* Nodes
  nodes.introduce({ version, git_sha: gitSha })
  const start_time = yield* currentTime
  const readings = yield* Effect.cachedWithTTL(metrics, metricsMs)
  const named = PlanName.literals.map((name) => {
    const { weakest_record: _record, ...limits } = plans.table[name]
    return { name, limits }
  })
  return {
    listPlans: ({ query }: { readonly query: Partial<PageRequest> }) => Effect.succeed(pageOf(named, query)),
    getOrgUsage: ({ params }: { readonly params: { readonly org: string } }) =>
      Effect.flatMap(tenants.getOrg(params.org), usages.of),
    listNodes: ({ query }: { readonly query: Partial<PageRequest> }) =>
      Effect.map(nodes.list, (found) => pageOf(found, query)),
    getNode: () =>
      Effect.map(readings, (series) => ({ version, git_sha: gitSha, start_time, metrics: series.flatMap(toMetric) })),
    getDiagnosis: Effect.fnUntraced(function* () {
      const parts = [diagnosis.checks, hostChecks(readHostChecks)]
      const checks = (yield* Effect.all(parts, { concurrency: "unbounded" })).flat()
      return { version, node_version: process.versions.node, time: yield* currentTime, checks }
    }),
    releaseBuild: ({ params }: { readonly params: { readonly env_id: string; readonly build_id: string } }) =>
      Effect.flatMap(parseEnvId(params.env_id), (envId) => builds.releaseForHost(envId, params.build_id))
  }
})

/** Returns a value that JSON can represent; none for a histogram. */
const toMetric = (series: AnySeries) => (series.type === "histogram" || !Number.isFinite(series.value) ? [] : [series])

/** Runs the checks of the host. A rejection is a failed check, whose cause goes to the log. */
const hostChecks = (read: HttpSettings["checks"]): Effect.Effect<ReadonlyArray<Check>> =>
  Effect.tryPromise(read).pipe(
    Effect.tapCause((cause) => Effect.logWarning("the checks of the host failed", cause)),
    Effect.catchCause(() =>
      Effect.succeed([
        {
          name: "host",
          status: "failure" as const,
          seen: "the checks of the host failed; the log of the node has the cause",
          remedy: "correct the option `checks` of the host"
        }
      ])
    )
  )
