/** Context variables over HTTP, on a database file and a folder of blobs. The last test searches their bytes. */
import { createHash } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { type TrustedModule, type TrustedSvc, trustedSandbox } from "@weft/core/testing"
import * as Filesystem from "@weft/filesystem"
import * as Sqlite from "@weft/sqlite"
import { afterAll, beforeAll } from "vitest"
import { adminToken, type CallOptions, type Reply, startWeft, TestServer } from "./server/TestServer.ts"

const secret = 'k\u00f8 "t0p" s3cret\nvalue'

const digest = (text: unknown): string => createHash("sha256").update(String(text)).digest("hex")

const webhook = (path: string, fn: (request: { readonly body: unknown }, svc: TrustedSvc) => unknown) =>
  Object.assign(fn, { meta: { webhook: { service: "vault", path } } })

const vault: TrustedModule = {
  main: {
    // Results are stored unchanged, so this function returns only a proof that it has the value.
    get: webhook("/get", async ({ body }, svc) => digest(await svc.context.get(String(body)))),
    tells: webhook("/tells", async (_, svc) => {
      const all = await svc.context.all()
      svc.log.info(`all: ${JSON.stringify(all)}`, { all })
      throw new Error(`It is ${JSON.stringify(all)}`)
    })
  }
}

let server: TestServer
/** All responses of the server. */
const answers: Array<string> = []
const folder = mkdtempSync(join(tmpdir(), "weft-context-"))

beforeAll(async () => {
  const weft = startWeft({
    database: Sqlite.database({ file: join(folder, "weft.db"), synchronous: "normal" }),
    blobs: Filesystem.blobs({ dir: join(folder, "blobs") }),
    sandbox: trustedSandbox({ vault })
  })
  server = await TestServer.start({}, adminToken, weft)
  await server.deploy("vault", "vault")
})

afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true })
})

const call = async (method: string, path: string, options: CallOptions = {}): Promise<Reply> => {
  const reply = await server.call(method, path, options)
  answers.push(reply.text, JSON.stringify([...reply.headers]))
  return reply
}

const variables = "/v1/projects/vault/context"
const put = (key: string, json: unknown) => call("PUT", `${variables}/${key}`, { json })
const post = (json: unknown) => call("POST", variables, { json })

const refused = (reply: Reply, status: number, code: string, message: string | RegExp) => {
  assert.deepStrictEqual([reply.status, reply.json.error.code], [status, code], reply.text)
  if (typeof message === "string") assert.strictEqual(reply.json.error.message, message)
  else assert.match(reply.json.error.message, message)
}

