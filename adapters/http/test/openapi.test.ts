import { readFile } from "node:fs/promises"
import SwaggerParser from "@apidevtools/swagger-parser"
import { assert, describe, it } from "@effect/vitest"
import { documentFile, documentText } from "../scripts/document.ts"

interface Operation {
  readonly operationId: string
  readonly summary?: string
  readonly tags: ReadonlyArray<string>
  readonly "x-weft-extension"?: boolean
}

const document = JSON.parse(documentText())
const operations: ReadonlyArray<readonly [string, Operation]> = Object.entries<Record<string, Operation>>(
  document.paths
).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const)
)

describe("the OpenAPI document", () => {
  it("is valid OpenAPI 3.1", async () => {
    const parsed = await SwaggerParser.validate(structuredClone(document))
    assert.strictEqual("openapi" in parsed && parsed.openapi, "3.1.0")
  })

  it("is the one that is committed: npm run openapi -w adapters/http", async () => {
    assert.strictEqual(await readFile(documentFile, "utf8"), documentText())
  })

  it("gives every operation an id that is a name, a summary and a tag", () => {
    const ids = operations.map(([, operation]) => operation.operationId)
    assert.strictEqual(new Set(ids).size, ids.length)
    for (const [route, operation] of operations) {
      assert.match(operation.operationId, /^[a-z][A-Za-z]+$/)
      assert.isString(operation.summary, route)
      assert.strictEqual(operation.tags.length, 1)
    }
  })

  it("marks what is not of the specification", () => {
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
