import { type TestRequest, testEnv } from "@weft/sdk/testing"
import { describe, expect, it } from "vitest"
import { receive, secretKey } from "../src/receive.ts"
import { headersOf, type Sample, samples, signatureOf, webhookSecret } from "./payloads.ts"

const requestOf = (sample: Sample, headers: Record<string, string> = headersOf(sample)): TestRequest => ({
  headers,
  body: sample.body
})

const { request } = testEnv({ context: { [secretKey]: webhookSecret } })

const [sample] = samples
if (sample === undefined) throw new Error("There are no samples")

describe("receive", () => {
  it("publishes every sample as GitHub signed it, under its event and action", async () => {
    for (const each of samples) {
      const { result, published } = await request(receive, requestOf(each))
      expect(result).toMatchObject({ status: 202, body: { event_id: expect.any(String), event_type: each.type } })
      const { delivery, event, action, payload, type } = each
      expect(published).toEqual([{ type, data: { delivery, event, action, payload } }])
    }
  })

  it.each([
    ["another secret", signatureOf(sample.body, "another")],
    ["another body", signatureOf(`${sample.body} `)],
    ["no hexadecimal", `sha256=${"x".repeat(64)}`],
    ["too short a signature", signatureOf(sample.body).slice(0, -1)],
    ["another algorithm", signatureOf(sample.body).replace("sha256", "sha1")]
  ])("refuses %s with 401 and publishes nothing", async (_, signature) => {
    const headers = { ...headersOf(sample), "x-hub-signature-256": signature }
    const { response, published } = await request(receive, requestOf(sample, headers))
    expect(response.status).toBe(401)
    expect(await response.json()).toEqual({ error: "The signature does not match" })
    expect(published).toEqual([])
  })

  it.each(["x-github-event", "x-github-delivery", "x-hub-signature-256"])("refuses a call without %s", async (name) => {
    const { [name]: _, ...headers } = headersOf(sample)
    const { response, published } = await request(receive, requestOf(sample, headers))
    expect(response.status).toBe(400)
    expect(published).toEqual([])
  })

  it("takes nothing without a secret, and says so in its log", async () => {
    const { response, published, logs } = await testEnv().request(receive, requestOf(sample))
    expect(response.status).toBe(503)
    expect(published).toEqual([])
    expect(logs).toMatchObject([{ level: "error", message: expect.stringContaining(secretKey) }])
  })

  it("refuses a signed body that is no payload", async () => {
    const body = `"text"`
    const { response, published } = await request(
      receive,
      requestOf({ ...sample, body }, headersOf({ ...sample, body }))
    )
    expect(response.status).toBe(400)
    expect(published).toEqual([])
  })
})
