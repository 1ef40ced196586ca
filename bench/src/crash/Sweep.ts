/** All points, one after the other: at each somebody dies in the middle of what passes it, and all goes on. */
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { Draws } from "@weft/tooling/draws"
import { fileDeeds } from "./FileDeeds.ts"
import { deliveriesLeft, wrongInBlobs, wrongInDatabase } from "./Judgement.ts"
import { type Deed, runDeeds } from "./RunDeeds.ts"
import { furnish, openSite, type Site, type StartOptions } from "./Site.ts"
import { strike, type Target } from "./Strike.ts"
import { reseal, tenantDeeds } from "./TenantDeeds.ts"

export interface SweepOptions {
  readonly database: "sqlite" | "postgres"
  readonly target: Target
  /** Whether a point that several deeds pass is struck in each of them. */
  readonly isEveryDeed: boolean
  /** Only points that it likes; by default all. */
  readonly isWanted?: (point: string, index: number) => boolean
  /** Only deeds of these names; by default all. */
  readonly deeds?: ReadonlyArray<string>
  /** In what order points are struck; by default as they were found. */
  readonly random?: Draws
  /** No new point is struck later, in milliseconds of `performance.now()`. */
  readonly deadline?: number
  readonly progress: (text: string) => void
}

export interface Swept {
  /** Points that were found, and those of starts and of a change of the key, which are named here. */
  readonly points: number
  readonly struck: number
  /** Points whose turn did not come for want of time. */
  readonly left: number
  /** Points that were not passed when it was their turn: what passes them depends on the hour. */
  readonly missed: ReadonlyArray<string>
  readonly acknowledged: number
  readonly unanswered: number
  readonly factsChecked: number
  readonly lostRuns: number
  readonly violations: ReadonlyArray<string>
}

/** Nothing is written at these: to die there is to die at the point before or after. */
const reads =
  /^(Tenant|Project|Build|File|Domain|Event|Run|Stream|Usage|Session|ServiceKey|ApiKey|Schedule|ContextVariable|Sealed)Store\.(get|list|find|all|due|next|deployed$|live$|deployments|route|certificate|stats|waiting|logs|storageBytes|exists|since|runs|sealed|parts|expired)|^JournalStore\.(look|parked)|^AdmissionStore\.earlier|^RunControlStore\.ended|^RateStore|^Feed\.(news|activity|gaps)|^BlobStore\.(read|get|address)|^Sandbox\.(openFile|check)/

/** Where a guest is at work, or about to be, or has just ended. */
const ofRunners = /^host call|^Sandbox\.(invoke|prepare|warm)|^JournalStore\.commit/

interface Point {
  readonly name: string
  readonly deed: Deed
  readonly point: string
}

export const sweep = async (options: SweepOptions): Promise<Swept> => {
  const site = await openSite(options.database)
  const { world } = site
  try {
    await site.start()
    await furnish(site)
    const points = await find(site, options)
    world.areRunnersEnded = options.target === "runners"
    world.isDatabaseEnded = options.target === "database" || options.target === "backend"
    const missed: Array<string> = []
    let struck = 0
    let tried = 0
    for (const { name, deed, point } of points) {
      if (performance.now() > (options.deadline ?? Number.POSITIVE_INFINITY)) break
      tried++
      const before = world.violations.length
      const isStruck = await strike(site, options.target, point, deed).catch((error: unknown) => recover(site, error))
      if (isStruck) struck++
      else missed.push(`${name}: ${point}`)
      for (const [index, text] of world.violations.entries()) {
        if (index >= before) world.violations[index] = `${name}, ${options.target} ended at ${point}: ${text}`
      }
      options.progress(`${name}: ${point}${missed.at(-1) === `${name}: ${point}` ? " (not passed)" : ""}`)
    }
    let found = points.length
    if (options.target === "server") {
      await world.outlastKeys()
      for (const further of [await strikeStarts(site, options), await strikeRotation(site, options)]) {
        found += further.tried
        struck += further.struck
        missed.push(...further.missed)
      }
    }
    await world.look({ all: true })
    await end(site)
    return {
      points: found,
      struck,
      left: points.length - tried,
      missed,
      acknowledged: world.acknowledged,
      unanswered: world.unanswered,
      factsChecked: world.checked,
      lostRuns: world.lost.size,
      violations: world.violations
    }
  } finally {
    await site.close()
  }
}

/** An answer that none may be, or a server that does not start: the next blow meets a new one. */
const recover = async (site: Site, error: unknown): Promise<boolean> => {
  site.world.violations.push(String(error))
  // The blow may have been meant for it.
  await site.database?.stop()
  await site.database?.start()
  site.server().killRest()
  await site.server().ended
  if ((await site.start()) === null) throw new Error("The next server died, too")
  return true
}

/** Does each deed once, and notes what it passes. */
const find = async (site: Site, options: SweepOptions): Promise<ReadonlyArray<Point>> => {
  const { world } = site
  const deeds = { ...runDeeds, ...fileDeeds, ...tenantDeeds(join(site.dataDir, "names.json")) }
  const found: Array<Point> = []
  const known = new Set<string>()
  await site.server().passed()
  for (const [name, deed] of Object.entries(deeds)) {
    if (options.deeds?.includes(name) === false) continue
    await deed(world)
    await world.look()
    await sleep(150)
    for (const point of await site.server().passed()) {
      const isOne = options.target === "runners" ? ofRunners.test(point) : !reads.test(point)
      if (!isOne || (known.has(point) && !options.isEveryDeed)) continue
      known.add(point)
      found.push({ name, deed, point })
    }
  }
  const wanted = found.filter(({ point }, index) => options.isWanted?.(point, index) ?? true)
  return options.random?.shuffled(wanted) ?? wanted
}

