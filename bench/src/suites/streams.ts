/** What subscribers are told: all of it, in order, how soon, and what it takes of the server. */
import { readFileSync } from "node:fs"
import { Agent, request } from "node:http"
import { subscribe } from "../load/Subscribers.ts"
import type { Contender, Suite } from "../Suite.ts"
import { forgetPeak, peakMiB, residentMiB } from "../targets/Memory.ts"
import { startWeft, type WeftServer } from "../targets/Server.ts"

interface StreamsLoad {
  readonly subscribers: number
  readonly eventsPerSecond: number
  readonly seconds: number
}

/** `WEFT_BENCH_SECONDS` for a quick look. */
const full: StreamsLoad = {
  subscribers: 1000,
  eventsPerSecond: 1000,
  seconds: Number(process.env.WEFT_BENCH_SECONDS ?? 30)
}
const tries = 5000
const triesAtOnce = 8

const source = `
export const onWatched = (event) => ({ done: event.event_data.n })
onWatched.meta = { event: "watched" }
`

/** Processor time that the process has used, in seconds: user and system, in ticks of 10 ms. */
const processorSeconds = (pid: number): number => {
  const afterName = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1] ?? ""
  const [, user, system] = /^(?:\S+ ){11}(\d+) (\d+)/.exec(afterName) ?? []
  return (Number(user) + Number(system)) / 100
}

const post = (agent: Agent, { url, key }: WeftServer, path: string, json: unknown, until?: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
    const sent = request(`${url}${path}`, { method: "POST", agent, headers }, (response) => {
      let text = ""
      response.setEncoding("utf8").on("data", (piece: string) => {
        text += piece
        if (until === undefined || !text.includes(until)) return
        resolve(text)
        response.destroy()
      })
      response.on("end", () => resolve(text))
      response.on("error", reject)
    })
    sent.on("error", reject)
    sent.end(JSON.stringify(json))
  })

/** Events at a steady rate, all on one stream and handled by nobody, so that each is one message. */
const fanOut = async (server: WeftServer, load: StreamsLoad): Promise<Readonly<Record<string, number>>> => {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const event = { event_type: "told", event_data: null }
  const first: { readonly data: { readonly stream_id: string } } = JSON.parse(
    await post(agent, server, "/v1/events", event)
  )
  const { subscribers } = load
  const plan = { url: `${server.url}/v1/env/subscribe`, token: server.key, subscribers, readers: 10 }
  const idleMiB = residentMiB(server.pid)
  const watching = await subscribe(plan)
  forgetPeak(server.pid)
  const usedBefore = processorSeconds(server.pid)
  const total = load.eventsPerSecond * load.seconds
  const began = performance.now()
  const sent: Array<Promise<string>> = []
  while (sent.length < total) {
    const due = Math.min(total, Math.floor(((performance.now() - began) / 1000) * load.eventsPerSecond))
    while (sent.length < due) {
      sent.push(post(agent, server, "/v1/events", { ...event, stream_id: first.data.stream_id }))
    }
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  await Promise.all(sent)
  const publishedSeconds = (performance.now() - began) / 1000
  await new Promise((resolve) => setTimeout(resolve, 1000))
  const used = processorSeconds(server.pid) - usedBefore
  const peak = peakMiB(server.pid)
  const result = await watching.finish()
  agent.destroy()
  return {
    "events published per second": total / publishedSeconds,
    "messages told per second": result.received / publishedSeconds,
    "messages lost": total * subscribers - result.received,
    "messages out of order": result.disorder,
    "subscribers cut off": result.cutOff,
    "delay p50 ms": result.p50Ms,
    "delay p99 ms": result.p99Ms,
    "longest delay ms": result.maxMs,
    "server's processor time per message, µs": (used / result.received) * 1e6,
    "server's memory, more than idle, MiB": peak - idleMiB
  }
}

/** Publishes and watches in one request, again and again: the first run must be told of, every time. */
const withEvent = async (server: WeftServer, tries: number): Promise<Readonly<Record<string, number>>> => {
  const agent = new Agent()
  const began = performance.now()
  let begun = 0
  let missed = 0
  const one = async (): Promise<void> => {
    while (begun < tries) {
      const json = { event_type: "watched", event_data: { n: begun++ } }
      const text = await post(agent, server, "/v1/streams/subscribe-with-event", json, "event: run:stop")
      const names = [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name)
      if (names.join() !== "event:published,run:start,run:stop") missed++
    }
  }
  await Promise.all(Array.from({ length: triesAtOnce }, one))
  agent.destroy()
  return { "seen through per second": tries / ((performance.now() - began) / 1000), "not told in full": missed }
}

const contendersOf = (server: WeftServer, load: StreamsLoad, tries: number): ReadonlyArray<Contender> => [
  {
    name: `${load.subscribers} subscribers, ${load.eventsPerSecond} events/s for ${load.seconds} s`,
    measure: () => fanOut(server, load)
  },
  { name: `subscribe-with-event, ${tries} times`, measure: () => withEvent(server, tries) }
]

export const streams: Suite = {
  name: "streams",
  measures: "subscriptions to an environment under load, and subscriptions that begin with an event",
  open: async () => {
    const server = await startWeft({ watched: source })
    return {
      contenders: contendersOf(server, full, tries),
      settings: {
        weft: "the reference server",
        delay: "from the making of the event's id to the message in the subscribers' process",
        subscribers: "in one process; ten read every message, the others count them",
        "subscribe-with-event": `${triesAtOnce} at once, each until its run has ended`
      },
      close: server.close
    }
  }
}
