/** The functions of the tests, and the requests that they received. */
import type { TrustedModule } from "@weft/core/testing"

type Guest = Record<string, unknown>

interface Napping {
  readonly sleep: (name: string, duration: string) => Promise<unknown>
}

const webhook = (path: string, meta: Guest, fn: (request: Guest) => unknown) =>
  Object.assign(fn, { meta: { webhook: { service: "shop", path, ...meta } } })

const main = {
  onOrder: Object.assign((event: { event_data: { total: number } }) => ({ doubled: event.event_data.total * 2 }), {
    meta: { event: "order:created" }
  }),
  plain: (value: unknown) => ({ value }),
  hang: () => new Promise(() => undefined),
  alone: Object.assign(() => new Promise(() => undefined), { meta: { concurrency: { limit: 1 } } }),
  onNap: Object.assign(
    (_: unknown, svc: { sleep: (name: string, time: string) => Promise<void> }) => svc.sleep("nap", "1h"),
    {
      meta: { event: "nap", durable: true }
    }
  ),
  onCancel: Object.assign(() => null, { meta: { event: "order:cancelled" } }),
  nightly: Object.assign(() => null, { meta: { schedule: { cron: "0 3 * * *", timezone: "Europe/Oslo" } } }),
  echo: webhook("/echo", {}, (request) => request),
  read: webhook("/read", { method: "GET" }, (request) => ({ query: request.query, url: request.url })),
  put: webhook("/item/deep", { method: "PUT" }, () => "put"),
  secret: webhook("/secret", { auth: "required" }, (request) => request.auth),
  custom: webhook("/custom", { method: "GET" }, () => ({
    status: 418,
    headers: { "X-Kind": "teapot", Connection: "close", "X-Request-Id": "mine", "Transfer-Encoding": "chunked" },
    body: { tea: true }
  })),
  text: webhook("/text", { method: "GET" }, () => ({
    status: 200,
    headers: { "content-type": "text/plain; charset=utf-8" },
    body: "blåbær"
  })),
  bytes: webhook("/bytes", { method: "GET" }, () => ({
    status: 200,
    headers: { "content-type": "image/png" },
    body: new Uint8Array([0, 255, 1])
  })),
  page: webhook("/page", { method: "GET" }, () => ({
    status: 200,
    headers: { "content-type": "text/html" },
    body: "<h1>A page</h1>"
  })),
  empty: webhook("/empty", { method: "DELETE" }, () => ({ status: 204 })),
  fails: webhook("/fails", { method: "GET" }, () => {
    throw new Error("a secret of the tenant")
  }),
  slow: webhook("/slow", { method: "GET" }, () => new Promise((resolve) => setTimeout(resolve, 400, "slow"))),
  stuck: webhook("/stuck", { method: "GET" }, () => new Promise(() => undefined))
}

interface DurableSvc {
  readonly run: { readonly run_id: string }
  readonly createToken: (name: string, options: Guest) => Promise<{ readonly url: string }>
  readonly waitForToken: (token: unknown) => Promise<unknown>
}

/** URLs of the tokens of waiting runs, by run. */
export const tokenUrls = new Map<string, string>()

const approval = Object.assign(
  async (event: { readonly event_data: Guest }, svc: DurableSvc) => {
    const token = await svc.createToken("<approval> & co", event.event_data)
    tokenUrls.set(svc.run.run_id, token.url)
    return svc.waitForToken(token)
  },
  { meta: { event: "approval:wanted", durable: true } }
)

/** `onOrder` with recorded runs. */
const recorded = Object.assign((event: { event_data: { total: number } }) => main.onOrder(event), {
  meta: { ...main.onOrder.meta, record: { inputs: true, hostCalls: true } }
})

export const modules: Readonly<Record<string, TrustedModule>> = {
  shop: { main },
  other: { main: { onOrder: recorded, version: () => 1 } },
  later: { main: { version: () => 2 } },
  tools: {
    main: {
      look: Object.assign(() => null, { meta: { tool: { service: "desk", name: "look", input: { type: "object" } } } })
    }
  },
  naps: {
    main: {
      nap: Object.assign((_: Guest, svc: Napping) => svc.sleep("nap", "1d"), { meta: { event: "nap", durable: true } })
    }
  },
  approvals: { main: { approval } },
  latest: { main: { plain: main.plain } },
  bad: { main: { broken: Object.assign(() => null, { meta: { schedule: "not a cron" } }) } }
}
