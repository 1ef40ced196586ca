import { assert, it } from "@effect/vitest"
import { modules } from "../server/functions.ts"
import { onBackendOfRun } from "./Backends.ts"
import { checkRecord, eventually, fields, refused, single } from "./Fields.ts"

const MiB = 1024 ** 2

onBackendOfRun({ modules }, ({ server }) => {
  const call = (...args: Parameters<ReturnType<typeof server>["call"]>) => server().call(...args)
  const put = (path: string, body: string, type = "text/plain") =>
    call("PUT", `/v1/files/upload/${path}`, { body, headers: { "content-type": type } })
  const bytes = { "content-type": "application/octet-stream" }
  const part = (upload: string, number: number, body: string) =>
    call("PUT", `/v1/files/uploads/${upload}/${number}`, { body, headers: bytes })
  const begin = async (json: unknown) => single(await call("POST", "/v1/files/uploads", { json }), 201, fields.upload)

  it("PUT /files/upload/{path}", async () => {
    const file = single(await put("a/b.csv", "1,2", "text/csv"), 200, fields.uploadedFile)
    assert.include(file, { path: "a/b.csv", size: 3, content_type: "text/csv" })
    assert.match(file.etag, /^".+"$/)
    for (const path of ["a//b", "a/b/", "%00"]) refused(await put(path, "x"), 400, "bad_request")
  })

  it("GET /files", async () => {
    for (const path of ["list/b", "list/a", "other"]) await put(path, path)
    const reply = await call("GET", "/v1/files?prefix=list/&limit=1")
    assert.strictEqual(reply.status, 200)
    assert.deepStrictEqual(Object.keys(reply.json), ["data", "meta"])
    assert.deepInclude(reply.json.meta, { total: 2, limit: 1, offset: 0 })
    checkRecord(reply.json.data[0], fields.file)
    assert.strictEqual(reply.json.data[0].path, "list/a")
  })

  it("GET /files/{file_id}, its download, and DELETE", async () => {
    const { file_id, ...uploaded } = single(await put("one.txt", "contents"), 200, fields.uploadedFile)
    const file = single(await call("GET", `/v1/files/${file_id}`), 200, fields.file)
    assert.deepInclude(file, { ...uploaded, created_by_run_id: null, updated_by_run_id: null })
    const download = await call("GET", `/v1/files/${file_id}/download`)
    assert.strictEqual(download.text, "contents")
    assert.strictEqual(download.headers.get("content-type"), "text/plain")
    assert.include(download.headers.get("content-disposition"), "one.txt")
    assert.strictEqual((await call("DELETE", `/v1/files/${file_id}`)).status, 204)
    for (const [method, path] of [
      ["GET", ""],
      ["GET", "/download"],
      ["DELETE", ""]
    ] as const) {
      refused(await call(method, `/v1/files/${file_id}${path}`), 404, "not_found")
    }
  })

  it("POST /files/uploads, its parts, and POST complete", async () => {
    const { upload_id, ...upload } = await begin({
      path: "big.txt",
      expected_size: 5 * MiB + 3,
      content_type: "text/x"
    })
    assert.include(upload, { path: "big.txt", parts_expected: 1 })
    assert.isAbove(Date.parse(upload.expires_at), Date.now())
    const first = single(await part(upload_id, 1, "x".repeat(5 * MiB)), 200, fields.part)
    assert.include(first, { part_number: 1, size: 5 * MiB })
    single(await part(upload_id, 2, "end"), 200, fields.part)
    const file = single(await call("POST", `/v1/files/uploads/${upload_id}/complete`), 200, fields.uploadedFile)
    assert.include(file, { path: "big.txt", size: 5 * MiB + 3, content_type: "text/x" })
    assert.strictEqual((await call("GET", `/v1/files/${file.file_id}/download`)).text.slice(-4), "xend")
    refused(await call("POST", `/v1/files/uploads/${upload_id}/complete`), 404, "not_found")
  })

  it("DELETE /files/uploads/{upload_id}", async () => {
    const { upload_id } = await begin({ path: "never" })
    await part(upload_id, 1, "x")
    assert.strictEqual((await call("DELETE", `/v1/files/uploads/${upload_id}`)).status, 204)
    refused(await call("DELETE", `/v1/files/uploads/${upload_id}`), 404, "not_found")
    refused(await part(upload_id, 1, "x"), 404, "not_found")
    assert.deepStrictEqual((await call("GET", "/v1/files?prefix=never")).json.data, [])
  })

  it("parts are numbered 1 to 10,000, and all but the last have 5 MB", async () => {
    const { upload_id } = await begin({ path: "parts" })
    for (const number of [0, 10_001, -1, 1.5]) refused(await part(upload_id, number, "x"), 400, "bad_request")
    single(await part(upload_id, 10_000, "last"), 200, fields.part)
    single(await part(upload_id, 1, "too short to be the first"), 200, fields.part)
    refused(await call("POST", `/v1/files/uploads/${upload_id}/complete`), 400, "bad_request")
  })

  it("a file above the plan's largest is plan_required", async () => {
    await server().weft.orgs.update("acme", { plan: "Free" })
    await eventually(server(), "/v1/org/usage", ({ json }) => json.data?.plan.name === "Free")
    const json = { path: "large", expected_size: 100 * MiB + 1 }
    refused(await call("POST", "/v1/files/uploads", { json }), 403, "plan_required")
    assert.strictEqual(
      (await call("POST", "/v1/files/uploads", { json: { ...json, expected_size: 100 * MiB } })).status,
      201
    )
    await server().weft.orgs.update("acme", { plan: "Self-Host" })
    await eventually(server(), "/v1/org/usage", ({ json: told }) => told.data?.plan.name === "Self-Host")
  })
})
