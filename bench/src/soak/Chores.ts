/** What clients do besides sending events: files, variables, credentials, deployments, cancelling, watching, looking. */
import { setTimeout as sleep } from "node:timers/promises"
import type { Draws } from "@weft/tooling/draws"
import { fileTransfers } from "../load/FileTransfers.ts"
import { openEventSource } from "../nodes/EventSource.ts"
import { upload } from "../targets/upload.ts"
import { type Api, type Fields, textOf } from "./Api.ts"
import type { Latencies } from "./Latencies.ts"

interface Chore {
  readonly kind: string
  /** Between two of them. */
  readonly pauseMs: number
  readonly run: (n: number) => Promise<void>
}

export interface Chores {
  readonly done: ReadonlyMap<string, number>
  /** Those that did not end as they must, with what came instead. */
  readonly failures: ReadonlyArray<string>
  readonly stop: () => Promise<void>
}

/** The functions that chores call; the number tells one build from the next. */
const sourceOf = (version: number): string => `
export const version = () => ${version}
export const patient = () => new Promise((resolve) => setTimeout(resolve, 60000))
export const reads = (key, args, svc = globalThis.svc) => svc.context.get(key)
`

const KiB = 1024
const project = "chores"

export interface ChoresOptions {
  readonly api: Api
  readonly random: Draws
  readonly latencies: Latencies
  /** How much more often than usual, for short runs. */
  readonly pace: number
  /** The number of the first of each kind. What others left at a place has other names then. */
  readonly first?: number
}

/** What chores call, once for a place. */
export const uploadForChores = (api: Api): Promise<unknown> => upload(api.url(), api.key, project, sourceOf(0))

export const beginChores = ({ api, random, latencies, pace, first = 1 }: ChoresOptions): Chores => {
  const done = new Map<string, number>()
  const failures: Array<string> = []
  let isOver = false
  const chores = [...contents(api, random), ...credentials(api), ...code(api, random), ...readers(api, random)]
  const loops = chores.map(async ({ kind, pauseMs, run }) => {
    for (let n = first; !isOver; n++) {
      try {
        await latencies.timed(kind, () => run(n))
        done.set(kind, (done.get(kind) ?? 0) + 1)
      } catch (error) {
        failures.push(`${new Date().toISOString()} ${kind}: ${error instanceof Error ? error.message : error}`)
      }
      for (let left = pauseMs / pace; left > 0 && !isOver; left -= 250) await sleep(Math.min(250, left))
    }
  })
  return {
    done,
    failures,
    stop: async () => {
      isOver = true
      await Promise.all(loops)
    }
  }
}

const expect = (what: string, value: unknown, wanted: unknown): void => {
  if (value !== wanted) throw new Error(`${what} is ${JSON.stringify(value)}, not ${JSON.stringify(wanted)}`)
}

const contents = (api: Api, random: Draws): ReadonlyArray<Chore> => [
  {
    kind: "file up, down and away",
    pauseMs: 500,
    run: async (n) => {
      const files = fileTransfers({ url: api.url(), key: api.key })
      const size = random.whole(1, 2_048) * KiB
      const id = await files.upload(`soak/${n % 50}`, size)
      await files.download(id, size)
      await files.remove(id)
    }
  },
  {
    kind: "file in parts",
    pauseMs: 15_000,
    run: async (n) => {
      const files = fileTransfers({ url: api.url(), key: api.key })
      const size = 11_000 * KiB
      const id = await files.uploadInParts(`parts/${n % 5}`, size, { partBytes: 5 * KiB * KiB, atOnce: 2 })
      await files.download(id, size)
      await files.remove(id)
    }
  },
  {
    kind: "upload given up",
    pauseMs: 10_000,
    run: async (n) => {
      const body = { path: `given-up/${n % 5}`, expected_size: 1_000_000 }
      const upload_id = textOf(await api.ask({ method: "POST", path: "/v1/files/uploads", body }), "upload_id")
      await api.ask({ method: "DELETE", path: `/v1/files/uploads/${upload_id}` })
    }
  },
  {
    kind: "context variable",
    pauseMs: 1_000,
    run: async (n) => {
      const path = `/v1/projects/${project}/context`
      const key = `KEY_${n}`
      await api.ask({ method: "POST", path, body: { key, value: `value ${n}`, description: "soaks" } })
      await api.ask({ method: "PUT", path: `${path}/${key}`, body: { value: `other ${n}`, description: "soaks" } })
      await api.ask({ method: "DELETE", path: `${path}/${key}` })
    }
  }
]

