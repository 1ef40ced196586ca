/** Clients that publish and watch in one request, and follow the stream elsewhere when they are cut off. */
import { setTimeout as sleep } from "node:timers/promises"
import type { Draws } from "@weft/tooling/draws"
import type { Client } from "./Client.ts"
import { openEventSource, type SseConnection, type SseMessage } from "./EventSource.ts"
import type { Ledger } from "./Ledger.ts"

export interface StreamWatchers {
  /** Streams whose event's end was told. */
  readonly told: () => number
  /** Events whose end nobody was told of within the time. */
  readonly missed: ReadonlyArray<string>
  readonly stop: () => Promise<void>
}

/** From the event to its end, however many nodes are lost meanwhile. */
const patienceMs = 150_000

export const watchStreams = (
  client: Client,
  ledger: Ledger,
  random: Draws,
  token: string,
  atOnce: number
): StreamWatchers => {
  const missed: Array<string> = []
  let told = 0
  let isOver = false
  const one = async (): Promise<void> => {
    while (!isOver) {
      const end = await follow(client, ledger, random, token)
      if (end === "told") told++
      else if (end !== null) missed.push(end)
      await sleep(random.whole(200, 2_000))
    }
  }
  const all = Promise.all(Array.from({ length: atOnce }, one))
  return {
    told: () => told,
    missed,
    stop: async () => {
      isOver = true
      await all
    }
  }
}

interface Following {
  eventId: string | null
  streamId: string | null
  lastEventId: string | null
  isTold: boolean
}

/** Null when the event was never acknowledged; its id when its end was not told. */
const follow = async (
  client: Client,
  ledger: Ledger,
  random: Draws,
  token: string
): Promise<"told" | string | null> => {
  const n = ledger.next("shown")
  const state: Following = { eventId: null, streamId: null, lastEventId: null, isTold: false }
  const began = performance.now()
  let open: SseConnection | null = null

  const onMessage = ({ name, data }: SseMessage): void => {
    if (name === "event:published") {
      const published: { readonly event_id: string; readonly stream_id: string } = JSON.parse(data)
      state.eventId = published.event_id
      state.streamId = published.stream_id
      ledger.acknowledge("shown", n, published.event_id)
    }
    // Nothing else is in the stream, and a run that was lost with its node is not the end.
    if (name === "run:stop") {
      state.isTold = true
      open?.close()
    }
  }
  while (!state.isTold && performance.now() - began < patienceMs) {
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
      const leaving = setTimeout(() => open?.close(), patienceMs)
      const end = await open.over
      clearTimeout(leaving)
      if (typeof end === "object") {
        const isExpected = (end.status === 500 || end.status === 503) && end.mayRepeat
        ledger.troubles.push({ from, to: Date.now(), what: `/v1/streams: ${end.status} (${slot.name})`, isExpected })
      }
    }
    // Without an answer nobody knows whether the event is there: the next one is another event.
    if (state.eventId === null) {
      ledger.unknown++
      return null
    }
    if (!state.isTold) await sleep(random.whole(50, 1_000))
  }
  return state.isTold ? "told" : (state.eventId ?? null)
}
