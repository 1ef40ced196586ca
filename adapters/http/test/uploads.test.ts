import { request } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { trustedZip } from "@weft/core"
import { Redacted } from "effect"
import { afterAll, beforeAll } from "vitest"
import { hashOf, type Reply, TestServer, uploadForm } from "./server/TestServer.ts"

let server: TestServer

beforeAll(async () => {
  server = await TestServer.start({ archiveBytes: 200_000, uploadsAtOnce: 1 })
  for (const name of ["shop", "other"]) await server.call("POST", "/v1/projects", { json: { name } })
})
afterAll(() => server.close())

const buildId = "01890000-0000-4000-8000-0000000000aa"

const refused = (reply: Reply, field: string): void => {
  assert.strictEqual(reply.status, 400, reply.text)
  assert.strictEqual(reply.json.error.code, "bad_request")
  assert.include(reply.json.error.message, field)
}

const count = async (): Promise<number> => (await server.call("GET", "/v1/builds")).json.pagination.total

const sendForm = (form: FormData): Promise<Reply> => server.call("POST", "/v1/projects/shop/builds", { body: form })

/** Opens an upload and sends only its beginning. */
const startUpload = (contentLength: number, { listening, token } = server) => {
  const upload = request(`${listening.url}/v1/projects/shop/builds`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "multipart/form-data; boundary=x",
      "content-length": contentLength
    }
  })
  upload.on("error", () => undefined)
  upload.write('--x\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\nshop')
  return upload
}

describe("uploading a build", () => {
  it("answers 201 with what was stored", async () => {
    const reply = await server.upload("shop", "shop", { build_type: "bundle" })
    assert.strictEqual(reply.status, 201)
    assert.deepStrictEqual(Object.keys(reply.json.data).sort(), [
      "build_id",
      "created_at",
      "hash",
      "project_id",
      "size",
      "storage_backend",
      "storage_path"
    ])
    assert.strictEqual(reply.json.data.hash, hashOf(trustedZip("shop")))
    assert.strictEqual(reply.json.data.size, trustedZip("shop").length)
    assert.isNull(reply.headers.get("x-build-exists"))
  })

  it("with the id of a build of the project answers 200 and says so", async () => {
    const first = await server.upload("shop", "shop", { build_id: buildId })
    assert.strictEqual(first.status, 201)
    assert.strictEqual(first.json.data.build_id, buildId)
    const total = await count()
    const second = await server.upload("shop", "shop", { build_id: buildId })
    assert.strictEqual(second.status, 200)
    assert.strictEqual(second.headers.get("x-build-exists"), "true")
    assert.deepStrictEqual(second.json.data, first.json.data)
    assert.strictEqual(await count(), total)
  })

  it("with the id of another project's build is 400", async () => {
    refused(await server.upload("other", "shop", { build_id: buildId }), "build_id")
  })

  it("with a field missing or wrong is 400 naming it, and keeps nothing", async () => {
    const total = await count()
    for (const name of ["file", "hash"]) {
      const form = uploadForm("shop")
      form.delete(name)
      refused(await sendForm(form), name)
    }
    for (const [name, value] of [
      ["hash", "nonsense"],
      ["hash", "0".repeat(64)],
      ["build_id", "nonsense"],
      ["build_type", "lively"],
      ["build_type", ""]
    ] as const) {
      refused(await server.upload("shop", "shop", { [name]: value }), name)
    }
    refused(await sendForm(uploadForm("not a zip at all")), "zip")
    const asText = uploadForm("shop")
    asText.delete("file")
    asText.set("file", "shop")
    refused(await sendForm(asText), "file")
    const twice = uploadForm("shop")
    twice.append("file", new Blob(["again"]), "b.zip")
    refused(await sendForm(twice), "file")
    assert.strictEqual(await count(), total)
  })

  it("in anything but a complete form is 400", async () => {
    const post = (body: string, type: string) =>
      server.call("POST", "/v1/projects/shop/builds", { body, headers: { "content-type": type } })
    for (const [body, type] of [
      ["{}", "application/json"],
      ["shop", "application/zip"],
      ["shop", "multipart/form-data"],
      ["shop", "multipart/form-data; boundary=x"],
      ['--x\r\nContent-Disposition: form-data; name="file"\r\n\r\n--x--\r\n', "multipart/form-data; boundary=x"],
      [
        '--x\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\nshop',
        "multipart/form-data; boundary=x"
      ]
    ] as const) {
      assert.strictEqual((await post(body, type)).status, 400, type)
    }
  })

  it("to a project that is not there is 404", async () => {
    assert.strictEqual((await server.upload("none", "shop")).status, 404)
  })

  it("above the limit is 400 before the body is read, when its length is announced", async () => {
    const upload = startUpload(1_000_000_000)
    const status = await new Promise((resolve) => upload.on("response", (response) => resolve(response.statusCode)))
    assert.strictEqual(status, 400)
    upload.destroy()
  })

  it("above the limit is 400 as soon as the bytes pass it", async () => {
    const form = uploadForm("shop")
    form.set("file", new Blob(["x".repeat(230_000)]), "a.zip")
    refused(await sendForm(form), "file")
    const encoded = new Response(form)
    const response = await fetch(`${server.listening.url}/v1/projects/shop/builds`, {
      method: "POST",
      headers: { authorization: `Bearer ${server.token}`, "content-type": encoded.headers.get("content-type") ?? "" },
      body: encoded.body,
      duplex: "half"
    })
    assert.strictEqual(response.status, 400)
    assert.include(await response.text(), "file: is larger than 200000 bytes")
  })

  it("that its client gives up leaves nothing, and lets the next one in", async () => {
    const total = await count()
    const stuck = startUpload(1000)
    await new Promise((resolve) => setTimeout(resolve, 50))
    let isNextDone = false
    const next = server.upload("shop", "shop").finally(() => {
      isNextDone = true
    })
    await new Promise((resolve) => setTimeout(resolve, 150))
    assert.isFalse(isNextDone, "only one upload is held at once")
    stuck.destroy()
    assert.strictEqual((await next).status, 201)
    assert.strictEqual(await count(), total + 1)
  })
})