const dayMs = 86_400_000

/** What is passed while a server starts: what a former life left is taken up, removed, forgotten, sealed anew. */
const starts: ReadonlyArray<readonly [point: string, options: StartOptions]> = [
  ["JournalStore.reap, after", {}],
  ["FileStore.takeLoose, after", { clockMs: 7_200_000 }],
  ["BlobStore.remove, before", { clockMs: 7_200_000 }],
  ["BlobStore.remove, after", { clockMs: 7_200_000 }],
  ["FileStore.forget, before", { clockMs: 7_200_000 }],
  ["BlobStore.dropParts, before", { clockMs: 30 * dayMs }],
  ["FileStore.removeUpload, before", { clockMs: 30 * dayMs }]
]

/** Points that no deed passes. */
interface Further {
  readonly tried: number
  readonly struck: number
  readonly missed: ReadonlyArray<string>
}

const strikeStarts = async (site: Site, { isWanted, progress }: SweepOptions): Promise<Further> => {
  const missed: Array<string> = []
  let struck = 0
  for (const [index, [point, how]] of starts.entries()) {
    if (isWanted !== undefined && !isWanted(point, index)) continue
    // Leaves something behind that the next life finds.
    const server = site.server()
    await server.order({ point: "FileStore.store, before", deed: "end" })
    await leaveBehind(site)
    await server.ended
    server.killRest()
    const next = await site.start({ ...how, order: { point, deed: "end" } })
    const isDead = next === null || (await Promise.race([next.ended, sleep(1_000).then(() => false)]))
    if (isDead) struck++
    else {
      missed.push(`start: ${point}`)
      next?.killRest()
      await next?.ended
    }
    if ((await site.start()) === null) throw new Error("The next server died, too")
    await site.world.look()
    progress(`start: ${point}${isDead ? "" : " (not passed)"}`)
  }
  return { tried: struck + missed.length, struck, missed }
}

/** While all that a former master key sealed is sealed anew. */
const strikeRotation = async (site: Site, { isWanted = () => true, progress }: SweepOptions): Promise<Further> => {
  const missed: Array<string> = []
  let struck = 0
  const wanted = ["SealedStore.replace, before", "SealedStore.replace, after"].filter(isWanted)
  if (wanted.length === 0) return { tried: 0, struck, missed }
  for (const point of wanted) {
    // After each blow all of it is sealed with the key that was new.
    await site.server().close()
    site.changeMasterKey()
    await site.start()
    const isStruck = await strike(site, "server", point, reseal)
    if (isStruck) struck++
    else missed.push(`change of the key: ${point}`)
    progress(`change of the key: ${point}${isStruck ? "" : " (not passed)"}`)
  }
  await reseal(site.world)
  return { tried: struck + missed.length, struck, missed }
}

/** An event that runs, parts without an end, and bytes without a record. */
const leaveBehind = async ({ world }: Site): Promise<void> => {
  const { upload, abandon, slow } = leftovers
  await abandon(world)
  await slow(world)
  await upload(world)
}

const leftovers: Readonly<Record<"upload" | "abandon" | "slow", Deed>> = {
  upload: (world) => (fileDeeds["upload a file"] ?? nothing)(world),
  abandon: async (world) => {
    const path = `left/${world.next()}`
    const { body } = await world.ask("POST", "/v1/files/uploads", { body: { path } })
    const id = JSON.stringify(body).match(/"upload_id":"([^"]+)"/)?.[1]
    await world.ask("PUT", `/v1/files/uploads/${id}/1`, { body: Buffer.alloc(10_000, 1) })
  },
  slow: async (world) => {
    await world.ask("POST", "/v1/events", { body: { event_type: "crash:slow", event_data: { n: world.next() } } })
  }
}

const nothing: Deed = async () => undefined

/** Lives with another key that clean up after all; then the database and the blobs are looked at. */
const end = async (site: Site): Promise<void> => {
  const { world } = site
  await site.server().close()
  site.changeMasterKey()
  await site.start()
  await reseal(world)
  await world.look()
  await site.server().close()
  site.forgetMasterKey()
  await site.start({ clockMs: 0 })
  await world.look({ all: true })
  // What a life whose clock was ahead gave back is due by that clock.
  if (site.database !== null) site.setClock(31 * dayMs)
  await idle(site)
  await site.server().close()
  world.violations.push(...(await wrongInDatabase(site)))
  // Long after the grace of what nobody names.
  await site.start({ clockMs: 32 * dayMs, retentionDays: 20 })
  await sleep(1_500)
  await idle(site)
  await site.server().close()
  world.violations.push(...(await wrongInDatabase(site, { isPurged: true })), ...(await wrongInBlobs(site)))
}

/** Until nothing runs or waits: what the lives before left behind is taken up when their leases are over. */
const idle = async (site: Site): Promise<void> => {
  for (let calm = 0, looks = 0; calm < 3 && looks < 600; looks++) {
    const { body } = await site.world.ask("GET", "/v1/runs/stats")
    const isCalm = JSON.stringify(body).includes('"running":0') && (await deliveriesLeft(site)) === 0
    calm = isCalm ? calm + 1 : 0
    await sleep(100)
  }
}
