/**
 * Checks of a running installation, for its operator: does each part work, and is work left waiting?
 *
 * Checks use the parts as runs do: they read the database, write and remove a blob, and run code in the sandbox. Causes of
 * failures go to the log only, because errors of other systems may contain secrets.
 */
import { Context, Duration, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { BuildId, EnvId, freshIds, RunId } from "../../foundation/Ids.ts"
import { firstPage } from "../../foundation/Page.ts"
import { NodeMetrics } from "../../foundation/telemetry/NodeMetrics.ts"
import type { AnySeries } from "../../foundation/telemetry/Series.ts"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import { BlobStore } from "../../platform/blobs/BlobStore.ts"
import { Sandbox, SandboxUnavailable } from "../../platform/sandbox/Sandbox.ts"
import { Tenants } from "../../tenants/orgs/Tenants.ts"
import { JournalStore } from "../journal/JournalStore.ts"
import { NodeLease } from "../journal/NodeLease.ts"
import { type Check, failed, passed, warning } from "./Check.ts"

/** Time limit of one check. */
const checkTimeout = "10 seconds"
/** Longest response of the database without a warning, in milliseconds. */
const databaseMsMax = 250
/** Longest write, read and removal of a blob without a warning, in milliseconds. */
const blobsMsMax = 2_000
/** Longest run of the smallest function without a warning, in milliseconds. */
const sandboxMsMax = 2_000
/** Longest wait of a due delivery without a warning, in milliseconds. */
const overdueMsMax = 60_000

export class Diagnosis extends Context.Service<
  Diagnosis,
  {
    /**
     * Runs all checks concurrently, each for at most 10 s, and returns their results in a fixed order. Callers within a
     * second share one result.
     */
    readonly checks: Effect.Effect<ReadonlyArray<Check>>
  }
>()("@weft/core/runtime/control/Diagnosis") {
  static readonly layer = Layer.effect(
    Diagnosis,
    Effect.gen(function* () {
      const all = [yield* databaseCheck, yield* blobsCheck, yield* sandboxCheck, yield* queueCheck, yield* metricChecks]
      const run = Effect.map(Effect.all(all, { concurrency: "unbounded" }), (checks) => checks.flat())
      return Diagnosis.of({ checks: yield* Effect.cachedWithTTL(run, "1 second") })
    })
  )
}

const databaseCheck = Effect.gen(function* () {
  const tenants = yield* Tenants
  const read = Effect.timed(tenants.listOrgs({ ...firstPage, limit: 1 }))
  return Effect.map(read, ([elapsed]) => {
    const ms = toMillis(elapsed)
    const seen = `answered within ${ms} ms`
    return ms <= databaseMsMax
      ? passed("database", seen)
      : warning("database", seen, `check the load of the database and the network to it: more than ${databaseMsMax} ms`)
  }).pipe(orFailed("database", "no answer", "check that the database runs and accepts connections of this node"))
})

const blobsCheck = Effect.gen(function* () {
  const blobs = yield* BlobStore
  const random = yield* SecureRandom.SecureRandom
  const freshId = yield* freshIds

  const roundTrip = Effect.gen(function* () {
    const key = `checks/${yield* freshId(RunId)}`
    const bytes = yield* random.randomBytes(32)
    const stored = Effect.andThen(blobs.put(key, bytes), blobs.get(key))
    const found = yield* Effect.onError(stored, () => Effect.ignore(blobs.remove(key)))
    yield* blobs.remove(key)
    return found.length === bytes.length && found.every((byte, at) => byte === bytes[at])
  })

  return Effect.map(Effect.timed(roundTrip), ([elapsed, isEqual]) => {
    if (!isEqual) {
      return failed("blobs", "returned other bytes than were written", "check the disk or the bucket, and its caches")
    }
    const ms = toMillis(elapsed)
    const seen = `${blobs.backend}: wrote, read and removed a blob within ${ms} ms`
    return ms <= blobsMsMax
      ? passed("blobs", seen)
      : warning("blobs", seen, `check the disk or the network to the bucket: more than ${blobsMsMax} ms`)
  }).pipe(
    orFailed(
      "blobs",
      `${blobs.backend}: cannot write, read and remove a blob`,
      "check free space, permissions and credentials of the folder or bucket"
    )
  )
})

const sandboxCheck = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const freshId = yield* freshIds
  const env_id = yield* freshId(EnvId)

  const ran = Effect.gen(function* () {
    const artifact = yield* sandbox.compileSource({ text: "6 * 7", build: null })
    const ready = Effect.succeed(artifact)
    const { outcome } = yield* sandbox.invoke({
      run_id: yield* freshId(RunId),
      bundle: { env_id, build_id: yield* freshId(BuildId), artifact: ready, renewed: ready, isSingleUse: true },
      fn: { ns: "main", var: "default" },
      svc: `{"args":[],"caller":null}`,
      trigger: "args",
      timeoutMs: 5_000,
      onHostCall: () => Effect.succeed("null"),
      onLog: () => undefined
    })
    if (outcome._tag !== "Returned") return yield* new SandboxUnavailable({ reason: outcome._tag })
  })

  return Effect.map(Effect.timed(ran), ([elapsed]) => {
    const ms = toMillis(elapsed)
    const seen = `ran code within ${ms} ms`
    return ms <= sandboxMsMax
      ? passed("sandbox", seen)
      : warning("sandbox", seen, "the node is too busy: add nodes or cores, or look for functions that compute")
  }).pipe(
    orFailed(
      "sandbox",
      "cannot run code",
      "look for runner processes that do not start or die, mostly for lack of memory"
    )
  )
})