it("uploads that are slow leave room for those of other environments", async () => {
  const own = await TestServer.start({ uploadsAtOnce: 2 })
  const env = await own.weft.envs.create("acme", { name: "other" })
  const token = Redacted.value((await own.weft.apiKeys.create(env.env_id, {})).token)
  await own.call("POST", "/v1/projects", { json: { name: "shop" } })
  await own.call("POST", "/v1/projects", { json: { name: "shop" }, token })
  const stuck = [startUpload(1000, own), startUpload(1000, own)]
  await new Promise((resolve) => setTimeout(resolve, 100))
  assert.strictEqual((await own.upload("shop", "shop", {}, { token })).status, 201)
  for (const upload of stuck) upload.destroy()
  assert.strictEqual((await own.upload("shop", "shop")).status, 201)
  await own.close()
})

describe("downloading a build", () => {
  it("gives the bytes that were uploaded, named and tagged", async () => {
    const { build_id, hash } = (await server.upload("shop", "shop")).json.data
    const response = await fetch(`${server.listening.url}/v1/projects/shop/builds/${build_id}/download`, {
      headers: { authorization: `Bearer ${server.token}` }
    })
    assert.strictEqual(response.status, 200)
    assert.strictEqual(response.headers.get("content-type"), "application/zip")
    assert.strictEqual(response.headers.get("content-length"), String(trustedZip("shop").length))
    assert.strictEqual(response.headers.get("content-disposition"), `attachment; filename="build-${build_id}.zip"`)
    assert.strictEqual(response.headers.get("etag"), `"${hash}"`)
    assert.isNotNull(response.headers.get("x-request-id"))
    assert.deepStrictEqual(new Uint8Array(await response.arrayBuffer()), trustedZip("shop"))
  })
})