describe("context variables", () => {
  it("are created, listed, changed and deleted, showing metadata only", async () => {
    const created = await post({ key: "TOKEN", value: secret, description: "of the vault" })
    assert.strictEqual(created.status, 201)
    assert.deepStrictEqual(Object.keys(created.json.data), ["key", "description", "created_at", "updated_at"])
    assert.include(created.json.data, { key: "TOKEN", description: "of the vault" })
    assert.match(created.json.data.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.strictEqual((await post({ key: "A.b-c", value: "" })).json.data.description, "")

    const { project_id } = (await server.call("GET", "/v1/projects/vault")).json.data
    const listed = await call("GET", `/v1/projects/${project_id}/context`)
    assert.strictEqual(listed.status, 200)
    assert.deepStrictEqual(
      listed.json.data.map((variable: { key: string }) => variable.key),
      ["A.b-c", "TOKEN"]
    )
    assert.deepStrictEqual(listed.json.data[1], created.json.data)
    const second = await call("GET", `${variables}?limit=1&offset=1`)
    assert.deepStrictEqual(second.json.data, [created.json.data])
    assert.deepStrictEqual(second.json.pagination, { total: 2, limit: 1, offset: 1, has_more: false })

    const revalued = await put("TOKEN", { value: `${secret}!` })
    assert.strictEqual(revalued.status, 200)
    assert.include(revalued.json.data, { description: "of the vault", created_at: created.json.data.created_at })
    const described = await put("TOKEN", { description: "other" })
    assert.strictEqual(described.json.data.description, "other")
    const both = await put("TOKEN", { value: secret, description: "both" })
    assert.strictEqual(both.json.data.description, "both")

    assert.strictEqual((await call("DELETE", `${variables}/A.b-c`)).status, 204)
    refused(await call("DELETE", `${variables}/A.b-c`), 404, "not_found", "There is no such context variable")
  })

  it("reject an invalid body with the name of the field, never the value", async () => {
    refused(await post({ key: "TOKEN", value: secret }), 400, "bad_request", "key is already in use in this project")
    refused(await post({ value: secret }), 400, "bad_request", "key: is missing")
    refused(await post({ key: "K" }), 400, "bad_request", "value: is missing")
    refused(await post({ key: "9", value: secret }), 400, "bad_request", /^key must begin/)
    refused(await post({ key: secret, value: "" }), 400, "bad_request", /^key must begin/)
    refused(await post({ key: "K", value: secret.repeat(5000) }), 400, "bad_request", /^value must/)
    refused(await post({ key: "K", value: "\ud800" }), 400, "bad_request", /^value must/)
    refused(await post({ key: "K", value: secret, description: "x".repeat(1025) }), 400, "bad_request", /^description/)
    for (const wrong of [123456789, null, { secret }, [secret], true]) {
      refused(await post({ key: "K", value: wrong }), 400, "bad_request", /^value: /)
      refused(await post({ key: wrong, value: secret }), 400, "bad_request", /^key: /)
      refused(await post({ key: "K", value: secret, description: wrong }), 400, "bad_request", /^description: /)
      const changed = await put("TOKEN", { value: wrong })
      refused(changed, 400, "bad_request", /^value: /)
      assert.notInclude(changed.text, "123456789")
    }
    refused(await put("TOKEN", {}), 400, "bad_request", /^value or description is required/)
    refused(await call("PUT", `${variables}/TOKEN`, { body: `{"value":"${secret}` }), 400, "bad_request", /./)
    refused(await call("GET", `${variables}?limit=0`), 400, "bad_request", /^limit: /)
    assert.strictEqual((await call("GET", variables)).json.pagination.total, 1)
  })

  it("return 404 for unknown projects and keys", async () => {
    for (const key of ["NONE", "token", "9", "%00", "a%2Fb", "x".repeat(200)]) {
      refused(await put(key, { value: "x" }), 404, "not_found", "There is no such context variable")
      refused(await call("DELETE", `${variables}/${key}`), 404, "not_found", "There is no such context variable")
    }
    const elsewhere = "/v1/projects/none/context"
    refused(await call("GET", elsewhere), 404, "not_found", "There is no such project")
    refused(await call("POST", elsewhere, { json: { key: "K", value: "v" } }), 404, "not_found", /project/)
    refused(await call("PUT", `${elsewhere}/K`, { json: { value: "v" } }), 404, "not_found", /project/)
    refused(await call("DELETE", `${elsewhere}/K`), 404, "not_found", /project/)
    // Validation precedes existence, and permission precedes both.
    refused(await call("POST", elsewhere, { json: { key: "", value: "v" } }), 400, "bad_request", /^key must/)
    const { token } = await server.key({ "ctx:other": ["*"] })
    refused(await call("POST", variables, { token, json: { key: "" } }), 403, "forbidden", /context:vault create/)
    refused(await call("GET", `${variables}/TOKEN`), 404, "not_found", "There is no such route")
  })

  it("are available to the functions of their project, and masked in logs and failures", async () => {
    const read = await call("POST", "/webhook/acme/prod/vault/get", { body: "TOKEN" })
    assert.strictEqual(read.json, digest(secret))
    await put("TOKEN", { value: `${secret}?` })
    const anew = await call("POST", "/webhook/acme/prod/vault/get", { body: "TOKEN" })
    assert.strictEqual(anew.json, digest(`${secret}?`))
    await put("TOKEN", { value: secret })

    const failed = await call("POST", "/webhook/acme/prod/vault/tells")
    assert.strictEqual(failed.status, 500)
    const [run] = (await call("GET", "/v1/runs?limit=1")).json.data
    assert.strictEqual(run.result.error.message, 'It is {"TOKEN":"***"}')
    const logs = await call("GET", `/v1/runs/${run.run_id}/logs`)
    assert.deepInclude(logs.json.data[1], { message: 'all: {"TOKEN":"***"}', data: { all: { TOKEN: "***" } } })
  })

  it("can be managed by the host, without access to the values", async () => {
    const env = server.weft.env(server.env.env_id)
    const made = await env.context.create("vault", { key: "HOST", value: secret })
    assert.notProperty(made, "value")
    await env.context.update("vault", "HOST", { description: "changed" })
    const { items } = await env.context.list("vault")
    assert.deepStrictEqual(
      items.map(({ key, description }) => [key, description]),
      [
        ["HOST", "changed"],
        ["TOKEN", "both"]
      ]
    )
    assert.notInclude(JSON.stringify(items), "s3cret")
    await env.context.remove("vault", "HOST")
  })

  it("are re-encrypted by the host only, after a change of the master key", async () => {
    const path = "/admin/secrets/reseal"
    const reply = await call("POST", path, { token: adminToken })
    assert.strictEqual(reply.status, 200)
    assert.deepStrictEqual(Object.keys(reply.json.data), ["key_id", "resealed", "unreadable"])
    assert.include(reply.json.data, { resealed: 0, unreadable: 0 })
    assert.match(reply.json.data.key_id, /^[0-9a-f]{16}$/)
    assert.deepStrictEqual(await server.weft.secrets.reseal(), reply.json.data)
    refused(await call("POST", path), 401, "unauthorized", /./)
    refused(await call("POST", path, { token: null }), 401, "unauthorized", /./)
  })

  it("never appear in a response or a file", () => {
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .map((name) => join(folder, name))
      .filter((file) => statSync(file).isFile())
    assert.isTrue(files.some((file) => file.endsWith("weft.db-wal")))
    const forms = [secret, JSON.stringify(secret).slice(1, -1), "s3cret"].flatMap((form) => [
      Buffer.from(form),
      Buffer.from(Buffer.from(form).toString("hex")),
      Buffer.from(Buffer.from(form).toString("base64").replace(/=+$/, "").slice(0, -1))
    ])
    const searched = [...files.map((file) => readFileSync(file)), ...answers.map((answer) => Buffer.from(answer))]
    assert.isAbove(searched.length, 50)
    for (const bytes of searched) for (const form of forms) assert.isFalse(bytes.includes(form))
  })
})
