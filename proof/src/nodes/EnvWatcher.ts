/** A client that watches an environment at random nodes and reconnects whenever it is disconnected. */
import { setTimeout as sleep } from "node:timers/promises"
import type { Draws } from "@weft/tooling/draws"
import type { Client } from "./Client.ts"
import { openEventSource, type SseConnection, type SseMessage } from "./EventSource.ts"
import type { Ledger } from "./Ledger.ts"

export interface EnvWatcher {
  /** Ids of received `event:created` events and of ended runs. */
  readonly seen: ReadonlySet<string>
  /** Returns the time of the first connection, in epoch milliseconds. */
  readonly since: () => number
  /** Connections in epoch milliseconds; `begun` is null if no position was received. */
  readonly connections: ReadonlyArray<{
    readonly slot: string
    readonly from: number
    readonly begun: number | null
    readonly to: number
  }>
  readonly messages: () => number
  readonly stop: () => Promise<void>
}

const ends = new Set(["run:stop", "run:fail", "run:cancel"])

/** Maximum duration of a connection, in milliseconds, so that it visits all nodes. */
const connectionMsMax = 60_000

export const watchEnv = async (client: Client, ledger: Ledger, random: Draws, token: string): Promise<EnvWatcher> => {
  const seen = new Set<string>()
  const connections: Array<EnvWatcher["connections"][number]> = []
  let messages = 0
  let since = 0
  let lastEventId: string | null = null
  let open: SseConnection | null = null
  let isStopped = false
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
    const closing = setTimeout(() => open?.close(), random.whole(connectionMsMax / 4, connectionMsMax))
    const end = await open.ended
    clearTimeout(closing)
    connections.push({ slot: slot.name, from, begun, to: Date.now() })
    if (typeof end === "object") {
      const isExpected = (end.status === 500 || end.status === 503) && end.mayRepeat
      ledger.failures.push({
        from,
        to: Date.now(),
        what: `/v1/env/subscribe: ${end.status} (${slot.name})`,
        isExpected
      })
    }
  }
  const looping = (async () => {
    while (!isStopped) {
      await once()
      if (!isStopped) await sleep(random.whole(50, 1_500))
    }
  })()
  await ready.promise
  return {
    seen,
    since: () => since,
    connections,
    messages: () => messages,
    stop: async () => {
      isStopped = true
      open?.close()
      await looping
    }
  }
}
