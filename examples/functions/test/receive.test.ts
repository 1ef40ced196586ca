import { describe, expect, it } from "vitest"
import { receive } from "../src/receive.ts"
import type { WebhookRequest } from "../src/types.ts"
import { headersOf, type Sample, samples, signatureOf } from "./payloads.ts"
import { testSvc } from "./svc.ts"

const requestOf = (sample: Sample, headers: Record<string, string> = headersOf(sample)): WebhookRequest => ({
  method: "POST",
  url: "/webhook/default/production/github/events",
  headers,
  query: {},
  body: sample.payload,
  "body-raw": sample.body,
  ip: "127.0.0.1"
})

const [sample] = samples
if (sample === undefined) throw new Error("There are no samples")

describe("receive", () => {
  it("publishes every sample as GitHub signed it, under its event and action", async () => {
    for (const each of samples) {
      const svc = testSvc()
      const response = await receive(requestOf(each), svc)
      expect(response).toEqual({ status: 202, body: { event_id: "event-1", event_type: each.type } })
      expect(svc.published).toEqual([
        {
          type: each.type,
          data: { delivery: each.delivery, event: each.event, action: each.action, payload: each.payload }
        }
      ])
    }
  })

  it.each([
    ["another secret", signatureOf(sample.body, "another")],
    ["another body", signatureOf(`${sample.body} `)],
    ["no hexadecimal", `sha256=${"x".repeat(64)}`],
    ["too short a signature", signatureOf(sample.body).slice(0, -1)],
    ["another algorithm", signatureOf(sample.body).replace("sha256", "sha1")]
  ])("refuses %s with 401 and publishes nothing", async (_, signature) => {
    const svc = testSvc()
    const response = await receive(requestOf(sample, { ...headersOf(sample), "x-hub-signature-256": signature }), svc)
    expect(response).toEqual({ status: 401, body: { error: "The signature does not match" } })
    expect(svc.published).toEqual([])
  })

  it.each(["x-github-event", "x-github-delivery", "x-hub-signature-256"])("refuses a call without %s", async (name) => {
    const { [name]: _, ...headers } = headersOf(sample)
    const svc = testSvc()
    expect((await receive(requestOf(sample, headers), svc)).status).toBe(400)
    expect(svc.published).toEqual([])
  })

  it("takes nothing without a secret", async () => {
    const svc = testSvc(1, {})
    expect((await receive(requestOf(sample), svc)).status).toBe(503)
    expect(svc.published).toEqual([])
  })

  it("refuses a signed body that is no payload", async () => {
    const body = `"text"`
    const request = { ...requestOf({ ...sample, body }), body: "text" }
    const svc = testSvc()
    expect((await receive(request, svc)).status).toBe(400)
    expect(svc.published).toEqual([])
  })
})
