/** One crash at one point: of the server, its database or its runners. Then all registered checks run. */
import { readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import type { Environment } from "./Environment.ts"
import { until } from "./RunExpectations.ts"
import type { Operation } from "./RunWorkload.ts"

/** The process that crashes. */
export type Target = "server" | "database" | "backend" | "runners"

/** Maximum time from the end of an operation to its last point, in milliseconds, with retries and schedules. */
const aftermathMs = 1_500

/** Maximum time in which runners exit after their server, in milliseconds. */
const orphanMs = 5_000

/** Maximum time in which killed processes exit, in milliseconds. */
const endingMs = 10_000

/** Returns true if the point was reached. Throws if a server does not start, or responds with an unexpected error. */
export const injectCrash = async (
  environment: Environment,
  target: Target,
  point: string,
  operation: Operation
): Promise<boolean> => {
  const server = environment.server()
  const durableBefore = environment.harness.durable.size
  const action = target === "server" ? "kill" : target === "runners" ? "killRunners" : "pause"
  const reached = server.reached()
  await server.setTrigger({ point, action })
  const done = operation(environment.harness)
  const isReached = await Promise.race([
    (target === "server" ? server.ended : reached).then(() => true),
    done.then(() => sleep(aftermathMs)).then(() => false)
  ])
  if (!isReached) {
    await server.setTrigger(null)
    await environment.harness.check()
    return false
  }
  if (target === "server") {
    await done
    await restart(environment)
  } else if (target === "runners") {
    await done
  } else {
    await killDatabase(environment, target)
    server.resume()
    await done
    await isReady(environment)
  }
  environment.harness.countCrash(durableBefore)
  await environment.harness.check()
  return true
}

/** Checks that the runners exit, then starts another server on the same data. */
const restart = async (environment: Environment): Promise<void> => {
  const { pid } = environment.server()
  const isEmpty = await until(async () => !isGroupAlive(pid), Boolean, orphanMs)
  if (!isEmpty) {
    environment.harness.violations.push(`processes outlived their server: ${environment.server().output()}`)
    environment.server().killGroup()
  }
  if ((await environment.start()) === null) throw new Error("The next server crashed as well")
}

const isGroupAlive = (pid: number): boolean => {
  try {
    process.kill(-pid, 0)
    return true
  } catch {
    return false
  }
}

/** Sends SIGKILL to all of PostgreSQL, or to one backend, after which PostgreSQL restarts all others. */
const killDatabase = async ({ database }: Environment, target: Target): Promise<void> => {
  if (database === null) throw new Error("SQLite has no process to kill")
  if (target === "backend") {
    const [backend] = listChildren(database.pid()).filter((pid) => readCommand(pid).includes("127.0.0.1"))
    if (backend !== undefined) sendKill(backend)
    return
  }
  const postmaster = database.pid()
  // A stopped postmaster forks no further child before the kill.
  process.kill(postmaster, "SIGSTOP")
  const all = [postmaster, ...listChildren(postmaster)]
  for (const pid of all) sendKill(pid)
  // A killed process holds the shared memory for a moment, and the next server refuses to start until it is released.
  const areGone = await until(async () => all.every(hasEnded), Boolean, endingMs)
  if (!areGone) throw new Error(`Processes of PostgreSQL still exist ${endingMs} ms after SIGKILL`)
  await database.stop()
  await database.start()
}

const sendKill = (pid: number): void => {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // The process has already exited, as children do after their parent.
  }
}

/** True if the process has exited or is a zombie, whose memory is released (proc(5)). */
const hasEnded = (pid: number): boolean => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    return stat.charAt(stat.lastIndexOf(")") + 2) === "Z"
  } catch {
    return true
  }
}

const listChildren = (pid: number): ReadonlyArray<number> =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number)

const readCommand = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, "utf8")

const isReady = async ({ harness }: Environment): Promise<void> => {
  const readStatus = async () => (await fetch(`${harness.url}/readyz`)).status
  const status = await until(readStatus, (found) => found === 200)
  if (status !== 200) throw new Error("The server did not become ready again")
}
