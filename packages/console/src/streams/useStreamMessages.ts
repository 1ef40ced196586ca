/** The live messages of one stream. */
import type { StreamMessage } from "@weft/client"
import { createEffect, createSignal, onCleanup } from "solid-js"
import { weft } from "../api/client.ts"

export interface ReceivedMessage {
  readonly number: number
  /** Time when the page received it. */
  readonly at: number
  readonly message: StreamMessage
}

/** Messages that the page shows. It drops the oldest ones. */
const shownMax = 500

/** Interval at which the page shows messages, in milliseconds. A burst is one update. */
const batchMs = 250

export type StreamState = "connecting" | "open" | "interrupted" | "closed"

/** Subscribes to the stream while the current view exists. */
export const useStreamMessages = (streamId: () => string) => {
  const [messages, setMessages] = createSignal<ReadonlyArray<ReceivedMessage>>([])
  const [state, setState] = createSignal<StreamState>("connecting")
  const [error, setError] = createSignal<unknown>()
  createEffect(() => {
    const id = streamId()
    const controller = new AbortController()
    let batch: Array<ReceivedMessage> = []
    let number = 0
    setMessages([])
    setState("connecting")
    const timer = setInterval(() => {
      if (batch.length === 0) return
      const newest = batch.reverse()
      batch = []
      setMessages((shown) => [...newest, ...shown].slice(0, shownMax))
    }, batchMs)
    const watch = async () => {
      try {
        const subscription = weft.streams.watch(id, {
          signal: controller.signal,
          follow: true,
          onOpen: () => setState("open"),
          onInterruption: () => setState("interrupted")
        })
        for await (const message of subscription) batch.push({ number: number++, at: Date.now(), message })
      } catch (failure) {
        if (!controller.signal.aborted) setError(failure)
      }
      setState("closed")
    }
    void watch()
    onCleanup(() => {
      controller.abort()
      clearInterval(timer)
    })
  })
  return { messages, state, error, clear: () => setMessages([]) }
}
