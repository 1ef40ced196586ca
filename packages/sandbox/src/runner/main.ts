/**
 * A runner: a process that contains isolates with hostile code and nothing else.
 *
 * It has an empty environment, one socket (descriptor 3) and as few rights as possible. It executes the supervisor's
 * messages and ends only by SIGKILL: a normal exit would wait for threads that may never stop.
 */
import type { RunnerLimits } from "../protocol/RunnerLimits.ts"
import type { ToRunner } from "../protocol/ToRunner.ts"
import { Engine } from "./Engine.ts"
import { KernelScript } from "./KernelScript.ts"
import { runnerItself } from "./OutputQueue.ts"
import { ResidentMemory } from "./ResidentMemory.ts"
import { SupervisorSocket } from "./SupervisorSocket.ts"

const heartbeatMs = 100

const end = (): void => {
  process.kill(process.pid, "SIGKILL")
}

const boot = async (message: Extract<ToRunner, { readonly kind: "boot" }>): Promise<Engine> => {
  const limits: RunnerLimits = JSON.parse(message.limits)
  const given = new Uint8Array(message.cache)
  const guest = new KernelScript(message, limits, given)
  const cache = given.length === 0 ? await guest.makeCache(limits.heapBytes) : new Uint8Array(0)
  const engine = new Engine(limits, guest, (isolate, reply) => link.send(isolate, reply))
  link.send(runnerItself, { kind: "ready", cache })
  const memory = new ResidentMemory()
  setInterval(() => link.send(runnerItself, { kind: "heartbeat", rssBytes: memory.read() }), heartbeatMs)
  return engine
}

let engine: Engine | undefined
/** Messages that arrive while the engine boots. */
const queued: Array<ToRunner> = []

const receive = (message: ToRunner): void => {
  if (engine !== undefined) {
    engine.receive(message)
    return
  }
  if (message.kind !== "boot") return void queued.push(message)
  boot(message).then((booted) => {
    engine = booted
    for (const waiting of queued.splice(0)) booted.receive(waiting)
  }, fail)
}

/**
 * Ends the runner after an error of its own. The supervisor logs its standard error. The signal is not SIGKILL, which
 * the supervisor would attribute to the system.
 */
const fail = (error: unknown): void => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`, () => process.abort())
}

const link = new SupervisorSocket(3, receive, end)
process.on("uncaughtException", fail)
// Ctrl-C signals every process in the foreground. The host decides when its runners end: it may have runs to finish.
// By default Node.js opens its debugger on SIGUSR1.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1"]) process.on(signal, () => undefined)
// The runner's code handles all rejections; an unhandled rejection of the engine must not end all runs.
process.on("unhandledRejection", (error) => {
  process.stderr.write(`unhandled: ${error instanceof Error ? error.message : String(error)}\n`)
})
