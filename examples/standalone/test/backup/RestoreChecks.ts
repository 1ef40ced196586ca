/** Checks of a restored server. */
import { expect } from "vitest"
import { z } from "zod"
import { apiKey, type ServerProcess } from "../ServerProcess.ts"
import { type Acknowledged, contentOf } from "./Load.ts"

const Run = z.object({ run_id: z.string(), status: z.string(), event_id: z.string().nullable(), result: z.unknown() })
type Run = z.infer<typeof Run>
const Runs = z.object({ data: z.array(Run), pagination: z.object({ total: z.number() }) })
const Stats = z.object({ data: z.object({ total_runs: z.number(), running: z.number() }) })
const Files = z.object({ data: z.array(z.object({ file_id: z.string(), path: z.string() })) })

const pageSize = 100

const pages = async function* <A>(read: (query: string) => Promise<ReadonlyArray<A>>): AsyncGenerator<A> {
  for (let offset = 0; ; offset += pageSize) {
    const items = await read(`limit=${pageSize}&offset=${offset}`)
    yield* items
    if (items.length < pageSize) return
  }
}

/** Returns all succeeded runs by id. */
export const succeeded = async (server: ServerProcess): Promise<ReadonlyMap<string, Run>> => {
  const runs = new Map<string, Run>()
  const read = async (query: string) =>
    Runs.parse(await server.call("GET", `/v1/runs?status=succeeded&type=event&${query}`)).data
  for await (const run of pages(read)) runs.set(run.run_id, run)
  return runs
}

/** Waits until no run is active and no delivery is pending. */
export const settled = async (server: ServerProcess): Promise<void> => {
  const deadline = performance.now() + 60_000
  for (let idlePolls = 0; idlePolls < 5; ) {
    if (performance.now() > deadline) throw new Error("The restored server does not become idle")
    const { running } = Stats.parse(await server.call("GET", "/v1/runs/stats")).data
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    idlePolls = running === 0 && /^weft_deliveries_waiting 0$/m.test(metrics) ? idlePolls + 1 : 0
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Expects exactly one succeeded run per event. Others may have failed with a lost node. */
export const expectEvents = async (server: ServerProcess, events: ReadonlySet<string>): Promise<void> => {
  const handled = async (id: string): Promise<void> => {
    const { data } = Runs.parse(await server.call("GET", `/v1/events/${id}/runs?limit=${pageSize}`))
    expect(data.filter(({ status }) => status === "succeeded")).toHaveLength(1)
    for (const lost of data.filter(({ status }) => status !== "succeeded")) {
      expect(lost).toMatchObject({ status: "failed", result: { error: { name: "NodeLost" } } })
    }
  }
  await Promise.all([...events].map(handled))
}

/** Expects that all listed files can be read in full, and that all acknowledged files are listed. */
export const expectFiles = async (server: ServerProcess, files: Acknowledged["files"]): Promise<void> => {
  const listed = new Set<string>()
  const read = async (query: string) => Files.parse(await server.call("GET", `/v1/files?${query}`)).data
  for await (const { file_id, path } of pages(read)) {
    listed.add(path)
    const headers = { authorization: `Bearer ${apiKey}` }
    const answer = await fetch(`${server.url}/v1/files/${file_id}/download`, { headers })
    const text = await answer.text()
    expect([path, answer.status]).toEqual([path, 200])
    if (path.startsWith("kept/")) expect(text).toBe(contentOf(path, 1))
    if (path.startsWith("replaced/")) expect(versionsUpTo(path, 1000)).toContain(text)
  }
  for (const path of files.keys()) expect(listed).toContain(path)
}

const versionsUpTo = (path: string, last: number): ReadonlyArray<string> =>
  Array.from({ length: last + 1 }, (_, version) => contentOf(path, version))
