/** Counts stars. GitHub sends each change as `star` and, for compatibility, as `watch`. */
import { handler } from "@weft/sdk"
import * as z from "zod"
import { deliveryWith } from "./delivery.ts"

const Star = z.object({
  action: z.string(),
  repository: z.object({ full_name: z.string(), stargazers_count: z.int() })
})

export const onStar = handler({ event: ["github:star:*", "github:watch:*"], data: deliveryWith(Star) }, (event) => {
  const { action, repository } = event.event_data.payload
  return {
    kind: "star",
    repository: repository.full_name,
    given: action !== "deleted",
    stars: repository.stargazers_count,
    milestone: isMilestone(repository.stargazers_count)
  }
})

/** True for 1, 10, 100 and so on. */
export const isMilestone = (stars: number): boolean => /^10*$/.test(String(stars))
