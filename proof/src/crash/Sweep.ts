/** Crashes at all points, one after the other. */
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { Draws } from "@weft/tooling/draws"
import { auditBlobs, auditDatabase, countDeliveries, countDurableRuns } from "./Audit.ts"
import { durableWorkload } from "./DurableWorkload.ts"
import { type Environment, openEnvironment, type StartOptions, setUp } from "./Environment.ts"
import { fileWorkload } from "./FileWorkload.ts"
import { injectCrash, type Target } from "./Injection.ts"
import { until } from "./RunExpectations.ts"
import { type Operation, runWorkload } from "./RunWorkload.ts"
import { rotateKeys, tenantWorkload } from "./TenantWorkload.ts"

export interface SweepOptions {
  readonly database: "sqlite" | "postgres"
  readonly target: Target
  /** True to crash in every operation that passes a point, not only in the first, and at every point of a moment. */
  readonly isEveryOperation: boolean
  /** Selects points; by default all, but of those of one moment only the first. */
  readonly isWanted?: (point: string) => boolean
  /** Names of the operations; by default all. */
  readonly operations?: ReadonlyArray<string>
  /** Shuffles the points; by default they keep their order. */
  readonly random?: Draws
  /** Time of the last crash, on the clock of `performance.now()`. */
  readonly deadline?: number
  readonly progress: (text: string) => void
}

export interface SweepResult {
  /** Number of points, including those of starts and of a key rotation. */
  readonly points: number
  readonly crashed: number
  /** Points skipped by the deadline. */
  readonly skipped: number
  /** Points that the second run of their operation did not reach, because they depend on timing. */
  readonly missed: ReadonlyArray<string>
  readonly acknowledged: number
  readonly unanswered: number
  readonly checks: number
  readonly lostRuns: number
  readonly violations: ReadonlyArray<string>
}

/** Points of reads. A crash there equals a crash at the previous or next point. */
const reads =
  /^(Tenant|Project|Build|File|Domain|Event|Run|Stream|Usage|Session|ServiceKey|ApiKey|Schedule|ContextVariable|Sealed|Workflow|WorkflowToken)Store\.(get|list|find|load|cleanups|steps|openWaits|awaited|arrived|eventsSince|children|all|due|next|deployed$|live$|deployments|route|certificate|stats|waiting|pendingDeliveries|logs|storageBytes|exists|since|runs|sealed|parts|expired)|^JournalStore\.(findPendingWork|parked)|^AdmissionStore\.earlier|^RunControlStore\.ended|^RateStore|^ClusterBus\.(control|activity|gaps)|^BlobStore\.(read|get|address)|^Sandbox\.(openFile|check)/

/** Points at which a guest runs, is about to run, or has just ended. */
const runnerErrors = /^host call|^Sandbox\.(invoke|prepare|warm)|^JournalStore\.commit/

interface Point {
  readonly name: string
  readonly operation: Operation
  readonly point: string
}

export const sweep = async (options: SweepOptions): Promise<SweepResult> => {
  const environment = await openEnvironment(options.database)
  const { harness } = environment
  try {
    await environment.start()
    await setUp(environment)
    const points = await findPoints(environment, options)
    harness.areRunnersKilled = options.target === "runners"
    harness.isDatabaseKilled = options.target === "database" || options.target === "backend"
    const missed: Array<string> = []
    let crashed = 0
    let tried = 0
    for (const { name, operation, point } of points) {
      if (performance.now() > (options.deadline ?? Number.POSITIVE_INFINITY)) break
      tried++
      const before = harness.violations.length
      const isCrashed = await injectCrash(environment, options.target, point, operation).catch((error: unknown) =>
        recover(environment, error)
      )
      if (isCrashed) crashed++
      else missed.push(`${name}: ${point}`)
      for (const [index, text] of harness.violations.entries()) {
        if (index >= before) harness.violations[index] = `${name}, ${options.target} ended at ${point}: ${text}`
      }
      options.progress(`${name}: ${point}${missed.at(-1) === `${name}: ${point}` ? " (not reached)" : ""}`)
    }
    let found = points.length
    if (options.target === "server") {
      await harness.expireKeys()
      for (const further of [await crashAtStarts(environment, options), await crashInRotation(environment, options)]) {
        found += further.tried
        crashed += further.crashed
        missed.push(...further.missed)
      }
    }
    await harness.check({ all: true })
    const names = options.operations ?? Object.keys(durableWorkload)
    await finish(
      environment,
      names.some((name) => name in durableWorkload)
    )
    return {
      points: found,
      crashed,
      skipped: points.length - tried,
      missed,
      acknowledged: harness.acknowledged,
      unanswered: harness.unanswered,
      checks: harness.checked,
      lostRuns: harness.lost.size,
      violations: harness.violations
    }
  } finally {
    await environment.close()
  }
}

