/** Every operation of the server's own OpenAPI document, with bad credentials, and with bodies that it must refuse. */
import { expect } from "vitest"
import { z } from "zod"
import type { Place } from "./Tour.ts"
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
  place: Place,
  digits: { readonly sent: string; readonly malformed: string }
): Promise<void> => {
  const document = Document.parse((await visits.ask("GET", "/v1/openapi.json")).json)
  const fields = fieldsOf(document.components.schemas)
  const wrong = {
    bearer: { authorization: `Bearer svc_${nowhere}_${digits.sent}`, cookie: `a=${digits.sent}` },
    basic: { authorization: `Basic ${Buffer.from(`user:${digits.sent}`).toString("base64")}` },
    other: { "x-api-key": digits.sent, "proxy-authorization": `Bearer ${digits.sent}` }
  }
  let swept = 0
  for (const [template, operations] of Object.entries(document.paths)) {
    const path = template.startsWith("/webhook/")
      ? `${place.webhooks}/vault/none`
      : template.replaceAll("{part_number}", "1").replace(/\{\w+\}/g, nowhere)
    for (const [method, operation] of Object.entries(operations)) {
      swept++
      const verb = method.toUpperCase()
      const takesJson = operation.requestBody?.content["application/json"] !== undefined
      const body = operation.requestBody === undefined ? {} : { body: digits.malformed }
      for (const headers of Object.values(wrong)) await visits.ask(verb, path, { headers, ...body })
      const token = template.startsWith("/admin") ? place.adminToken : place.apiKey
      if (!takesJson) {
        // Whoever handed a credential out may read its metadata.
        const shows = /^\/v1\/(sessions|service-keys)$/.test(template) && verb === "GET" ? ["metadata"] : []
        if (verb !== "DELETE") await visits.ask(verb, path, { token, shows })
        continue
      }
      const json = { "content-type": "application/json" }
      for (const text of malformed(digits.malformed, fields)) {
        const { status } = await visits.ask(verb, path, { token, body: text, headers: json })
        expect(status, `${verb} ${path} ${text.slice(0, 100)}`).toBeGreaterThanOrEqual(400)
      }
    }
  }
  expect(swept).toBeGreaterThan(40)
}

/** Bodies that no operation takes. */
const malformed = (digits: string, fields: ReadonlyArray<string>): ReadonlyArray<string> => [
  `{"value":"${digits}`,
  `"${digits}"`,
  `["${digits}"]`,
  `{"${digits}":`,
  // Every field that any of them has, of a type that none has.
  JSON.stringify(Object.fromEntries(fields.map((field) => [field, [[digits], digits]])))
]

/** The names of all properties that schemas have. */
const fieldsOf = (schemas: unknown): ReadonlyArray<string> => {
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
