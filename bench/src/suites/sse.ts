/** Delivery to subscribers: completeness, order, delay, and cost of the server. */
import { spawn } from "node:child_process"
import { Agent, request } from "node:http"
import { peakMiB, resetPeak, residentMiB } from "../instruments/Memory.ts"
import { processorTime } from "../instruments/ProcessorTime.ts"
import { type Subscribers, type SubscribersResult, subscribe } from "../load/Subscribers.ts"
import type { Contender, Suite } from "../Suite.ts"
import { end, firstLine, startWeft, type WeftServer } from "../targets/Server.ts"

type Target = Pick<WeftServer, "url" | "key" | "pid" | "close">

interface Load {
  readonly subscribers: number
  /** Rates in events per second; delays are reported for the first. */
  readonly eventsPerSecond: readonly [number, ...ReadonlyArray<number>]
  readonly seconds: number
}

const full: Load = { subscribers: 1000, eventsPerSecond: [80, 160, 320, 480, 640, 960, 1280], seconds: 3 }
const short: Load = { subscribers: 100, eventsPerSecond: [80], seconds: 1 }

/** Maximum delay of a subscriber that keeps up, in milliseconds. */
const delayMsMax = 1000

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

interface Delivered extends SubscribersResult {
  readonly perSecond: number
  /** True if all messages arrived in order and no subscriber was disconnected. */
  readonly isComplete: boolean
  readonly keptUp: boolean
}

/** Publishes events at a steady rate, on one stream and without handlers, so that each is one message. */
const publish = async (target: Target, watching: Subscribers, load: Load, perSecond: number): Promise<Delivered> => {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const event = { event_type: "sent", event_data: null }
  const first: { readonly data: { readonly stream_id: string } } = JSON.parse(await post(agent, target, event))
  await new Promise((resolve) => setTimeout(resolve, 200))
  await watching.read()
  const total = perSecond * load.seconds
  const began = performance.now()
  const sent: Array<Promise<unknown>> = []
  let inFlight = 0
  while (sent.length < total && inFlight < (perSecond * delayMsMax) / 1000) {
    const due = Math.min(total, Math.floor(((performance.now() - began) / 1000) * perSecond))
    while (sent.length < due) {
      inFlight++
      sent.push(post(agent, target, { ...event, stream_id: first.data.stream_id }).then(() => inFlight--))
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await Promise.all(sent)
  const seconds = (performance.now() - began) / 1000
  await new Promise((resolve) => setTimeout(resolve, delayMsMax))
  const delivered = await watching.read()
  agent.destroy()
  const isComplete =
    delivered.received === sent.length * load.subscribers && delivered.disorder === 0 && delivered.cutOff === 0
  const keptUp = isComplete && sent.length === total && delivered.maxMs < delayMsMax
  return { ...delivered, perSecond: delivered.received / seconds, isComplete, keptUp }
}

const measure = async (target: Target, load: Load): Promise<Record<string, number>> => {
  const idleMiB = residentMiB(target.pid)
  resetPeak(target.pid)
  const plan = { url: `${target.url}/v1/env/subscribe`, token: target.key, subscribers: load.subscribers, readers: 10 }
  const watching = await subscribe(plan)
  const [slow, ...faster] = load.eventsPerSecond
  const usedBefore = processorTime(target.pid).own
  const delivered = await publish(target, watching, load, slow)
  const used = processorTime(target.pid).own - usedBefore
  if (!delivered.isComplete)
    throw new Error(`A subscriber did not receive every message in order: ${JSON.stringify(delivered)}`)
  let best = delivered.perSecond
  for (const rate of faster) {
    const next = await publish(target, watching, load, rate)
    if (!next.keptUp) break
    best = Math.max(best, next.perSecond)
  }
  await watching.close()
  const slowest = `${(slow * load.subscribers).toLocaleString("en-US")}/s`
  return {
    [`${slowest}: p50 ms`]: delivered.p50Ms,
    [`${slowest}: p99 ms`]: delivered.p99Ms,
    [`${slowest}: longest ms`]: delivered.maxMs,
    [`${slowest}: CPU time of the server per message, µs`]: (used / delivered.received) * 1e6,
    "maximum, messages/s": best,
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
  measures: "messages to the subscribers of one environment, and their delay",
  hasShort: true,
  headlines: ["maximum, messages/s"],
  open: async ({ isShort }) => {
    const load = isShort ? short : full
    const open: Array<Target> = []
    const makeContender = (name: string, start: () => Promise<Target>): Contender => {
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
        { ...makeContender("node:http", startPlainSse), isLimit: true },
        makeContender("Weft", () => startWeft({}))
      ],
      settings: {
        "node:http": "writes each posted event to all connections; stores nothing, no catch-up",
        Weft: "the reference server with its defaults; events are durable before they are sent",
        subscribers: `${load.subscribers} connections of one process; ten read every message, the others count them`,
        delay: "from the creation of the event's id to the message in the subscribers' process",
        maximum: `rates of ${load.eventsPerSecond.join(", ")} events/s for ${load.seconds} s each; the highest at which every subscriber received everything in order within ${delayMsMax} ms`
      },
      close: async () => {
        await Promise.all(open.map((server) => server.close()))
      }
    }
  }
}
