/** Reports size and lead time of a pull request. */
import { handler } from "@weft/sdk"
import { differenceInMinutes, formatDuration, intervalToDuration } from "date-fns"
import * as z from "zod"
import { deliveryWith } from "./delivery.ts"

const instant = z.iso.datetime({ offset: true })

const PullRequest = z.object({
  action: z.string(),
  pull_request: z.object({
    number: z.int(),
    title: z.string(),
    draft: z.boolean().optional(),
    created_at: instant,
    closed_at: instant.nullable(),
    merged_at: instant.nullable(),
    additions: z.int().optional(),
    deletions: z.int().optional()
  })
})
type PullRequest = z.infer<typeof PullRequest>["pull_request"]

export const onPullRequest = handler({ event: "github:pull_request:*", data: deliveryWith(PullRequest) }, (event) => {
  const { action, pull_request } = event.event_data.payload
  return {
    kind: "pull_request",
    action,
    number: pull_request.number,
    title: pull_request.title,
    state: toState(pull_request),
    size: sizeLabel((pull_request.additions ?? 0) + (pull_request.deletions ?? 0)),
    lead_time: leadTime(pull_request)
  }
})

/** Returns a size label for a number of changed lines. */
export const sizeLabel = (lines: number): "XS" | "S" | "M" | "L" | "XL" =>
  lines < 10 ? "XS" : lines < 50 ? "S" : lines < 250 ? "M" : lines < 1000 ? "L" : "XL"

const toState = (request: PullRequest): "merged" | "closed" | "draft" | "open" => {
  if (request.merged_at !== null) return "merged"
  if (request.closed_at !== null) return "closed"
  return request.draft === true ? "draft" : "open"
}

/** Returns the time from opening to closing; null while the pull request is open. */
const leadTime = ({ created_at, merged_at, closed_at }: PullRequest) => {
  const end = merged_at ?? closed_at
  if (end === null) return null
  return {
    minutes: differenceInMinutes(end, created_at),
    words: formatDuration(intervalToDuration({ start: created_at, end })) || "0 seconds"
  }
}
