/** Text of the reasons why something waits. */
import type { Wait } from "@weft/client"

const reasons: Readonly<Record<Wait["reason"], string>> = {
  slot: "due; no node has claimed it yet",
  group: "its concurrency key is at its limit",
  throttle: "its throttle allows no start yet",
  debounce: "debounced",
  batch: "further events may join its batch",
  delay: "published for later",
  retry: "pause before the next attempt",
  timer: "timer",
  event: "waits for an event",
  token: "waits for a token",
  run: "waits for another run",
  node: "its node is down",
  plan: "the plan allows no more runs",
  paused: "paused"
}

/** Returns the reason, its detail, and the times since when and until when. */
export const waitText = ({ reason, since, until, detail }: Wait): string =>
  [
    `${reason}: ${reasons[reason]}${detail === null ? "" : ` (${detail})`}`,
    `since ${since}`,
    ...(until === null ? [] : [`until ${until}`])
  ].join(", ")
