/** Stars given and taken; GitHub says it twice, as `star` and, of old, as `watch`. */
import * as z from "zod"
import { payloadOf } from "./delivery.ts"
import type { Event, Meta } from "./types.ts"

const Star = z.object({
  action: z.string(),
  repository: z.object({ full_name: z.string(), stargazers_count: z.int() })
})

export const onStar = (event: Event) => {
  const { action, repository } = payloadOf(event.event_data, Star)
  return {
    kind: "star",
    repository: repository.full_name,
    given: action !== "deleted",
    stars: repository.stargazers_count,
    milestone: isMilestone(repository.stargazers_count)
  }
}

onStar.meta = { event: ["github:star:*", "github:watch:*"] } satisfies Meta

/** 1, 10, 100 and so on. */
export const isMilestone = (stars: number): boolean => /^10*$/.test(String(stars))
