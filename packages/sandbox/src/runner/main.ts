/**
 * A runner: a process that holds isolates full of hostile code and nothing else.
 *
 * It gets an empty environment, one socket (descriptor 3) and no rights that matter. It does as the supervisor says
 * and ends by SIGKILL only: a normal exit would wait for threads that may never stop.
 */
import type { RunnerLimits } from "../protocol/RunnerLimits.ts"
import type { ToRunner } from "../protocol/ToRunner.ts"
import { Engine } from "./Engine.ts"
import { Guest } from "./Guest.ts"
import { Link } from "./Link.ts"

const beatMs = 100

const end = (): void => {
  process.kill(process.pid, "SIGKILL")
}

const boot = async (message: Extract<ToRunner, { readonly kind: "boot" }>): Promise<Engine> => {
  const limits: RunnerLimits = JSON.parse(message.limits)
  const given = new Uint8Array(message.cache)
  const guest = new Guest(message.guest, limits, given)
  const cache = given.length === 0 ? await guest.warm(limits.heapBytes) : new Uint8Array(0)
  const engine = new Engine(limits, guest, (reply) => link.send(reply))
  link.send({ kind: "ready", cache })
  const beat = () => link.send({ kind: "beat", rssBytes: process.memoryUsage.rss() })
  setInterval(beat, beatMs)
  return engine
}

let engine: Engine | undefined
/** What arrives while the engine boots. */
const early: Array<ToRunner> = []

const receive = (message: ToRunner): void => {
  if (engine !== undefined) {
    engine.receive(message)
    return
  }
  if (message.kind !== "boot") return void early.push(message)
  boot(message).then((booted) => {
    engine = booted
    for (const waiting of early.splice(0)) booted.receive(waiting)
  }, fail)
}

/** A fault of the runner itself. Its last words are kept by the supervisor. */
const fail = (error: unknown): void => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`, end)
}

const link = new Link(3, receive, end)
process.on("uncaughtException", fail)
// Ctrl-C goes to everyone in the foreground. The host decides when its runners end: it has runs to finish.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined)
// Nothing rejects unhandled in our code; what the engine rejects in passing must not end everyone's runs.
process.on("unhandledRejection", (error) => {
  process.stderr.write(`unhandled: ${error instanceof Error ? error.message : String(error)}\n`)
})
