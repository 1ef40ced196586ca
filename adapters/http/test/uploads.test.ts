import { request } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { afterAll, beforeAll } from "vitest"
import { type Reply, TestServer, uploadForm } from "./server/TestServer.ts"

let server: TestServer

beforeAll(async () => {
  server = await TestServer.start({ archiveBytes: 200_000, concurrentUploads: 1 })
  await server.call("POST", "/v1/projects", { json: { name: "shop" } })
})
afterAll(() => server.close())

const refused = (reply: Reply, field: string): void => {
  assert.strictEqual(reply.status, 400, reply.text)
  assert.strictEqual(reply.json.error.code, "bad_request")
  assert.include(reply.json.error.message, field)
}

const count = async (): Promise<number> => (await server.call("GET", "/v1/builds")).json.pagination.total

const sendForm = (form: FormData): Promise<Reply> => server.call("POST", "/v1/projects/shop/builds", { body: form })

/** Opens an upload and sends only the start of its body. */
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
  it("with a missing or wrong field returns 400 with its name, and stores nothing", async () => {
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

  it("without a complete form returns 400", async () => {
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

  it("above the limit returns 400 before the body is read if it has a Content-Length", async () => {
    const upload = startUpload(1_000_000_000)
    const status = await new Promise((resolve) => upload.on("response", (response) => resolve(response.statusCode)))
    assert.strictEqual(status, 400)
    upload.destroy()
  })

  it("above the limit returns 400 as soon as the bytes exceed it", async () => {
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

  it("that its client aborts leaves nothing, and frees its permit", async () => {
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

it("slow uploads do not block those of other environments", async () => {
  const own = await TestServer.start({ concurrentUploads: 2 })
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
