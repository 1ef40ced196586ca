/** Calls each operation of the server's OpenAPI document with invalid credentials and with invalid bodies. */
import { expect } from "vitest"
import { z } from "zod"
import type { Target } from "./Tour.ts"
import type { Visits } from "./Visits.ts"

const Operation = z.looseObject({
  requestBody: z.looseObject({ content: z.record(z.string(), z.unknown()) }).optional()
})
const Document = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) })
})

const nowhere = "01890000-0000-7000-8000-000000000000"

export const sweep = async (
  visits: Visits,
  target: Target,
  digits: { readonly sent: string; readonly malformed: string }
): Promise<void> => {
  const document = Document.parse((await visits.request("GET", "/v1/openapi.json")).json)
  const fields = listFields(document.components.schemas)
  const wrong = {
    bearer: { authorization: `Bearer svc_${nowhere}_${digits.sent}`, cookie: `a=${digits.sent}` },
    basic: { authorization: `Basic ${Buffer.from(`user:${digits.sent}`).toString("base64")}` },
    other: { "x-api-key": digits.sent, "proxy-authorization": `Bearer ${digits.sent}` }
  }
  let swept = 0
  for (const [template, operations] of Object.entries(document.paths)) {
    const path = template.startsWith("/webhook/")
      ? `${target.webhooks}/vault/none`
      : template.replaceAll("{part_number}", "1").replace(/\{\w+\}/g, nowhere)
    for (const [method, operation] of Object.entries(operations)) {
      swept++
      const verb = method.toUpperCase()
      const takesJson = operation.requestBody?.content["application/json"] !== undefined
      const body = operation.requestBody === undefined ? {} : { body: digits.malformed }
      for (const headers of Object.values(wrong)) await visits.request(verb, path, { headers, ...body })
      const token = template.startsWith("/admin") ? target.adminToken : target.apiKey
      if (!takesJson) {
        // The creator of a credential may read its metadata.
        const shows = /^\/v1\/(sessions|service-keys)$/.test(template) && verb === "GET" ? ["metadata"] : []
        if (verb !== "DELETE") await visits.request(verb, path, { token, shows })
        continue
      }
      const json = { "content-type": "application/json" }
      for (const text of malformed(digits.malformed, fields)) {
        const { status } = await visits.request(verb, path, { token, body: text, headers: json })
        expect(status, `${verb} ${path} ${text.slice(0, 100)}`).toBeGreaterThanOrEqual(400)
      }
    }
  }
  expect(swept).toBeGreaterThan(40)
}

/** Returns bodies that no operation accepts. */
const malformed = (digits: string, fields: ReadonlyArray<string>): ReadonlyArray<string> => [
  `{"value":"${digits}`,
  `"${digits}"`,
  `["${digits}"]`,
  `{"${digits}":`,
  // All known fields, with a type that none of them has.
  JSON.stringify(Object.fromEntries(fields.map((field) => [field, [[digits], digits]])))
]

/** Lists the property names of all schemas. */
const listFields = (schemas: unknown): ReadonlyArray<string> => {
  const names = new Set<string>()
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return
    for (const [name, inner] of Object.entries(value)) {
      if (name === "properties") for (const property of Object.keys(Object(inner))) names.add(property)
      visit(inner)
    }
  }
  visit(schemas)
  return [...names]
}
