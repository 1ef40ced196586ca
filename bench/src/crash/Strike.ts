/** One blow at one point: the server, its database or its runners die there; then all is looked at. */
import { readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import type { Deed as Doing } from "./RunDeeds.ts"
import { until } from "./RunFacts.ts"
import type { Site } from "./Site.ts"

/** Who is hit. */
export type Target = "server" | "database" | "backend" | "runners"

/** How long after a deed was done its last point may be passed, in milliseconds: retries and schedules take their time. */
const aftermathMs = 1_500

/** How long runners may take to notice that their server is dead, in milliseconds. */
const orphanMs = 5_000

/** How long killed processes may take to be gone, in milliseconds. */
const endingMs = 10_000

/** Whether the point was reached. Throws where a server does not start or answers with a failure that none may be. */
export const strike = async (site: Site, target: Target, point: string, doing: Doing): Promise<boolean> => {
  const server = site.server()
  const deed = target === "server" ? "end" : target === "runners" ? "endRunners" : "pause"
  const paused = server.paused()
  await server.order({ point, deed })
  const done = doing(site.world)
  if (target === "runners") {
    await done
    await sleep(50)
    await site.world.look()
    return !(await server.order(null))
  }
  const isReached = await Promise.race([
    (target === "server" ? server.ended : paused).then(() => true),
    done.then(() => sleep(aftermathMs)).then(() => false)
  ])
  if (!isReached) {
    await server.order(null)
    await site.world.look()
    return false
  }
  if (target === "server") {
    await done
    await afterDeath(site)
  } else {
    await endDatabase(site, target)
    server.goOn()
    await done
    await isReady(site)
  }
  await site.world.look()
  return true
}

/** Runners end by themselves; then another server takes up the data. */
const afterDeath = async (site: Site): Promise<void> => {
  const { pid } = site.server()
  const isEmpty = await until(async () => !isGroupAlive(pid), Boolean, orphanMs)
  if (!isEmpty) {
    site.world.violations.push(`processes outlive their server: ${site.server().output()}`)
    site.server().killRest()
  }
  if ((await site.start()) === null) throw new Error("The next server died, too")
}

const isGroupAlive = (pid: number): boolean => {
  try {
    process.kill(-pid, 0)
    return true
  } catch {
    return false
  }
}

/** With SIGKILL: all of it, or one process that serves a connection, after which it ends all the others itself. */
const endDatabase = async ({ database }: Site, target: Target): Promise<void> => {
  if (database === null) throw new Error("SQLite has no process")
  if (target === "backend") {
    const [backend] = childrenOf(database.pid()).filter((pid) => commandOf(pid).includes("127.0.0.1"))
    if (backend !== undefined) killHard(backend)
    return
  }
  const postmaster = database.pid()
  // Standing still, it makes no further child between the look and the blow.
  process.kill(postmaster, "SIGSTOP")
  const all = [postmaster, ...childrenOf(postmaster)]
  for (const pid of all) killHard(pid)
  // A killed process holds the shared memory for a moment more, and the next server refuses to start beside it.
  const areGone = await until(async () => all.every(hasEnded), Boolean, endingMs)
  if (!areGone) throw new Error("Processes of PostgreSQL outlive SIGKILL")
  await database.stop()
  await database.start()
}

const killHard = (pid: number): void => {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // It has ended by itself: children do when their parent dies.
  }
}

/** Whether it is gone, or waits for its parent to notice: its memory is released by then (proc(5)). */
const hasEnded = (pid: number): boolean => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    return stat.charAt(stat.lastIndexOf(")") + 2) === "Z"
  } catch {
    return true
  }
}

const childrenOf = (pid: number): ReadonlyArray<number> =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number)

const commandOf = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, "utf8")

const isReady = async ({ world }: Site): Promise<void> => {
  const statusOf = async () => (await fetch(`${world.url}/readyz`)).status
  const status = await until(statusOf, (found) => found === 200)
  if (status !== 200) throw new Error("The server does not get ready again")
}
