/** Clients that publish an event and watch its stream. After a disconnect they follow the stream at another node. */
import { setTimeout as sleep } from "node:timers/promises"
import type { Draws } from "@weft/tooling/draws"
import type { Client } from "./Client.ts"
import { openEventSource, type SseConnection, type SseMessage } from "./EventSource.ts"
import type { Ledger } from "./Ledger.ts"

export interface StreamWatchers {
  /** Returns the number of streams whose end was received. */
  readonly ended: () => number
  /** Events whose end was not received in time. */
  readonly missed: ReadonlyArray<string>
  readonly stop: () => Promise<void>
}

/** Maximum time from an event to its end, in milliseconds, even if nodes are lost meanwhile. */
const timeoutMs = 150_000

export const watchStreams = (
  client: Client,
  ledger: Ledger,
  random: Draws,
  token: string,
  concurrency: number
): StreamWatchers => {
  const missed: Array<string> = []
  let ended = 0
  let isStopped = false
  const one = async (): Promise<void> => {
    while (!isStopped) {
      const end = await follow(client, ledger, random, token)
      if (end === "ended") ended++
      else if (end !== null) missed.push(end)
      await sleep(random.whole(200, 2_000))
    }
  }
  const all = Promise.all(Array.from({ length: concurrency }, one))
  return {
    ended: () => ended,
    missed,
    stop: async () => {
      isStopped = true
      await all
    }
  }
}

interface Following {
  eventId: string | null
  streamId: string | null
  lastEventId: string | null
  isEnded: boolean
}

/** Follows one stream. Returns null if the event was not acknowledged, and its id if its end was not received. */
const follow = async (
  client: Client,
  ledger: Ledger,
  random: Draws,
  token: string
): Promise<"ended" | string | null> => {
  const n = ledger.next("shown")
  const state: Following = { eventId: null, streamId: null, lastEventId: null, isEnded: false }
  const began = performance.now()
  let open: SseConnection | null = null

  const onMessage = ({ name, data }: SseMessage): void => {
    if (name === "event:published") {
      const published: { readonly event_id: string; readonly stream_id: string } = JSON.parse(data)
      state.eventId = published.event_id
      state.streamId = published.stream_id
      ledger.acknowledge("shown", n, published.event_id)
    }
    // The stream has no other runs, and a run that was lost with its node is not the end.
    if (name === "run:stop") {
      state.isEnded = true
      open?.close()
    }
  }
  while (!state.isEnded && performance.now() - began < timeoutMs) {
    const slot = client.pick()
    if (slot !== null && slot.node !== null) {
      const from = Date.now()
      const isFirst = state.streamId === null
      open = openEventSource({
        url: `${slot.node.url}/v1/streams/${isFirst ? "subscribe-with-event" : `${state.streamId}/subscribe`}`,
        token,
        lastEventId: state.lastEventId,
        ...(isFirst ? { body: { event_type: "chaos:shown", event_data: { n, ms: random.whole(0, 500) } } } : {}),
        onId: (id) => {
          state.lastEventId = id
        },
        onMessage
      })
      const closing = setTimeout(() => open?.close(), timeoutMs)
      const end = await open.ended
      clearTimeout(closing)
      if (typeof end === "object") {
        const isExpected = (end.status === 500 || end.status === 503) && end.mayRepeat
        ledger.failures.push({ from, to: Date.now(), what: `/v1/streams: ${end.status} (${slot.name})`, isExpected })
      }
    }
    // Without a response it is unknown whether the event is stored, so the next stream uses another event.
    if (state.eventId === null) {
      ledger.unknown++
      return null
    }
    if (!state.isEnded) await sleep(random.whole(50, 1_000))
  }
  return state.isEnded ? "ended" : (state.eventId ?? null)
}
