/** A project with every kind of function, and activity that the console shows. */
import { createHash } from "node:crypto"
import { strToU8, zipSync } from "fflate"
import { apiKey, type ServerProcess } from "../ServerProcess.ts"

const source = `
const on = (event, fn, more = {}) => Object.assign(fn, { meta: { event, ...more } })

export const orders = {
  confirm: on("order:created", async (event, svc) => {
    svc.log.info("order received", { order: event.event_data.order })
    await new Promise((resolve) => setTimeout(resolve, 5 + (event.event_data.order % 7) * 12))
    if (event.event_data.total > 900) svc.log.warn("large order", { total: event.event_data.total })
    return { order: event.event_data.order, doubled: event.event_data.total * 2, lines: [{ sku: "A-1", count: 2 }, { sku: "B-7", count: 1 }] }
  }),
  charge: on("order:paid", async (event, svc) => {
    svc.log.error("the card was declined", { order: event.event_data.order })
    throw new RangeError("Card declined: order " + event.event_data.order)
  }, { retry: { attempts: 2, delay: "100ms", jitter: false } }),
  follow: on("order:followed", async (event, svc) => {
    for (let step = 1; step <= event.event_data.steps; step++) {
      svc.log.info("step " + step)
      await new Promise((resolve) => setTimeout(resolve, 400))
    }
    return "followed"
  }, { timeout: "30s" })
}

export const parcels = {
  ship: on("order:shipped", async (event, svc) => {
    await svc.events.publish({ type: "parcel:sent", data: event.event_data })
    return "shipped"
  }),
  label: on("parcel:sent", async (event) => ({ label: "L-" + event.event_data.order })),
  notify: on("parcel:sent", async (event, svc) => {
    await svc.events.publish({ type: "mail:queued", data: { order: event.event_data.order } })
  }),
  mail: on("mail:queued", async () => "sent")
}

export const onboarding = {
  welcome: on("customer:created", async (event, svc) => {
    const account = await svc.step("create account", async () => ({ account: "a-" + event.event_data.customer }))
    await svc.step("send mail", async () => "sent")
    await svc.sleep("wait a day", "1d")
    return account
  }, { durable: true })
}

export const hooks = {
  status: Object.assign(async (request) => ({ ok: true, method: request.method }), {
    meta: { webhook: { service: "shop", path: "/status", method: "GET" } }
  }),
  page: Object.assign(async () => new Response("<h1>A page of a tenant</h1>", { headers: { "content-type": "text/html" } }), {
    meta: { webhook: { service: "shop", path: "/page", method: "GET" } }
  })
}

export const nightly = Object.assign(async () => "done", { meta: { schedule: "0 3 * * *" } })
`

const publish = (server: ServerProcess, event_type: string, event_data: object) =>
  server.call("POST", "/v1/events", { event_type, event_data })

/** Deploys the project. */
export const deployShop = (server: ServerProcess): Promise<void> => server.upload("shop", source)

/** Uploads the project without one of its exports. Returns the id of the build, which is not deployed. */
export const uploadShopWithout = async (server: ServerProcess, name: string): Promise<string> => {
  const zip = zipSync({ "index.js": strToU8(source.replace(`export const ${name} =`, `const ${name} =`)) })
  const form = new FormData()
  form.set("hash", createHash("sha256").update(zip).digest("hex"))
  form.set("file", new Blob([Buffer.from(zip)]), "build.zip")
  const answer = await server.call("POST", "/v1/projects/shop/builds", form)
  return JSON.stringify(answer).match(/"build_id":"([^"]+)"/)?.[1] ?? ""
}

/** Publishes events that start runs with every outcome. */
export const makeActivity = async (server: ServerProcess, orders: number): Promise<void> => {
  for (let order = 1; order <= orders; order++) {
    await publish(server, "order:created", {
      order: 1000 + order,
      total: (order * 137) % 1000,
      customer: { id: order % 17, country: "DE" }
    })
    if (order % 9 === 0) await publish(server, "order:paid", { order: 1000 + order })
  }
  await publish(server, "customer:created", { customer: 7 })
  await fetch(`${server.url}/webhook/default/production/shop/status`)
}

/** Stores secrets and files. */
export const storeData = async (server: ServerProcess): Promise<void> => {
  for (const [key, description] of [
    ["PAYMENT_KEY", "The account of the payment provider"],
    ["SMTP_PASSWORD", "Sends mails to customers"]
  ]) {
    await server.call("POST", "/v1/projects/shop/context", { key, value: "secret", description })
  }
  for (const path of ["invoices/2026-03.pdf", "invoices/2026-04.pdf", "reports/april.csv"]) {
    await fetch(`${server.url}/v1/files/upload/${encodeURIComponent(path)}`, {
      method: "PUT",
      headers: {
        authorization: `Bearer ${apiKey}`,
        "content-type": path.endsWith("csv") ? "text/csv" : "application/pdf"
      },
      body: "x".repeat(path.length * 1037)
    })
  }
}

/** Returns the id of the newest run of a query, as soon as there is one. */
export const newestRun = async (server: ServerProcess, path: string): Promise<string> => {
  for (;;) {
    const runs = await server.call("GET", path)
    const runId = JSON.stringify(runs).match(/"run_id":"([^"]+)"/)?.[1]
    if (runId !== undefined) return runId
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Publishes an event whose run causes others. Returns the id of the run. */
export const shipOrder = async (server: ServerProcess): Promise<string> => {
  const published = await publish(server, "order:shipped", { order: 1001 })
  const eventId = JSON.stringify(published).match(/"event_id":"([^"]+)"/)?.[1]
  return newestRun(server, `/v1/events/${eventId}/runs`)
}

/** Publishes an event whose run lasts for some seconds. Returns the id of the run. */
export const startFollowed = async (server: ServerProcess, steps: number): Promise<string> => {
  const published = await publish(server, "order:followed", { steps })
  const eventId = JSON.stringify(published).match(/"event_id":"([^"]+)"/)?.[1]
  return newestRun(server, `/v1/events/${eventId}/runs`)
}
