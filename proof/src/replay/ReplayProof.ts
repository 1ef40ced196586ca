/** Records many runs of an example on the reference server, and replays them with a changed build on this machine. */
import { execFile } from "node:child_process"
import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { upload } from "@weft/bench/instruments"
import { commandLine } from "@weft/tooling/programs"
import { freePort } from "@weft/tooling/services"
import { Schema } from "effect"
import { zipSync } from "fflate"
import { startNode } from "../nodes/NodeProcess.ts"
import type { Proof, ProofResult } from "../Proof.ts"
import { changedTotals, recordedSource } from "./recordedCode.ts"

/** Recorded runs. `--seeds` sets another number. */
const runsDefault = 1_000

/** Maximum time until all runs are recorded, in milliseconds. */
const recordMs = 120_000

export const replayProof: Proof = {
  title: "Replays of recorded runs",
  does: `A function with \`meta.record\` handles events on the reference server. It reads a secret, sends a request to a server of the
proof, and publishes an event. Its runs are recorded. Then \`weft replay\` repeats all of them on the same machine, with their own
build. It does so again with a build that computes other totals for some orders.`,
  shows: `all runs are recorded and repeat exactly with their own build. With the changed build, exactly the runs that must differ
are found. No replay sends a request to the server of the proof, and no recording contains the secret.`,
  doesNotShow: `functions that use clocks or random numbers, which differ in each replay.`,
  run: async ({ seeds, progress }) => {
    const dir = mkdtempSync(join(tmpdir(), "weft-replay-"))
    const upstream = await openUpstream()
    try {
      return await proveOn(dir, upstream, seeds ?? runsDefault, progress)
    } finally {
      await upstream.close()
      rmSync(dir, { recursive: true, force: true })
    }
  }
}

interface Upstream {
  readonly port: number
  /** Number of requests so far. */
  readonly count: () => number
  readonly close: () => Promise<void>
}

/** A server that answers the requests of the function. */
const openUpstream = async (): Promise<Upstream> => {
  const port = await freePort()
  let requests = 0
  const server = createServer((_, response) => {
    requests++
    response.setHeader("content-type", "application/json").end('{"rate":2}')
  })
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
  return {
    port,
    count: () => requests,
    close: () => new Promise((resolve) => server.close(() => resolve()))
  }
}

const proveOn = async (
  dir: string,
  upstream: Upstream,
  runs: number,
  progress: (text: string) => void
): Promise<ProofResult> => {
  const key = `svc_${randomUUID()}_${randomUUID().replaceAll("-", "")}`
  const node = await startNode({
    variables: {
      WEFT_DATA_DIR: join(dir, "data"),
      WEFT_API_KEY: key,
      WEFT_EGRESS_ALLOW: `127.0.0.1:${upstream.port}`
    },
    log: join(dir, "server.log")
  })
  try {
    const api = makeApi(node.url, key)
    await upload(node.url, key, "shop", recordedSource(upstream.port, false))
    await api("POST", "/projects/shop/context", { key: "KEY", value: secret })
    progress(`recording ${runs} runs`)
    const recordSeconds = await timed(() => recordRuns(api, runs))
    const requests = upstream.count()
    const zip = join(dir, "changed.zip")
    writeFileSync(zip, zipSync({ "index.js": Buffer.from(recordedSource(upstream.port, true)) }))
    const replay = (args: ReadonlyArray<string>) => replayAll(node.url, key, runs, args)
    progress("replaying with the same build")
    const same = await replay([])
    progress("replaying with the changed build")
    const start = performance.now()
    const changed = await replay(["--build", zip])
    const replaySeconds = (performance.now() - start) / 1000
    const found = changed.different.map(({ difference }) => readTotal(difference)).sort((a, b) => a - b)
    const leaked = await countLeaks(api)
    return {
      figures: [
        ["recorded runs", same.replayed],
        ["runs that differ with their own build", same.different.length],
        ["runs that differ with the changed build", changed.different.length],
        ["requests of the recorded runs", requests],
        ["requests of the replays", upstream.count() - requests],
        ["seconds from the first event to the last recording", recordSeconds],
        ["seconds of the replays with the changed build, with the start of the sandbox", replaySeconds]
      ],
      failures: [
        ...(same.replayed === runs && changed.replayed === runs
          ? []
          : [`${same.replayed} of ${runs} runs were replayed`]),
        ...same.different.map(({ run_id }) => `${run_id} differs with its own build`),
        ...(same.incomplete + changed.incomplete === 0 ? [] : ["replays are incomplete"]),
        ...(isEqual(found, changedTotals(runs)) ? [] : [`the runs that differ have the totals ${found.join()}`]),
        ...(upstream.count() === requests ? [] : ["a replay sent a request"]),
        ...(requests === runs ? [] : [`${runs} runs sent ${requests} requests`]),
        ...(leaked === 0 ? [] : [`${leaked} recordings contain the secret`])
      ],
      notes: ["SQLite, one runner for the replays, one recording after the other"]
    }
  } finally {
    await node.stop()
  }
}

