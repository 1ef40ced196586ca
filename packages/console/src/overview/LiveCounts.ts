/** Counts of runs since the last update of the overview, from live messages. They cost the server nothing. */
import { createEffect, createSignal, on } from "solid-js"
import { onActivity } from "../live/Live.ts"

export interface LiveCounts {
  readonly started: number
  readonly succeeded: number
  readonly failed: number
  readonly cancelled: number
}

const none: LiveCounts = { started: 0, succeeded: 0, failed: 0, cancelled: 0 }

const outcomes = {
  "run:start": "started",
  "run:stop": "succeeded",
  "run:fail": "failed",
  "run:cancel": "cancelled"
} as const

const isOutcome = (event: string): event is keyof typeof outcomes => Object.hasOwn(outcomes, event)

export const endedOf = ({ succeeded, failed, cancelled }: LiveCounts): number => succeeded + failed + cancelled

/** Returns the counts since `updatedAt` last changed. */
export const useLiveCounts = (updatedAt: () => number): (() => LiveCounts) => {
  const [counts, setCounts] = createSignal(none)
  createEffect(on(updatedAt, () => setCounts(none)))
  onActivity((messages) => {
    const next = { ...counts() }
    for (const { event } of messages) {
      if (isOutcome(event)) next[outcomes[event]]++
    }
    setCounts(next)
  })
  return counts
}
