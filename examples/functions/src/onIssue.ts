/** An issue as a mail would show it: HTML and plain text of its Markdown. */
import { marked } from "marked"
import * as z from "zod"
import { payloadOf } from "./delivery.ts"
import { plainText } from "./markdown.ts"
import type { Event, Meta } from "./types.ts"

const Issue = z.object({
  action: z.string(),
  issue: z.object({
    number: z.int(),
    title: z.string(),
    body: z.string().nullish(),
    labels: z.array(z.object({ name: z.string() })).optional()
  })
})

export const onIssue = (event: Event) => {
  const { action, issue } = payloadOf(event.event_data, Issue)
  const body = issue.body ?? ""
  const text = plainText(body)
  return {
    kind: "issue",
    action,
    number: issue.number,
    title: issue.title,
    labels: (issue.labels ?? []).map(({ name }) => name).sort(),
    html: marked.parse(body, { async: false, gfm: true }),
    text,
    words: text.split(/\s+/).filter((word) => word !== "").length
  }
}

onIssue.meta = { event: "github:issues:*" } satisfies Meta
