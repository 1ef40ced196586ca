/** A synchronous call into user code over HTTP, its run recorded durably, beside a bare `node:http` server. */
import { type LoadPlan, type LoadResult, load } from "../load/Load.ts"
import type { Contender, Suite } from "../Suite.ts"
import { startPlain, startWeft } from "../targets/Server.ts"

const source = `
const answer = (request) => ({ hello: "world", items: request.body?.items?.length ?? 0 })
export const get = (request) => ({ status: 200, body: answer(request) })
get.meta = { webhook: { service: "bench", path: "/hello", method: "GET" } }
export const post = (request) => ({ status: 200, body: answer(request) })
post.meta = { webhook: { service: "bench", path: "/hello", method: "POST" } }
`

const body = (bytes: number): string => {
  const item = { id: 1, name: "a thing of some length", tags: ["red", "green"] }
  return JSON.stringify({
    items: Array.from({ length: Math.ceil(bytes / (JSON.stringify(item).length + 1)) }, () => item)
  })
}

const shapes: ReadonlyArray<{
  readonly name: string
  readonly plan: Omit<LoadPlan, "url" | "warmupSeconds" | "seconds">
}> = [
  { name: "GET, 1 client", plan: { method: "GET", clients: 1 } },
  { name: "GET, 32 clients", plan: { method: "GET", clients: 32 } },
  {
    name: "POST 1 KB, 32 clients",
    plan: { method: "POST", headers: { "content-type": "application/json" }, body: body(1024), clients: 32 }
  },
  {
    name: "POST 100 KB, 32 clients",
    plan: { method: "POST", headers: { "content-type": "application/json" }, body: body(102_400), clients: 32 }
  }
]

export const webhook: Suite = {
  name: "webhook",
  measures: "requests per second and latency of a call into user code over HTTP",
  open: async () => {
    const plain = await startPlain()
    const weft = await startWeft({ bench: source })
    const contender = (name: string, url: string, isLimit: boolean): Contender => ({
      name,
      isLimit,
      measure: async () => {
        const figures: Record<string, number> = {}
        for (const shape of shapes) {
          const result = await load({ ...shape.plan, url, warmupSeconds: 2, seconds: 3 })
          Object.assign(figures, named(shape.name, result))
        }
        return figures
      }
    })
    return {
      contenders: [
        contender("plain node:http", plain.url, true),
        contender("weft", `${weft.url}/webhook/default/production/bench/hello`, false)
      ],
      settings: { weft: "one process, SQLite synchronous=FULL, one build; the run is stored before the answer" },
      close: async () => {
        await plain.close()
        await weft.close()
      }
    }
  }
}

const named = (shape: string, result: LoadResult): Readonly<Record<string, number>> => {
  if (result.failures > 0) throw new Error(`${shape}: ${result.failures} requests failed`)
  return {
    [`${shape}: req/s`]: result.perSecond,
    [`${shape}: p50 ms`]: result.p50Ms,
    [`${shape}: p99 ms`]: result.p99Ms
  }
}
