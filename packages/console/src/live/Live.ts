/** Live activity of the environment. The page has one subscription, which all views share. */
import type { EnvironmentMessage } from "@weft/client"
import { createSignal, onCleanup } from "solid-js"
import { weft } from "../api/client.ts"

export type Connection = "connecting" | "open" | "interrupted" | "closed"

type Listener = (messages: ReadonlyArray<EnvironmentMessage>) => void

const listeners = new Set<Listener>()

const [connection, setConnection] = createSignal<Connection>("closed")

/** State of the subscription. */
export const liveConnection = connection

/** Interval at which views receive messages, in milliseconds. A burst is one update. */
const batchMs = 250

/** Subscribes until the returned function is called. */
export const startLive = (): (() => void) => {
  const controller = new AbortController()
  let batch: Array<EnvironmentMessage> = []
  const timer = setInterval(() => {
    if (batch.length === 0) return
    const messages = batch
    batch = []
    for (const listener of listeners) listener(messages)
  }, batchMs)
  const watch = async (): Promise<void> => {
    setConnection("connecting")
    try {
      const messages = weft.streams.watchEnv({
        signal: controller.signal,
        onOpen: () => setConnection("open"),
        onInterruption: () => setConnection("interrupted")
      })
      for await (const message of messages) batch.push(message)
    } catch {
      // Aborted, or the credential may not read streams.
    }
    setConnection("closed")
  }
  void watch()
  return () => {
    controller.abort()
    clearInterval(timer)
  }
}

/** Calls the listener with each batch of messages while the current view exists. */
export const onActivity = (listener: Listener): void => {
  listeners.add(listener)
  onCleanup(() => listeners.delete(listener))
}

/** Delay of an update after the first message, in milliseconds, so that a burst is one update. */
const settleMs = 300

/**
 * Calls `refresh` soon after activity, at most once per interval, and once after the last message. `delayMs` is the time
 * after which the server has what the messages are about.
 */
export const refreshOnActivity = (
  refresh: () => void,
  intervalMs: number,
  isRelevant: (message: EnvironmentMessage) => boolean = () => true,
  delayMs = settleMs
): void => {
  let timer: ReturnType<typeof setTimeout> | undefined
  let refreshedAt = 0
  onActivity((messages) => {
    if (timer !== undefined || !messages.some(isRelevant)) return
    timer = setTimeout(
      () => {
        timer = undefined
        refreshedAt = Date.now()
        refresh()
      },
      Math.max(delayMs, refreshedAt + intervalMs - Date.now())
    )
  })
  onCleanup(() => clearTimeout(timer))
}
