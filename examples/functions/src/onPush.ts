/** Summarizes a push: one line per commit, and the number of changed files. */
import { handler } from "@weft/sdk"
import { formatDistanceStrict } from "date-fns"
import * as z from "zod"
import { deliveryWith } from "./delivery.ts"

const Commit = z.object({
  id: z.string(),
  message: z.string(),
  timestamp: z.iso.datetime({ offset: true }),
  author: z.object({ name: z.string() }),
  added: z.array(z.string()),
  removed: z.array(z.string()),
  modified: z.array(z.string())
})

const Push = z.object({
  ref: z.string(),
  created: z.boolean(),
  deleted: z.boolean(),
  forced: z.boolean(),
  commits: z.array(Commit)
})

export const onPush = handler({ event: "github:push", data: deliveryWith(Push) }, (event) => {
  const push = event.event_data.payload
  return {
    kind: "push",
    branch: push.ref.replace(/^refs\/(heads|tags)\//, ""),
    change: push.deleted ? "deleted" : push.created ? "created" : push.forced ? "forced" : "advanced",
    files: new Set(push.commits.flatMap(({ added, removed, modified }) => [...added, ...removed, ...modified])).size,
    commits: push.commits.map((commit) => summary(commit, event.event_time))
  }
})

const summary = (commit: z.infer<typeof Commit>, now: string) => ({
  id: commit.id.slice(0, 7),
  subject: commit.message.split("\n")[0] ?? "",
  author: commit.author.name,
  age: formatDistanceStrict(commit.timestamp, now, { addSuffix: true })
})
