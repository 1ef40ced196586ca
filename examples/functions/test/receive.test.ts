import { type TestRequest, testEnv } from "@weft/sdk/testing"
import { describe, expect, it } from "vitest"
import { receive, secretKey } from "../src/receive.ts"
import { makeHeaders, type Sample, samples, sign, webhookSecret } from "./payloads.ts"

const requestOf = (sample: Sample, headers: Record<string, string> = makeHeaders(sample)): TestRequest => ({
  headers,
  body: sample.body
})

const { request } = testEnv({ context: { [secretKey]: webhookSecret } })

const [sample] = samples
if (sample === undefined) throw new Error("There are no samples")

describe("receive", () => {
  it("publishes each signed sample as an event of its type", async () => {
    for (const each of samples) {
      const { result, published } = await request(receive, requestOf(each))
      expect(result).toMatchObject({ status: 202, body: { event_id: expect.any(String), event_type: each.type } })
      const { delivery, event, action, payload, type } = each
      expect(published).toEqual([{ type, data: { delivery, event, action, payload } }])
    }
  })

  it.each([
    ["another secret", sign(sample.body, "another")],
    ["another body", sign(`${sample.body} `)],
    ["no hexadecimal", `sha256=${"x".repeat(64)}`],
    ["too short a signature", sign(sample.body).slice(0, -1)],
    ["another algorithm", sign(sample.body).replace("sha256", "sha1")]
  ])("rejects %s with 401 and publishes nothing", async (_, signature) => {
    const headers = { ...makeHeaders(sample), "x-hub-signature-256": signature }
    const { response, published } = await request(receive, requestOf(sample, headers))
    expect(response.status).toBe(401)
    expect(await response.json()).toEqual({ error: "The signature does not match" })
    expect(published).toEqual([])
  })

  it.each(["x-github-event", "x-github-delivery", "x-hub-signature-256"])("rejects a call without %s", async (name) => {
    const { [name]: _, ...headers } = makeHeaders(sample)
    const { response, published } = await request(receive, requestOf(sample, headers))
    expect(response.status).toBe(400)
    expect(published).toEqual([])
  })

  it("rejects all calls without a secret, and logs the reason", async () => {
    const { response, published, logs } = await testEnv().request(receive, requestOf(sample))
    expect(response.status).toBe(503)
    expect(published).toEqual([])
    expect(logs).toMatchObject([{ level: "error", message: expect.stringContaining(secretKey) }])
  })

  it("rejects a signed body that is not a payload", async () => {
    const body = `"text"`
    const { response, published } = await request(
      receive,
      requestOf({ ...sample, body }, makeHeaders({ ...sample, body }))
    )
    expect(response.status).toBe(400)
    expect(published).toEqual([])
  })
})
