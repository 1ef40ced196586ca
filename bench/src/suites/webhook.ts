/** Synchronous calls of user code over HTTP. By default Weft stores each run durably; the peers store less. */
import { deepStrictEqual } from "node:assert"
import { type Loader, type LoadPlan, type LoadResult, openLoader } from "../load/Load.ts"
import type { Contender, Suite } from "../Suite.ts"
import { answer } from "../targets/answer.ts"
import type { HookServer, HookTarget } from "../targets/HookServer.ts"
import { n8n } from "../targets/N8n.ts"
import { nodeRed } from "../targets/NodeRed.ts"
import { plainHooks } from "../targets/PlainHooks.ts"
import { weftHooks } from "../targets/WeftHooks.ts"
import { workerd } from "../targets/Workerd.ts"

const item = { id: 1, name: "a thing of some length", tags: ["red", "green"] }

const posted = (bytes: number): Pick<LoadPlan, "method" | "headers" | "body"> => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ items: Array(Math.ceil(bytes / (JSON.stringify(item).length + 1))).fill(item) })
})

interface Shape extends Pick<LoadPlan, "method" | "headers" | "body" | "clients"> {
  readonly name: string
  /** True if consecutive calls use different builds. */
  readonly inTurn?: boolean
}

const makeShapes = (builds: number): ReadonlyArray<Shape> => [
  { name: "GET, 1 client", method: "GET", clients: 1 },
  { name: "GET, 32 clients", method: "GET", clients: 32 },
  { name: "1 KB, 1 client", ...posted(1024), clients: 1 },
  { name: "1 KB, 32 clients", ...posted(1024), clients: 32 },
  { name: "100 KB, 1 client", ...posted(102_400), clients: 1 },
  { name: "100 KB, 32 clients", ...posted(102_400), clients: 32 },
  { name: `GET, 32 clients, ${builds} builds in turn`, method: "GET", clients: 32, inTurn: true }
]

const full = { builds: 50, shapes: makeShapes(50) }
const short = { builds: 3, shapes: makeShapes(3).filter(({ clients }) => clients > 1) }

/** Durations per shape. */
const lengths = {
  full: { warmupSeconds: 0.5, seconds: 1.5 },
  short: { warmupSeconds: 0.2, seconds: 0.3 }
}

/**
 * Warm-up of every server on each shape with many clients. Servers run for weeks, and their engines compile hot code only
 * after a while.
 */
const warmUp = { warmupSeconds: 0, seconds: 2 }

const targets: ReadonlyArray<HookTarget> = [plainHooks, ...weftHooks, workerd, nodeRed, n8n]

export const webhook: Suite = {
  name: "webhook",
  measures: "requests per second and latency of a call into user code over HTTP",
  hasShort: true,
  headlines: ["GET, 32 clients: req/s", "1 KB, 32 clients: req/s", "GET, 32 clients, 50 builds in turn: req/s"],
  open: async ({ isShort }) => {
    const { builds, shapes } = isShort ? short : full
    const settings: Record<string, string> = {}
    const open: Array<HookServer> = []
    const loader = openLoader()
    const makeContender = (target: HookTarget): Contender => {
      let started: HookServer | undefined
      return {
        ...target,
        measure: async () => {
          if (started === undefined) {
            started = await target.start(builds)
            open.push(started)
            settings[target.name] = target.settings()
            for (const shape of shapes) await check(shape, selectUrls(started, shape))
            if (!isShort)
              await measure(
                loader,
                started,
                shapes.filter(({ clients }) => clients > 1),
                warmUp
              )
          }
          return measure(loader, started, shapes, isShort ? lengths.short : lengths.full)
        }
      }
    }
    return {
      contenders: targets.filter((target) => !(isShort && target === n8n)).map(makeContender),
      settings,
      close: async () => {
        loader.close()
        await Promise.all(open.map((server) => server.close()))
      }
    }
  }
}

const selectUrls = ({ url, manyUrls }: HookServer, { inTurn = false }: Shape): LoadPlan["urls"] =>
  inTurn ? [manyUrls[0] ?? url, ...manyUrls.slice(1)] : [url]

/** Checks that every contender returns the same response, so that all do the same work. */
const check = async ({ name, method, headers, body }: Shape, urls: LoadPlan["urls"]): Promise<void> => {
  const expected = answer({ body: body === undefined ? null : JSON.parse(body) })
  for (const url of urls) {
    const response = await fetch(url, { method, ...(headers && { headers }), ...(body && { body }) })
    const text = await response.text()
    if (!response.ok) throw new Error(`${name}: returned ${response.status}: ${text.slice(0, 200)}`)
    deepStrictEqual(JSON.parse(text), expected, `${name}: returned ${text.slice(0, 200)}`)
  }
}

const measure = async (
  loader: Loader,
  server: HookServer,
  shapes: ReadonlyArray<Shape>,
  length: Pick<LoadPlan, "warmupSeconds" | "seconds">
): Promise<Record<string, number>> => {
  const figures: Record<string, number> = {}
  for (const shape of shapes) {
    const { name, inTurn, ...plan } = shape
    Object.assign(figures, named(name, await loader.load({ ...plan, ...length, urls: selectUrls(server, shape) })))
  }
  return figures
}

const named = (shape: string, result: LoadResult): Readonly<Record<string, number>> => {
  if (result.failures > 0) throw new Error(`${shape}: ${result.failures} requests failed`)
  if (result.perSecond === 0) throw new Error(`${shape}: no request got a response`)
  return {
    [`${shape}: req/s`]: result.perSecond,
    [`${shape}: p50 ms`]: result.p50Ms,
    [`${shape}: p99 ms`]: result.p99Ms
  }
}
