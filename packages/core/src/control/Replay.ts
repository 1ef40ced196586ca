/** Running a function once more for an event that is stored. */
import { Effect } from "effect"
import { Feed } from "../activity/Feed.ts"
import type { Build } from "../builds/Build.ts"
import { BuildStore } from "../builds/BuildStore.ts"
import { Deployments, type Match } from "../builds/Deployments.ts"
import type { FunctionEntry } from "../builds/Manifest.ts"
import { backgroundTimeoutMs } from "../builds/Manifest.ts"
import { noRetry } from "../builds/Retry.ts"
import { Claimer } from "../deliveries/Claimer.ts"
import { Slots } from "../deliveries/Slots.ts"
import { BadRequest } from "../errors/Errors.ts"
import { EventStore } from "../events/EventStore.ts"
import { DeliveryId, freshIds } from "../ids/Ids.ts"
import { now as currentTime } from "../ids/Timestamp.ts"
import { newDelivery } from "../runs/Attempt.ts"
import { makeConditions } from "../runs/Conditions.ts"
import type { Run } from "../runs/Run.ts"
import { RunControlStore } from "../runs/RunControlStore.ts"
import { RunStore } from "../runs/RunStore.ts"
import { Quotas } from "../tenancy/Quotas.ts"
import { currentTraceparent } from "../tracing/Spans.ts"
import { StreamWatch } from "./StreamWatch.ts"

/** The build that the run was of, or the one that serves its project now. */
export type ReplayBuild = "same" | "deployed"

/** How long to wait for the run to begin. */
const beginsWithinMs = 1_000

/** The newest runs of one event, among which the new one is looked for; where they are too large, the newest alone. */
const looked = { limit: 10, offset: 0 }
const newest = { limit: 1, offset: 0 }

export const makeReplay = Effect.gen(function* () {
  const events = yield* EventStore
  const runs = yield* RunStore
  const store = yield* RunControlStore
  const quotas = yield* Quotas
  const watch = yield* StreamWatch
  const conditions = yield* makeConditions
  const fresh = yield* freshIds
  const matchOf = yield* makeMatchOf
  const claimer = yield* Claimer
  const slots = yield* Slots
  const feed = yield* Feed

  return Effect.fnUntraced(function* (run: Run, build: ReplayBuild) {
    const { env_id, event_id } = run
    if (event_id === null) return yield* new BadRequest({ reason: "The run has no event: its request is not stored" })
    const event = yield* events.get(env_id, event_id)
    const match = yield* matchOf(run, build)
    yield* quotas.admit(env_id, 1)
    const page = (request: typeof looked) => runs.list(env_id, request, { eventId: event_id })
    const ofEvent = page(looked).pipe(
      Effect.catchTag("PageTooLarge", () => page(newest)),
      Effect.catchTag("PageTooLarge", Effect.die),
      Effect.map(({ items }) => items)
    )
    const known = new Set((yield* ofEvent).map(({ run_id }) => run_id))

    const group = yield* conditions.group(event, match)
    const id = yield* fresh(DeliveryId)
    const delivery = newDelivery(event, match, id, run.run_id, group, yield* currentTraceparent)
    yield* store.redeliver({ ...delivery, due_at: yield* currentTime })
    claimer.claim(slots.waits(env_id))
    yield* feed.tell([{ type: "deliveries:waiting", node_id: null }])

    const isNew = (other: Run) => other.origin_run_id === run.run_id && other.attempt === 1 && !known.has(other.run_id)
    const begun = Effect.map(ofEvent, (all) => all.find((other) => other.run_type === "run" && isNew(other)) ?? null)
    return { event, run: yield* watch.until(event.stream_id, begun, beginsWithinMs) }
  })
})

/** The function of a run, as it is to run again. */
const makeMatchOf = Effect.gen(function* () {
  const builds = yield* BuildStore
  const deployments = yield* Deployments

  return Effect.fnUntraced(function* (run: Run, which: ReplayBuild) {
    const name = `${run.ns}/${run.var}`
    const serving = yield* deployments.of(run.env_id)
    const deployed = serving.functions(name).find(({ build }) => build.project_id === run.project_id)
    if (which === "deployed") {
      return deployed === undefined
        ? yield* new BadRequest({ reason: `build: the deployed build of the project has no function ${name}` })
        : { ...deployed, run_type: "run" as const }
    }
    const build = yield* Effect.catchTag(builds.get(run.env_id, run.build_id, run.project_id), "NotFound", () =>
      Effect.fail(new BadRequest({ reason: "build: the build of the run is gone; deployed takes the present one" }))
    )
    return toRun(build, deployed?.handler ?? bare(run))
  })
})

const toRun = (build: Build, handler: FunctionEntry): Match => ({ build, handler, run_type: "run" })

/** A build that serves nothing has no rules any more. */
const bare = ({ ns, var: name }: Run): FunctionEntry => ({
  ns,
  var: name,
  retry: noRetry,
  timeout_ms: backgroundTimeoutMs,
  concurrency: null,
  idempotency: null
})