/** Starts a new server after an unexpected response or a failed start. */
const recover = async (environment: Environment, error: unknown): Promise<boolean> => {
  environment.harness.violations.push(String(error))
  // The crash may have been one of the database.
  await environment.database?.stop()
  await environment.database?.start()
  environment.server().killGroup()
  await environment.server().ended
  if ((await environment.start()) === null) throw new Error("The next server crashed as well")
  return true
}

const collectOperations = (dataDir: string): Readonly<Record<string, Operation>> => ({
  ...{ ...runWorkload, ...durableWorkload, ...fileWorkload },
  ...tenantWorkload(join(dataDir, "names.json"))
})

/** Names of all operations. */
export const operationNames: ReadonlyArray<string> = Object.keys(collectOperations(""))

const isSwept = (point: string, { target, isWanted = () => true }: SweepOptions): boolean =>
  isWanted(point) && (target === "runners" ? runnerErrors.test(point) : !reads.test(point))

/** Performs each operation once and collects the points that it passes: of those of one moment, only the first. */
const findPoints = async (environment: Environment, options: SweepOptions): Promise<ReadonlyArray<Point>> => {
  const { harness } = environment
  const { isEveryOperation } = options
  const operations = collectOperations(environment.dataDir)
  const unknown = options.operations?.find((name) => !Object.hasOwn(operations, name))
  if (unknown !== undefined)
    throw new Error(`There is no operation ${JSON.stringify(unknown)}: use one of the names of --list`)
  const found: Array<Point> = []
  const known = new Set<string>()
  await environment.server().passed()
  for (const [name, operation] of Object.entries(operations)) {
    if (options.operations?.includes(name) === false) continue
    await operation(harness)
    await harness.check()
    await sleep(150)
    for (const points of await environment.server().passed()) {
      const wanted = points.filter((point) => isSwept(point, options) && (isEveryOperation || !known.has(point)))
      for (const point of wanted) known.add(point)
      const isEach = isEveryOperation || options.isWanted !== undefined
      found.push(...wanted.slice(0, isEach ? wanted.length : 1).map((point) => ({ name, operation, point })))
    }
  }
  return options.random?.shuffled(found) ?? found
}

const dayMs = 86_400_000

/** Points of a start, at which the data of the previous server is recovered, deleted or re-encrypted. */
const starts: ReadonlyArray<readonly [point: string, options: StartOptions]> = [
  ["JournalStore.reap, after", {}],
  ["FileStore.claimExpired, after", { clockMs: 7_200_000 }],
  ["BlobStore.remove, before", { clockMs: 7_200_000 }],
  ["BlobStore.remove, after", { clockMs: 7_200_000 }],
  ["FileStore.release, before", { clockMs: 7_200_000 }],
  ["BlobStore.dropParts, before", { clockMs: 30 * dayMs }],
  ["FileStore.removeUpload, before", { clockMs: 30 * dayMs }]
]

/** Crashes at points that no operation passes. */
interface ExtraCrashes {
  readonly tried: number
  readonly crashed: number
  readonly missed: ReadonlyArray<string>
}

const crashAtStarts = async (environment: Environment, { isWanted, progress }: SweepOptions): Promise<ExtraCrashes> => {
  const missed: Array<string> = []
  let crashed = 0
  for (const [point, how] of starts) {
    if (isWanted !== undefined && !isWanted(point)) continue
    // Leaves unfinished work for the next server.
    const server = environment.server()
    await server.setTrigger({ point: "FileStore.store, before", action: "kill" })
    await leaveBehind(environment)
    await server.ended
    server.killGroup()
    const next = await environment.start({ ...how, trigger: { point, action: "kill" } })
    const isDead = next === null || (await Promise.race([next.ended, sleep(1_000).then(() => false)]))
    if (isDead) crashed++
    else {
      missed.push(`start: ${point}`)
      next?.killGroup()
      await next?.ended
    }
    if ((await environment.start()) === null) throw new Error("The next server crashed as well")
    await environment.harness.check()
    progress(`start: ${point}${isDead ? "" : " (not reached)"}`)
  }
  return { tried: crashed + missed.length, crashed, missed }
}