const permissions = { "project:*": ["read"], "run:*": ["read"] }

const credentials = (api: Api): ReadonlyArray<Chore> => [
  {
    kind: "session",
    pauseMs: 1_000,
    run: async () => {
      const body = { permissions, metadata: { soaks: "yes" }, expires_in: 60 }
      const made = await api.ask({ method: "POST", path: "/v1/sessions", body })
      await api.ask({ method: "GET", path: "/v1/projects", token: textOf(made, "token") })
      await api.ask({ method: "DELETE", path: `/v1/sessions/${textOf(made, "session_id")}` })
    }
  },
  {
    kind: "service key",
    pauseMs: 5_000,
    run: async (n) => {
      const body = { name: `soak ${n}`, description: "soaks", permissions, metadata: {}, expires_in: 60 }
      const made = await api.ask({ method: "POST", path: "/v1/service-keys", body })
      await api.ask({ method: "GET", path: "/v1/projects", token: textOf(made, "token") })
      await api.ask({ method: "DELETE", path: `/v1/service-keys/${textOf(made, "service_key_id")}` })
    }
  }
]

/** Other nodes hear of a deployment a moment later. */
const hearsWithinMs = 5_000

const heardOf = async (ask: () => Promise<Fields>): Promise<Fields> => {
  for (const until = performance.now() + hearsWithinMs; ; await sleep(100)) {
    try {
      return await ask()
    } catch (error) {
      if (performance.now() > until || !String(error).includes("there is no function")) throw error
    }
  }
}

const code = (api: Api, random: Draws): ReadonlyArray<Chore> => [
  {
    kind: "project made, called and removed",
    pauseMs: 20_000,
    run: async (n) => {
      const name = `temporary-${n}`
      await upload(api.url(), api.key, name, sourceOf(n))
      const body = { fn: `${name}:main/version`, args: [], wait: 15 }
      const run = await heardOf(() => api.ask({ method: "POST", path: "/v1/calls", body }))
      expect("status", run.status, "succeeded")
      expect("result", run.result, n)
      await api.ask({ method: "DELETE", path: `/v1/projects/${name}` })
    }
  },
  {
    kind: "run cancelled",
    pauseMs: 1_500,
    run: async () => {
      const body = { fn: `${project}:main/patient`, args: [] }
      const run_id = textOf(await api.ask({ method: "POST", path: "/v1/calls", body }), "run_id")
      await sleep(random.whole(0, 500))
      await api.ask({ method: "POST", path: `/v1/runs/${run_id}/cancel` })
      const ended = await api.ask({ method: "GET", path: `/v1/runs/${run_id}` })
      expect("status", ended.status, "cancelled")
    }
  }
]

const readers = (api: Api, random: Draws): ReadonlyArray<Chore> => [
  {
    kind: "lists",
    pauseMs: 500,
    run: async () => {
      const path = random.one(["/v1/runs?limit=100", "/v1/events?limit=50", "/v1/runs/stats", "/v1/org/usage"])
      await api.ask({ method: "GET", path })
    }
  },
  ...[1, 2].map(
    (): Chore => ({
      kind: "subscriber come and gone",
      pauseMs: 500,
      run: async () => {
        let told = 0
        const open = openEventSource({
          url: `${api.url()}/v1/env/subscribe`,
          token: api.key,
          lastEventId: null,
          // The position where it begins, at least.
          onId: () => told++,
          onMessage: () => undefined
        })
        const leaving = setTimeout(() => open.close(), random.whole(3_000, 20_000))
        const end = await open.over
        clearTimeout(leaving)
        if (typeof end === "object") throw new Error(`The subscription was refused with ${end.status}`)
        if (told === 0) throw new Error("A subscriber was told nothing")
      }
    })
  )
]
