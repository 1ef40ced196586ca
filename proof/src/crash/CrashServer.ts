/** A server that crashes on command. It is a process group of its own, and its data directory survives it. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { builtProgram } from "@weft/tooling/programs"
import type { Trigger } from "./Points.ts"
import type { Command, Message, ServerOptions } from "./Protocol.ts"

export interface CrashServer {
  readonly url: string
  readonly pid: number
  /** Returns the output of the server and its runners so far. */
  readonly output: () => string
  readonly setTrigger: (trigger: Trigger | null) => Promise<void>
  /** Returns the points that were passed since the last call. Points of the same moment are together. */
  readonly passed: () => Promise<ReadonlyArray<ReadonlyArray<string>>>
  /** Resolves when the server passes the point of its trigger, and continues or pauses there. */
  readonly reached: () => Promise<void>
  readonly resume: () => void
  /** Resolves when the process has exited; true if SIGKILL ended it. */
  readonly ended: Promise<boolean>
  readonly isGone: () => boolean
  /** Sends SIGKILL to the process group: runners may outlive their server. */
  readonly killGroup: () => void
  /** Shuts the server down. */
  readonly close: () => Promise<void>
}

const startMs = 30_000

const root = fileURLToPath(new URL("../../../", import.meta.url))
const program = fileURLToPath(new URL("./main.ts", import.meta.url))

/** The bundle of all servers of this process, built once, so that changes of the sources do not matter. */
let built: Promise<string> | undefined

/** Starts a server, with the clock of `Clock.ts` if there is a file. Resolves to null if it was killed before it listened. */
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
  const killGroup = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
    } catch {
      // All processes of the group have exited.
    }
  }
  process.once("exit", killGroup)
  void ended.then(() => process.off("exit", killGroup))

  const waiting: Array<(answer: Message) => void> = []
  let reach = (): void => undefined
  let isListening = (_url: string | null): void => undefined
  const listening = new Promise<string | null>((resolve) => {
    isListening = resolve
  })
  child.on("message", (message: Message) => {
    if (message.kind === "listening") isListening(message.url)
    else if (message.kind === "reached") reach()
    else waiting.shift()?.(message)
  })
  const send = (command: Command): void => {
    // The process may be exiting.
    if (!isGone && child.connected) child.send(command, () => undefined)
  }
  /** Sends a command and returns its reply, or null if the process has exited. */
  const request = async (command: Command): Promise<Message | null> => {
    const answered = new Promise<Message>((resolve) => waiting.push(resolve))
    send(command)
    return Promise.race([answered, ended.then(() => null)])
  }

  const timer = setTimeout(killGroup, startMs)
  const url = await Promise.race([listening, ended.then(() => null)])
  clearTimeout(timer)
  if (url === null) {
    killGroup()
    if (await ended) return null
    throw new Error(`The server exited before it listened:\n${output()}`)
  }
  return {
    url,
    pid: child.pid ?? 0,
    output,
    setTrigger: async (trigger) => {
      await request({ kind: "setTrigger", trigger })
    },
    passed: async () => {
      const answer = await request({ kind: "takePassed" })
      return answer?.kind === "points" ? answer.points : []
    },
    reached: () =>
      new Promise((resolve) => {
        reach = resolve
      }),
    resume: () => send({ kind: "resume" }),
    ended,
    isGone: () => isGone,
    killGroup,
    close: async () => {
      if (isGone) return
      const closed = once(child, "exit")
      send({ kind: "close" })
      await closed
      killGroup()
    }
  }
}

const compiled = new URL("../../../node_modules/.cache/node", import.meta.url).pathname
