/** Background operations of clients: files, secrets, credentials, deployments, cancellations, subscriptions and lists. */
import { setTimeout as sleep } from "node:timers/promises"
import { fileTransfers, upload } from "@weft/bench/instruments"
import type { Draws } from "@weft/tooling/draws"
import { openEventSource } from "../nodes/EventSource.ts"
import { type Api, type Fields, requireText } from "./Api.ts"
import type { Latencies } from "./Latencies.ts"

interface BackgroundOp {
  readonly kind: string
  /** Pause between two operations, in milliseconds. */
  readonly pauseMs: number
  readonly run: (n: number) => Promise<void>
}

export interface BackgroundOps {
  readonly done: ReadonlyMap<string, number>
  /** Failed operations with their errors. */
  readonly failures: ReadonlyArray<string>
  readonly stop: () => Promise<void>
}

/** Returns the functions that background operations call; `version` distinguishes builds. */
const buildSource = (version: number): string => `
export const version = () => ${version}
export const slow = () => new Promise((resolve) => setTimeout(resolve, 60000))
export const reads = (key, args, svc = globalThis.svc) => svc.context.get(key)
`

const KiB = 1024
const project = "background"

export interface BackgroundOptions {
  readonly api: Api
  readonly random: Draws
  readonly latencies: Latencies
  /** Factor of the frequency, for short runs. */
  readonly pace: number
  /** Number of the first operation of each kind, so that names differ from those of earlier operations. */
  readonly first?: number
}

/** Deploys the functions that background operations call. */
export const deployBackgroundCode = (api: Api): Promise<unknown> => upload(api.url(), api.key, project, buildSource(0))

export const startBackgroundOps = ({ api, random, latencies, pace, first = 1 }: BackgroundOptions): BackgroundOps => {
  const done = new Map<string, number>()
  const failures: Array<string> = []
  let isStopped = false
  const background = [...contents(api, random), ...credentials(api), ...code(api, random), ...readers(api, random)]
  const loops = background.map(async ({ kind, pauseMs, run }) => {
    for (let n = first; !isStopped; n++) {
      try {
        await latencies.timed(kind, () => run(n))
        done.set(kind, (done.get(kind) ?? 0) + 1)
      } catch (error) {
        failures.push(`${new Date().toISOString()} ${kind}: ${error instanceof Error ? error.message : error}`)
      }
      for (let left = pauseMs / pace; left > 0 && !isStopped; left -= 250) await sleep(Math.min(250, left))
    }
  })
  return {
    done,
    failures,
    stop: async () => {
      isStopped = true
      await Promise.all(loops)
    }
  }
}

const expectEqual = (what: string, value: unknown, wanted: unknown): void => {
  if (value !== wanted) throw new Error(`${what} must be ${JSON.stringify(wanted)} (got ${JSON.stringify(value)})`)
}

const contents = (api: Api, random: Draws): ReadonlyArray<BackgroundOp> => [
  {
    kind: "file uploaded, downloaded and removed",
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
    kind: "file uploaded in parts",
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
    kind: "upload aborted",
    pauseMs: 10_000,
    run: async (n) => {
      const body = { path: `aborted/${n % 5}`, expected_size: 1_000_000 }
      const upload_id = requireText(await api.send({ method: "POST", path: "/v1/files/uploads", body }), "upload_id")
      await api.send({ method: "DELETE", path: `/v1/files/uploads/${upload_id}` })
    }
  },
  {
    kind: "secret created, changed and removed",
    pauseMs: 1_000,
    run: async (n) => {
      const path = `/v1/projects/${project}/context`
      const key = `KEY_${n}`
      await api.send({ method: "POST", path, body: { key, value: `value ${n}`, description: "soaks" } })
      await api.send({ method: "PUT", path: `${path}/${key}`, body: { value: `other ${n}`, description: "soaks" } })
      await api.send({ method: "DELETE", path: `${path}/${key}` })
    }
  }
]

const permissions = { "project:*": ["read"], "run:*": ["read"] }

const credentials = (api: Api): ReadonlyArray<BackgroundOp> => [
  {
    kind: "session created, used and revoked",
    pauseMs: 1_000,
    run: async () => {
      const body = { permissions, metadata: { soaks: "yes" }, expires_in: 60 }
      const made = await api.send({ method: "POST", path: "/v1/sessions", body })
      await api.send({ method: "GET", path: "/v1/projects", token: requireText(made, "token") })
      await api.send({ method: "DELETE", path: `/v1/sessions/${requireText(made, "session_id")}` })
    }
  },
  {
    kind: "service key created, used and revoked",
    pauseMs: 5_000,
    run: async (n) => {
      const body = { name: `soak ${n}`, description: "soaks", permissions, metadata: {}, expires_in: 60 }
      const made = await api.send({ method: "POST", path: "/v1/service-keys", body })
      await api.send({ method: "GET", path: "/v1/projects", token: requireText(made, "token") })
      await api.send({ method: "DELETE", path: `/v1/service-keys/${requireText(made, "service_key_id")}` })
    }
  }
]

/** Time in which other nodes learn of a deployment, in milliseconds. */
const propagationMs = 5_000

const retryUntilDeployed = async (send: () => Promise<Fields>): Promise<Fields> => {
  for (const until = performance.now() + propagationMs; ; await sleep(100)) {
    try {
      return await send()
    } catch (error) {
      if (performance.now() > until || !String(error).includes("there is no function")) throw error
    }
  }
}

const code = (api: Api, random: Draws): ReadonlyArray<BackgroundOp> => [
  {
    kind: "project created, called and removed",
    pauseMs: 20_000,
    run: async (n) => {
      const name = `temporary-${n}`
      await upload(api.url(), api.key, name, buildSource(n))
      const body = { fn: `${name}:main/version`, args: [], wait: 15 }
      const run = await retryUntilDeployed(() => api.send({ method: "POST", path: "/v1/calls", body }))
      expectEqual("status", run.status, "succeeded")
      expectEqual("result", run.result, n)
      await api.send({ method: "DELETE", path: `/v1/projects/${name}` })
    }
  },
  {
    kind: "run cancelled",
    pauseMs: 1_500,
    run: async () => {
      const body = { fn: `${project}:main/slow`, args: [] }
      const run_id = requireText(await api.send({ method: "POST", path: "/v1/calls", body }), "run_id")
      await sleep(random.whole(0, 500))
      await api.send({ method: "POST", path: `/v1/runs/${run_id}/cancel` })
      const ended = await api.send({ method: "GET", path: `/v1/runs/${run_id}` })
      expectEqual("status", ended.status, "cancelled")
    }
  }
]

const readers = (api: Api, random: Draws): ReadonlyArray<BackgroundOp> => [
  {
    kind: "list read",
    pauseMs: 500,
    run: async () => {
      const path = random.one(["/v1/runs?limit=100", "/v1/events?limit=50", "/v1/runs/stats", "/v1/org/usage"])
      await api.send({ method: "GET", path })
    }
  },
  ...[1, 2].map(
    (): BackgroundOp => ({
      kind: "subscription opened and closed",
      pauseMs: 500,
      run: async () => {
        let received = 0
        const open = openEventSource({
          url: `${api.url()}/v1/env/subscribe`,
          token: api.key,
          lastEventId: null,
          // At least the initial position.
          onId: () => received++,
          onMessage: () => undefined
        })
        const closing = setTimeout(() => open.close(), random.whole(3_000, 20_000))
        const end = await open.ended
        clearTimeout(closing)
        if (typeof end === "object") throw new Error(`The subscription returned ${end.status}`)
        if (received === 0) throw new Error("The subscription received no position")
      }
    })
  )
]
