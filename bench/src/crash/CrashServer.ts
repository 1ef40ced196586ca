/** A server that may be told to die, as a process group of its own, on a data dir that outlives it. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { builtProgram } from "@weft/tooling/programs"
import type { Order } from "./Points.ts"
import type { Command, Message, ServerOptions } from "./Protocol.ts"

export interface CrashServer {
  readonly url: string
  readonly pid: number
  /** What it and its runners wrote so far. */
  readonly output: () => string
  /** Gives whether there was one before it that is not carried out. */
  readonly order: (order: Order | null) => Promise<boolean>
  /** The points that were passed since this was asked for. */
  readonly passed: () => Promise<ReadonlyArray<string>>
  /** Resolves when the next point is reached at which it is to pause. */
  readonly paused: () => Promise<void>
  readonly goOn: () => void
  /** Resolves when the process is gone; whether it was ended by SIGKILL. */
  readonly ended: Promise<boolean>
  readonly isGone: () => boolean
  /** SIGKILL to what is left of the group: runners may be there without their server. */
  readonly killRest: () => void
  /** Ends it as it should end. */
  readonly close: () => Promise<void>
}

const startMs = 30_000

const root = fileURLToPath(new URL("../../../", import.meta.url))
const program = fileURLToPath(new URL("./main.ts", import.meta.url))

/** The same for all servers of this process, whatever becomes of the sources meanwhile. */
let built: Promise<string> | undefined

/** With a clock as `Clock.ts` has it, where there is a file for it. Resolves to null when it died before it listened. */
export const startCrashServer = async (
  options: ServerOptions,
  clockFile: string | null
): Promise<CrashServer | null> => {
  built ??= builtProgram("weft-crash", relative(root, program))
  const clock = clockFile === null ? [] : ["--import", new URL("./Clock.ts", import.meta.url).href]
  const child = spawn(process.execPath, [...clock, join(await built, "main.mjs"), JSON.stringify(options)], {
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: compiled,
      ...(clockFile === null ? {} : { WEFT_CLOCK_FILE: clockFile })
    }
  })
  const written: Array<Buffer> = []
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (bytes: Buffer) => written.push(bytes))
  const output = () => Buffer.concat(written).toString("utf8")
  let isGone = false
  const ended = new Promise<boolean>((resolve) =>
    child.once("exit", (_code, signal) => {
      isGone = true
      resolve(signal === "SIGKILL")
    })
  )
  const killRest = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
    } catch {
      // Nobody is left.
    }
  }
  process.once("exit", killRest)
  void ended.then(() => process.off("exit", killRest))

  const waiting: Array<(answer: Message) => void> = []
  let pause = (): void => undefined
  let isListening = (_url: string | null): void => undefined
  const listening = new Promise<string | null>((resolve) => {
    isListening = resolve
  })
  child.on("message", (message: Message) => {
    if (message.kind === "listening") isListening(message.url)
    else if (message.kind === "paused") pause()
    else waiting.shift()?.(message)
  })
  const tell = (command: Command): void => {
    // It may be dying just now.
    if (!isGone && child.connected) child.send(command, () => undefined)
  }
  /** Null when it is gone. */
  const ask = async (command: Command): Promise<Message | null> => {
    const answered = new Promise<Message>((resolve) => waiting.push(resolve))
    tell(command)
    return Promise.race([answered, ended.then(() => null)])
  }

  const timer = setTimeout(killRest, startMs)
  const url = await Promise.race([listening, ended.then(() => null)])
  clearTimeout(timer)
  if (url === null) {
    killRest()
    if (await ended) return null
    throw new Error(`The server did not start:\n${output()}`)
  }
  return {
    url,
    pid: child.pid ?? 0,
    output,
    order: async (order) => {
      const answer = await ask({ kind: "order", order })
      return answer?.kind === "ordered" && answer.wasLeft
    },
    passed: async () => {
      const answer = await ask({ kind: "passed" })
      return answer?.kind === "points" ? answer.points : []
    },
    paused: () =>
      new Promise((resolve) => {
        pause = resolve
      }),
    goOn: () => tell({ kind: "goOn" }),
    ended,
    isGone: () => isGone,
    killRest,
    close: async () => {
      if (isGone) return
      const closed = once(child, "exit")
      tell({ kind: "close" })
      await closed
      killRest()
    }
  }
}

const compiled = new URL("../../../node_modules/.cache/node", import.meta.url).pathname
