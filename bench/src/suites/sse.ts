/** What subscribers are told: all of it, in order, how soon, and what it takes of the server. */
import { spawn } from "node:child_process"
import { Agent, request } from "node:http"
import { type Subscribers, type SubscribersResult, subscribe } from "../load/Subscribers.ts"
import type { Contender, Suite } from "../Suite.ts"
import { forgetPeak, peakMiB, residentMiB } from "../targets/Memory.ts"
import { processorTime } from "../targets/ProcessorTime.ts"
import { end, firstLine, startWeft, type WeftServer } from "../targets/Server.ts"

type Target = Pick<WeftServer, "url" | "key" | "pid" | "close">

interface Load {
  readonly subscribers: number
  /** The first is the one whose delays are told. */
  readonly eventsPerSecond: readonly [number, ...ReadonlyArray<number>]
  readonly seconds: number
}

const full: Load = { subscribers: 1000, eventsPerSecond: [80, 160, 320, 480, 640, 960, 1280], seconds: 3 }
const short: Load = { subscribers: 100, eventsPerSecond: [80], seconds: 1 }

/** Who is later than that does not keep up, in milliseconds. */
const lateMs = 1000

const post = (agent: Agent, { url, key }: Target, json: unknown): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
    const sent = request(`${url}/v1/events`, { method: "POST", agent, headers }, (response) => {
      let text = ""
      response.setEncoding("utf8").on("data", (piece: string) => {
        text += piece
      })
      response.on("end", () => (response.statusCode === 201 ? resolve(text) : reject(new Error(text))))
      response.on("error", reject)
    })
    sent.on("error", reject)
    sent.end(JSON.stringify(json))
  })

interface Told extends SubscribersResult {
  readonly perSecond: number
  /** Whether nobody was left out or cut off, and everything came in its turn. */
  readonly isWhole: boolean
  readonly keptUp: boolean
}

/** Events at a steady rate, all on one stream and handled by nobody, so that each is one message. */
const publish = async (target: Target, watching: Subscribers, load: Load, perSecond: number): Promise<Told> => {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const event = { event_type: "told", event_data: null }
  const first: { readonly data: { readonly stream_id: string } } = JSON.parse(await post(agent, target, event))
  await new Promise((resolve) => setTimeout(resolve, 200))
  await watching.tell()
  const total = perSecond * load.seconds
  const began = performance.now()
  const sent: Array<Promise<unknown>> = []
  let waiting = 0
  while (sent.length < total && waiting < (perSecond * lateMs) / 1000) {
    const due = Math.min(total, Math.floor(((performance.now() - began) / 1000) * perSecond))
    while (sent.length < due) {
      waiting++
      sent.push(post(agent, target, { ...event, stream_id: first.data.stream_id }).then(() => waiting--))
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await Promise.all(sent)
  const seconds = (performance.now() - began) / 1000
  await new Promise((resolve) => setTimeout(resolve, lateMs))
  const told = await watching.tell()
  agent.destroy()
  const isWhole = told.received === sent.length * load.subscribers && told.disorder === 0 && told.cutOff === 0
  const keptUp = isWhole && sent.length === total && told.maxMs < lateMs
  return { ...told, perSecond: told.received / seconds, isWhole, keptUp }
}

const measure = async (target: Target, load: Load): Promise<Record<string, number>> => {
  const idleMiB = residentMiB(target.pid)
  forgetPeak(target.pid)
  const plan = { url: `${target.url}/v1/env/subscribe`, token: target.key, subscribers: load.subscribers, readers: 10 }
  const watching = await subscribe(plan)
  const [calm, ...more] = load.eventsPerSecond
  const usedBefore = processorTime(target.pid).own
  const told = await publish(target, watching, load, calm)
  const used = processorTime(target.pid).own - usedBefore
  if (!told.isWhole) throw new Error(`Not everybody was told of everything in order: ${JSON.stringify(told)}`)
  let best = told.perSecond
  for (const rate of more) {
    const faster = await publish(target, watching, load, rate)
    if (!faster.keptUp) break
    best = Math.max(best, faster.perSecond)
  }
  await watching.close()
  const calmly = `${(calm * load.subscribers).toLocaleString("en-US")}/s`
  return {
    [`${calmly}: p50 ms`]: told.p50Ms,
    [`${calmly}: p99 ms`]: told.p99Ms,
    [`${calmly}: longest ms`]: told.maxMs,
    [`${calmly}: processor time of the server per message, µs`]: (used / told.received) * 1e6,
    "at most, messages/s": best,
    "peak memory over idle, MiB": peakMiB(target.pid) - idleMiB
  }
}

const startPlainSse = async (): Promise<Target> => {
  const program = new URL("../targets/plainSseServer.ts", import.meta.url).pathname
  const child = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit"] })
  const port = await firstLine(child, /^\d+$/)
  return { url: `http://127.0.0.1:${port}`, key: "", pid: child.pid ?? 0, close: () => end(child) }
}

export const sse: Suite = {
  name: "sse",
  measures: "what subscribers of one environment are told, and how soon",
  hasShort: true,
  headlines: ["at most, messages/s"],
  open: async ({ isShort }) => {
    const load = isShort ? short : full
    const open: Array<Target> = []
    const contenderOf = (name: string, start: () => Promise<Target>): Contender => {
      let started: Target | undefined
      return {
        name,
        measure: async () => {
          if (started === undefined) {
            started = await start()
            open.push(started)
          }
          return measure(started, load)
        }
      }
    }
    return {
      contenders: [
        { ...contenderOf("node:http", startPlainSse), isLimit: true },
        contenderOf("Weft", () => startWeft({}))
      ],
      settings: {
        "node:http": "writes what is posted to all connections; stores nothing, and lets nobody catch up",
        Weft: "the reference server with its defaults; events are on the disk before they are told",
        subscribers: `${load.subscribers} connections of one process; ten read every message, the others count them`,
        delay: "from the making of the event's id to the message in the subscribers' process",
        "at most": `rates of ${load.eventsPerSecond.join(", ")} events/s for ${load.seconds} s each; the last at which all got everything, in order, in less than ${lateMs} ms`
      },
      close: async () => {
        await Promise.all(open.map((server) => server.close()))
      }
    }
  }
}
