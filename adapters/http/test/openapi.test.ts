import { readFile } from "node:fs/promises"
import SwaggerParser from "@apidevtools/swagger-parser"
import { assert, describe, it } from "@effect/vitest"
import { errorStatus } from "@weft/api"
import { documentFile, documentText } from "../scripts/document.ts"
import { document, type Media, operations, validatorOf } from "./openapi/Operations.ts"

describe("the OpenAPI document", () => {
  it("is valid OpenAPI 3.1", async () => {
    const parsed = await SwaggerParser.validate(JSON.parse(documentText()))
    assert.strictEqual("openapi" in parsed && parsed.openapi, "3.1.0")
  })

  it("is the one that is committed: npm run openapi -w adapters/http", async () => {
    assert.strictEqual(await readFile(documentFile, "utf8"), documentText())
  })

  it("has an id that is an identifier, a summary and a tag for every operation", () => {
    const ids = operations.map(([, operation]) => operation.operationId)
    assert.strictEqual(new Set(ids).size, ids.length)
    for (const [route, operation] of operations) {
      assert.match(operation.operationId, /^[a-z][A-Za-z]+$/)
      assert.isString(operation.summary, route)
      assert.strictEqual(operation.tags.length, 1)
    }
  })

  it("lists the errors of each operation: credentials, permissions, missing resources, rates, conflicts", () => {
    const isKnown = (code: string): code is keyof typeof errorStatus => code in errorStatus
    for (const [route, { parameters = [], responses, security = [], requestBody }] of operations) {
      const [, path = ""] = route.split(" ")
      const statuses = Object.keys(responses)
      const wants = (status: string) => assert.include(statuses, status, route)
      wants("500")
      const schemes = security.flatMap((scheme) => Object.keys(scheme))
      if (schemes.length > 0) wants("401")
      if (schemes.includes("bearer")) for (const status of ["403", "429"]) wants(status)
      else if (!path.endsWith("/content") && !path.startsWith("/tokens/")) assert.notInclude(statuses, "429", route)
      if (requestBody !== undefined || parameters.some((parameter) => parameter.in === "query")) wants("400")
      if (path.includes("{") && !path.startsWith("/v1/files/upload/")) wants("404")
      for (const [status, { content = {}, headers = {} }] of Object.entries(responses)) {
        if (status !== "default") assert.property(headers, "X-Request-Id", route)
        if (status === "429") assert.property(headers, "Retry-After", route)
        if (!/^[45]/.test(status)) continue
        for (const example of examplesOf(content["application/json"])) {
          const { code } = Object(example).error
          const isApart = status === "416" || status === "503"
          assert.isTrue(isKnown(code) && (errorStatus[code] === Number(status) || isApart), `${route} ${code}`)
        }
      }
    }
  })

  it("has valid examples of every request, parameter and response that is not binary", () => {
    const check = (place: string, { schema, ...media }: Media) => {
      const examples = examplesOf(media)
      assert.isNotEmpty(examples, place)
      const validate = validatorOf(schema)
      for (const example of examples) {
        assert.isTrue(validate(example), `${place}: ${JSON.stringify(validate.errors)}`)
      }
    }
    for (const [route, { parameters = [], requestBody, responses }] of operations) {
      for (const parameter of parameters) check(`${route} ${parameter.name}`, parameter)
      for (const [type, media] of Object.entries(requestBody?.content ?? {})) {
        if (/json|form-data/.test(type)) check(`${route} body`, media)
      }
      for (const [status, { content = {} }] of Object.entries(responses)) {
        for (const [type, media] of Object.entries(content)) {
          if (type.includes("json")) check(`${route} ${status}`, media)
        }
      }
    }
  })

  it("describes the authentication", () => {
    for (const scheme of ["bearer", "adminBearer"]) {
      const declared = document.components.securitySchemes[scheme]
      assert.include(declared, { type: "http", scheme: "bearer" })
      assert.isNotEmpty(declared?.description)
    }
  })

  it("marks extensions of the specification", () => {
    const extensions = operations
      .filter(([, operation]) => operation["x-weft-extension"] === true)
      .map(([route]) => route)
    assert.includeMembers(extensions, ["GET /v1/runs/{run_id}/logs", "GET /v1/runs/{run_id}/usage", "GET /healthz"])
    const specified = operations.filter(([, operation]) => operation["x-weft-extension"] !== true)
    assert.isFalse(specified.some(([route]) => route.includes("/admin/")))
  })

  it("has the routes of this version", () => {
    const routes = operations.map(([route]) => route)
    assert.includeMembers(routes, [
      "GET /v1/status",
      "DELETE /v1/projects/{project_id_or_slug}",
      "POST /v1/projects/{project_id_or_slug}/builds",
      "GET /v1/projects/{project_id_or_slug}/builds/{build_id}/download",
      "GET /v1/runs/stats",
      "POST /webhook/{org}/{env}/{service}/{path}"
    ])
  })
})

const examplesOf = ({ example, examples }: Omit<Media, "schema"> = {}): ReadonlyArray<unknown> => [
  ...(example === undefined ? [] : [example]),
  ...Object.values(examples ?? {}).map(({ value }) => value)
]
