/** Runs one function of a build that no trigger uses, with the argument that its trigger would give. */
import type { BuildManifest, Json, Run } from "@weft/client"
import { weft } from "../api/client.ts"
import { shellWord } from "../design/shellCommand.ts"
import { testKey, testNamespace } from "./testEntry.ts"

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

export const startTestRun = async (target: Target): Promise<TestRun> => {
  const { project, manifest } = target
  const argument = await argumentOf(target)
  const fn = argument === null ? target.fn : `${testNamespace}/${testKey(target.fn)}`
  const args = argument === null ? toList(target.input) : [argument]
  const started = await weft.builds.run(project, manifest.build_id, { fn, args })
  const runId =
    "run_id" in started
      ? started.run_id
      : await findRun(async () => (await weft.events.runs(started.event_id, { limit: 1 })).items[0])
  const words = args.map((argument) => shellWord(JSON.stringify(argument))).join(" ")
  return { runId, command: `weft run ${shellWord(`${project}:${fn}`)} ${words} --build ${manifest.build_id}` }
}

const toList = (input: Json): ReadonlyArray<Json> => (Array.isArray(input) ? input : [input])

/** Returns the argument that the trigger of the function would give, or null for a function without a trigger. */
const argumentOf = async ({ fn, input, manifest }: Target): Promise<Json> => {
  const isTarget = (entry: { readonly ns: string; readonly var: string }) => `${entry.ns}/${entry.var}` === fn
  const handler = manifest.handlers.find(isTarget)
  if (handler !== undefined) return toEvent(handler.event_type.replace(/\*$/, "test"), input)
  const endpoint = manifest.endpoints.find(isTarget)
  if (endpoint !== undefined) return toRequest(endpoint, input)
  const schedule = manifest.schedules.find(isTarget)
  if (schedule !== undefined) return { schedule_id: unstored, scheduled_time: now(), cron: schedule.cron }
  return [...manifest.tools, ...manifest.resources, ...manifest.prompts].some(isTarget) ? input : null
}

/** Id of an event, a stream or a schedule that is not stored. */
const unstored = "00000000-0000-7000-8000-000000000000"

const now = (): string => new Date().toISOString()

/** Returns an event as handlers receive it. */
const toEvent = async (event_type: string, event_data: Json): Promise<Json> => {
  const { env_id } = await weft.env.get()
  const time = now()
  return {
    event_id: unstored,
    env_id,
    stream_id: unstored,
    event_type,
    event_data,
    event_time: time,
    created_at: time
  }
}

/** Returns a request as endpoints receive it. The input is its body. */
const toRequest = ({ method, path }: BuildManifest["endpoints"][number], input: Json): Json => {
  const body = method === "GET" ? null : input
  return {
    method,
    url: path,
    headers: body === null ? {} : { "content-type": "application/json" },
    query: {},
    body,
    "body-raw": body === null ? "" : JSON.stringify(body),
    ip: "127.0.0.1"
  }
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