const secret = "the secret of the proof"

type Api = (method: string, path: string, body?: unknown) => Promise<string>

const makeApi =
  (url: string, key: string): Api =>
  async (method, path, body) => {
    const response = await fetch(`${url}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
    return text
  }

const Listed = Schema.fromJsonString(
  Schema.Struct({
    data: Schema.Array(Schema.Struct({ run_id: Schema.String })),
    pagination: Schema.Struct({ total: Schema.Int })
  })
)

const list = async (api: Api, offset = 0) =>
  Schema.decodeUnknownSync(Listed)(await api("GET", `/recordings?limit=100&offset=${offset}`))

/** Publishes the events, and returns when their runs are recorded. */
const recordRuns = async (api: Api, runs: number): Promise<void> => {
  for (let total = 0; total < runs; total++)
    await api("POST", "/events", { event_type: "order", event_data: { total } })
  const until = performance.now() + recordMs
  for (;;) {
    const { pagination } = await list(api)
    if (pagination.total >= runs) return
    if (performance.now() > until) throw new Error(`Only ${pagination.total} of ${runs} runs were recorded`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Counts the recordings whose text contains the secret, of the newest 100. */
const countLeaks = async (api: Api): Promise<number> => {
  let leaked = 0
  for (const { run_id } of (await list(api)).data) {
    if ((await api("GET", `/runs/${run_id}/recording`)).includes(secret)) leaked++
  }
  return leaked
}

const Difference = Schema.Struct({
  at: Schema.NullOr(Schema.Struct({ path: Schema.String, recorded: Schema.Unknown }))
})

const Replayed = Schema.fromJsonString(
  Schema.Struct({
    replayed: Schema.Int,
    incomplete: Schema.Int,
    different: Schema.Array(Schema.Struct({ run_id: Schema.String, difference: Difference }))
  })
)

/** Runs `weft replay` for all runs. */
const replayAll = async (url: string, key: string, runs: number, args: ReadonlyArray<string>) => {
  const program = await commandLine()
  const all = ["replay", "--function", "main/onOrder", "--limit", String(runs), "--json", ...args]
  const stdout = await new Promise<string>((resolve, reject) => {
    execFile(
      process.execPath,
      [program, ...all],
      {
        env: { PATH: process.env.PATH, HOME: tmpdir(), WEFT_URL: url, WEFT_API_KEY: key },
        maxBuffer: 64 * 1024 * 1024
      },
      (error, out, errors) => (error !== null && out === "" ? reject(new Error(errors)) : resolve(out))
    )
  })
  return Schema.decodeUnknownSync(Replayed)(stdout)
}

/** Returns the total of the order, half of the recorded price. */
const readTotal = ({ at }: typeof Difference.Type): number => Number(at?.recorded) / 2

const isEqual = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): boolean => a.join() === b.join()

const timed = async (work: () => Promise<void>): Promise<number> => {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1000
}
