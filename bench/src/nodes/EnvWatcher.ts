/** A client that follows an environment, at whichever node, and comes back whenever it is cut off. */
import { setTimeout as sleep } from "node:timers/promises"
import type { Draws } from "@weft/tooling/draws"
import type { Client } from "./Client.ts"
import { openEventSource, type SseConnection, type SseMessage } from "./EventSource.ts"
import type { Ledger } from "./Ledger.ts"

export interface EnvWatcher {
  /** `event:created` by event, and the ends of runs by run. */
  readonly seen: ReadonlySet<string>
  /** When it was first connected, in epoch milliseconds. */
  readonly since: () => number
  /** Where it was connected, and until when, in epoch milliseconds; null where it was never told a position. */
  readonly stays: ReadonlyArray<{
    readonly slot: string
    readonly from: number
    readonly begun: number | null
    readonly to: number
  }>
  readonly messages: () => number
  readonly stop: () => Promise<void>
}

const ends = new Set(["run:stop", "run:fail", "run:cancel"])

/** Leaves by itself after this time, at most, so that it is at all nodes in turns. */
const stayMs = 60_000

export const watchEnv = async (client: Client, ledger: Ledger, random: Draws, token: string): Promise<EnvWatcher> => {
  const seen = new Set<string>()
  const stays: Array<EnvWatcher["stays"][number]> = []
  let messages = 0
  let since = 0
  let lastEventId: string | null = null
  let open: SseConnection | null = null
  let isOver = false
  const ready = Promise.withResolvers<void>()

  const onMessage = ({ name, data }: SseMessage): void => {
    messages++
    const fields: { readonly event_id?: string; readonly run_id?: string } = JSON.parse(data)
    if (name === "event:created" && fields.event_id !== undefined) seen.add(fields.event_id)
    if (ends.has(name) && fields.run_id !== undefined) seen.add(fields.run_id)
  }
  const once = async (): Promise<void> => {
    const slot = client.pick()
    if (slot === null || slot.node === null) return
    const from = Date.now()
    let begun: number | null = null
    open = openEventSource({
      url: `${slot.node.url}/v1/env/subscribe`,
      token,
      lastEventId,
      onId: (id) => {
        lastEventId = id
        begun ??= Date.now()
        if (since === 0) since = Date.now()
        ready.resolve()
      },
      onMessage
    })
    const leaving = setTimeout(() => open?.close(), random.whole(stayMs / 4, stayMs))
    const end = await open.over
    clearTimeout(leaving)
    stays.push({ slot: slot.name, from, begun, to: Date.now() })
    if (typeof end === "object") {
      const isExpected = (end.status === 500 || end.status === 503) && end.mayRepeat
      ledger.troubles.push({
        from,
        to: Date.now(),
        what: `/v1/env/subscribe: ${end.status} (${slot.name})`,
        isExpected
      })
    }
  }
  const looping = (async () => {
    while (!isOver) {
      await once()
      if (!isOver) await sleep(random.whole(50, 1_500))
    }
  })()
  await ready.promise
  return {
    seen,
    since: () => since,
    stays,
    messages: () => messages,
    stop: async () => {
      isOver = true
      open?.close()
      await looping
    }
  }
}
