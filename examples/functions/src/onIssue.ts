/** Renders an issue for a mail: HTML and plain text of its Markdown. */
import { handler } from "@weft/sdk"
import { marked } from "marked"
import * as z from "zod"
import { deliveryWith } from "./delivery.ts"
import { plainText } from "./markdown.ts"

const Issue = z.object({
  action: z.string(),
  issue: z.object({
    number: z.int(),
    title: z.string(),
    body: z.string().nullish(),
    labels: z.array(z.object({ name: z.string() })).optional()
  })
})

export const onIssue = handler({ event: "github:issues:*", data: deliveryWith(Issue) }, (event) => {
  const { action, issue } = event.event_data.payload
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
})