/** Looks for due deliveries that nobody claims. */
const queueCheck = Effect.gen(function* () {
  const journal = yield* JournalStore
  const { nodeId } = yield* NodeLease
  const look = Effect.gen(function* () {
    const now = yield* currentTime
    const { next_due_at } = yield* journal.findPendingWork(nodeId, now)
    return next_due_at === null ? 0 : Math.max(0, now - next_due_at)
  })
  return Effect.map(look, (overdueMs) => {
    const seen = overdueMs === 0 ? "no delivery is due" : `the oldest due delivery waits for ${seconds(overdueMs)}`
    return overdueMs <= overdueMsMax
      ? passed("deliveries", seen)
      : warning(
          "deliveries",
          seen,
          "if `weft_deliveries_running` is at its limit, add nodes; otherwise check `concurrency` of the functions"
        )
  }).pipe(orFailed("deliveries", "the queue cannot be read", "see the check of the database"))
})

/** Checks of counters since the start of the node. */
const metricChecks = Effect.gen(function* () {
  const metrics = yield* NodeMetrics
  return Effect.map(metrics.read, (series) => [
    ...clusterCheck(series),
    counterCheck("quarantine", total(series, "weft_sandbox_quarantined"), "builds are in quarantine", {
      remedy: "`GET /admin/audit?action=build.quarantine` names them; their owners must fix and deploy them"
    }),
    counterCheck(
      "runners",
      total(series, "weft_sandbox_runner_deaths_total", { reason: "killed" }),
      "runners were killed",
      {
        remedy: "memory is short: give the machine more, or lower `WEFT_LIMIT_DELIVERIES`"
      }
    ),
    counterCheck("contents", total(series, "weft_damaged_contents_total"), "damaged files or builds were read", {
      remedy: "check the disk or bucket, and restore the blobs that the log names from a backup"
    }),
    counterCheck("records", total(series, "weft_records_lost_total"), "runs could not be stored", {
      remedy: "check the database; the log names the runs"
    })
  ])
})

const clusterCheck = (series: ReadonlyArray<AnySeries>): ReadonlyArray<Check> => {
  const connected = series.find(({ name }) => name === "weft_feed_connected")
  if (connected === undefined || connected.type === "histogram") return []
  return [
    connected.value === 1
      ? passed("cluster", "connected to the cluster bus")
      : warning("cluster", "not connected to the cluster bus", "check the database or NATS; messages arrive later")
  ]
}

const counterCheck = (name: string, count: number, what: string, { remedy }: { readonly remedy: string }): Check =>
  count === 0 ? passed(name, `0 ${what}`) : warning(name, `${count} ${what}`, remedy)

const total = (
  series: ReadonlyArray<AnySeries>,
  wanted: string,
  labels: Readonly<Record<string, string>> = {}
): number =>
  series.reduce(
    (sum, each) =>
      each.name === wanted &&
      each.type !== "histogram" &&
      Object.entries(labels).every(([label, value]) => each.labels[label] === value)
        ? sum + each.value
        : sum,
    0
  )

/** Converts every error, defect and timeout of a check into a failure, and logs its cause. */
const orFailed =
  (name: string, seen: string, remedy: string) =>
  <E, R>(check: Effect.Effect<Check, E, R>): Effect.Effect<Check, never, R> =>
    check.pipe(
      Effect.timeout(checkTimeout),
      Effect.tapCause((cause) => Effect.logWarning(`the check of ${name} failed`, cause)),
      Effect.catchCause(() => Effect.succeed(failed(name, `${seen}; the log of the node has the cause`, remedy)))
    )

const toMillis = (elapsed: Duration.Duration): number => Math.ceil(Duration.toMillis(elapsed))

const seconds = (millis: number): string => `${Math.ceil(millis / 1000)} s`
