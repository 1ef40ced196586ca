/** Runs one function of the live build, in the way of its trigger. */
import type { BuildManifest, Json, Run } from "@weft/client"
import { weft } from "../api/client.ts"
import { apiOrigin } from "../api/consoleUrl.ts"
import { shellWord } from "../design/CommandHint.tsx"
import { functionName } from "../runs/RunCells.tsx"
import { sendRequest } from "../webhooks/sendRequest.ts"

export interface TestRun {
  readonly runId: string
  /** The command that does the same. */
  readonly command: string
}

interface Target {
  readonly project: string
  readonly fn: string
  readonly input: Json
  readonly manifest: BuildManifest
}

export const startTestRun = (target: Target): Promise<TestRun> => {
  const isTarget = (entry: { readonly ns: string; readonly var: string }) => `${entry.ns}/${entry.var}` === target.fn
  const handler = target.manifest.handlers.find(isTarget)
  const endpoint = target.manifest.endpoints.find(isTarget)
  if (handler !== undefined) return publish(target, handler.event_type.replace(/\*$/, "test"))
  if (endpoint !== undefined) return request(target, endpoint)
  return call(target)
}

const publish = async ({ input, manifest }: Target, event_type: string): Promise<TestRun> => {
  const { event_id } = await weft.events.publish({ event_type, event_data: input })
  const runId = await findRun(async () =>
    (await weft.events.runs(event_id, { limit: 100 })).items.find(({ build_id }) => build_id === manifest.build_id)
  )
  return { runId, command: `weft events publish ${shellWord(event_type)} ${shellWord(JSON.stringify(input))}` }
}

const call = async ({ project, fn, input }: Target): Promise<TestRun> => {
  const args = Array.isArray(input) ? input : [input]
  const name = `${project}:${fn}`
  const started = await weft.calls.call({ fn: name, args, wait: 0 })
  const runId =
    "run_id" in started
      ? started.run_id
      : await findRun(async () => (await weft.events.runs(started.event_id, { limit: 1 })).items[0])
  return { runId, command: `weft run ${shellWord(name)} ${shellWord(JSON.stringify(input))}` }
}

const request = async (
  { fn, input, manifest }: Target,
  { method, service, path }: BuildManifest["endpoints"][number]
): Promise<TestRun> => {
  const { org_slug, name } = await weft.env.get()
  const url = `${apiOrigin}/webhook/${org_slug}/${name}/${service}${path}`
  const body = method === "GET" ? {} : { body: JSON.stringify(input) }
  await sendRequest(url, { method, headers: [["content-type", "application/json"]], ...body })
  const runId = await findRun(async () =>
    (await weft.runs.list({ type: "call", limit: 20, include: "usage" })).items.find(
      (run) => run.build_id === manifest.build_id && functionName(run) === fn
    )
  )
  const data = method === "GET" ? "" : ` -d ${shellWord(JSON.stringify(input))}`
  return { runId, command: `curl -X ${method} ${url}${data}` }
}

const attempts = 40
const intervalMs = 100

/** Waits until the run exists, because it may be queued. */
const findRun = async (find: () => Promise<Run | undefined>): Promise<string> => {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const run = await find()
    if (run !== undefined) return run.run_id
    await new Promise((resolve) => setTimeout(resolve, intervalMs))
  }
  throw new Error("No run has started: all slots are taken")
}