/** Crashes while data of a former master key is re-encrypted. */
const crashInRotation = async (
  environment: Environment,
  { isWanted = () => true, progress }: SweepOptions
): Promise<ExtraCrashes> => {
  const missed: Array<string> = []
  let crashed = 0
  const wanted = ["SealedStore.replace, before", "SealedStore.replace, after"].filter((point) => isWanted(point))
  if (wanted.length === 0) return { tried: 0, crashed, missed }
  for (const point of wanted) {
    // After each crash, all data is encrypted with the newer key.
    await environment.server().close()
    environment.changeMasterKey()
    await environment.start()
    const isCrashed = await injectCrash(environment, "server", point, rotateKeys)
    if (isCrashed) crashed++
    else missed.push(`key rotation: ${point}`)
    progress(`key rotation: ${point}${isCrashed ? "" : " (not reached)"}`)
  }
  await rotateKeys(environment.harness)
  return { tried: crashed + missed.length, crashed, missed }
}

/** Leaves an active run, an unfinished upload, and a blob without a record. */
const leaveBehind = async ({ harness }: Environment): Promise<void> => {
  const { upload, abandon, slow } = leftovers
  await abandon(harness)
  await slow(harness)
  await upload(harness)
}

const leftovers: Readonly<Record<"upload" | "abandon" | "slow", Operation>> = {
  upload: (harness) => (fileWorkload["upload a file"] ?? nothing)(harness),
  abandon: async (harness) => {
    const path = `left/${harness.next()}`
    const { body } = await harness.request("POST", "/v1/files/uploads", { body: { path } })
    const id = JSON.stringify(body).match(/"upload_id":"([^"]+)"/)?.[1]
    await harness.request("PUT", `/v1/files/uploads/${id}/1`, { body: Buffer.alloc(10_000, 1) })
  },
  slow: async (harness) => {
    await harness.request("POST", "/v1/events", {
      body: { event_type: "crash:slow", event_data: { n: harness.next() } }
    })
  }
}

const nothing: Operation = async () => undefined

/** Runs servers with another key and a later clock that reclaim everything, then audits database and blobs. */
const finish = async (environment: Environment, hasDurable: boolean): Promise<void> => {
  const { harness } = environment
  await environment.server().close()
  environment.changeMasterKey()
  await environment.start()
  await rotateKeys(harness)
  await harness.check()
  await environment.server().close()
  environment.forgetMasterKey()
  await environment.start({ clockMs: 0 })
  await harness.check({ all: true })
  // Deliveries that a server with a later clock requeued are due by that clock.
  if (environment.database !== null) environment.setClock(31 * dayMs)
  await waitUntilIdle(environment)
  await environment.server().close()
  harness.violations.push(...(await auditDatabase(environment, { hasDurable })))
  // Long after the grace period of unreferenced blobs.
  await environment.start({ clockMs: 32 * dayMs, retentionDays: 20 })
  await sleep(1_500)
  await waitUntilIdle(environment)
  const unpurged = await until(
    () => countDurableRuns(environment),
    (count) => count === 0
  )
  if (unpurged > 0) harness.violations.push(`${unpurged} durable runs still exist long after their retention`)
  await environment.server().close()
  harness.violations.push(...(await auditDatabase(environment, { isPurged: true })), ...(await auditBlobs(environment)))
}

/** Waits until nothing is pending: work of crashed servers is reclaimed when their leases expire. */
const waitUntilIdle = async (environment: Environment): Promise<void> => {
  for (let quiet = 0, looks = 0; quiet < 3 && looks < 600; looks++) {
    const { body } = await environment.harness.request("GET", "/v1/runs/stats")
    const isQuiet = JSON.stringify(body).includes('"running":0') && (await countDeliveries(environment)) === 0
    quiet = isQuiet ? quiet + 1 : 0
    await sleep(100)
  }
}
