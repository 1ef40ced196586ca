/** A Weft on the backend of the run behind a real HTTP server, with a client that checks the envelopes. */
import { createHash } from "node:crypto"
import { assert } from "@effect/vitest"
import { type Env, type StartOptions, start, type WeftInstance } from "@weft/core"
import type { ApiKey } from "@weft/core/adapter"
import { trustedSandbox, trustedZip } from "@weft/core/testing"
import type { Listening, ListenOptions } from "@weft/http"
import * as Http from "@weft/http"
import { Redacted } from "effect"
import { backendOfRun, backends } from "./Backend.ts"
import { modules } from "./functions.ts"
import { transportOfRun } from "./Transport.ts"

export const adminToken = "admin-token-of-the-tests"

export const masterKeys = [Redacted.make(new Uint8Array(32).fill(7))] as const

export const startWeft = (options: Partial<StartOptions> = {}): Promise<WeftInstance> =>
  start({
    ...backends[backendOfRun],
    sandbox: trustedSandbox(modules),
    masterKeys,
    publicUrl: () => "https://weft.example.net",
    ...options
  })

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Undefined for a response that is not JSON. */
  readonly json: ReturnType<typeof JSON.parse>
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export const replyOf = async (response: Response): Promise<Reply> => {
  const text = await response.text()
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true && text !== ""
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined }
}

/** Asserts the properties of every response of every route. */
export const checkEnvelope = (reply: Reply): Reply => {
  const id = reply.headers.get("x-request-id") ?? ""
  assert.match(id, uuid)
  if (reply.status >= 400) {
    assert.deepStrictEqual(Object.keys(reply.json), ["error"])
    assert.deepStrictEqual(Object.keys(reply.json.error), ["code", "message", "request_id"])
    assert.strictEqual(reply.json.error.request_id, id)
  } else if (reply.json?.meta !== undefined) {
    assert.strictEqual(reply.json.meta.request_id, id)
    assert.match(reply.json.meta.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  }
  return reply
}

export interface CallOptions {
  readonly token?: string | null
  readonly json?: unknown
  readonly body?: string | FormData
  readonly headers?: Record<string, string>
}

export class TestServer {
  readonly weft: WeftInstance
  readonly listening: Listening
  readonly env: Env
  readonly token: string

  private constructor(weft: WeftInstance, listening: Listening, env: Env, token: string) {
    this.weft = weft
    this.listening = listening
    this.env = env
    this.token = token
  }

  static async start(
    options: ListenOptions = {},
    admin: string | null = adminToken,
    starting: Promise<WeftInstance> = startWeft()
  ): Promise<TestServer> {
    const weft = await starting
    const org = await weft.orgs.create({ slug: "acme" })
    const env = await weft.envs.create(org.slug, { name: "prod" })
    const { token } = await weft.apiKeys.create(env.env_id, {})
    const listening = await Http.listen(weft, {
      port: 0,
      ...(admin === null ? {} : { adminToken: Redacted.make(admin) }),
      version: "1.2.3",
      gitSha: "abc",
      metricsMs: 0,
      // Most tests read responses to the end.
      streamLifetimeMs: 100,
      ...options
    })
    return new TestServer(weft, listening, env, Redacted.value(token))
  }

  /** Creates a key of the environment with these permissions. */
  async key(permissions: unknown): Promise<{ readonly key: ApiKey; readonly token: string }> {
    const { key, token } = await this.weft.apiKeys.create(this.env.env_id, { permissions })
    return { key, token: Redacted.value(token) }
  }

  async call(method: string, path: string, options: CallOptions = {}): Promise<Reply> {
    const { token = this.token, ...more } = options
    const response = await transportOfRun({ url: this.listening.url, method, path, token, ...more })
    return checkEnvelope(await replyOf(response))
  }

  upload(
    project: string,
    module: string,
    more: Record<string, string> = {},
    options: CallOptions = {}
  ): Promise<Reply> {
    return this.call("POST", `/v1/projects/${project}/builds`, { body: uploadForm(module, more), ...options })
  }

  /** Creates a project with a deployed build of the module. */
  async deploy(project: string, module: string): Promise<{ readonly project_id: string; readonly build_id: string }> {
    const created = await this.call("POST", "/v1/projects", { json: { name: project } })
    assert.strictEqual(created.status, 201, created.text)
    const uploaded = await this.upload(project, module)
    assert.strictEqual(uploaded.status, 201, uploaded.text)
    const { build_id } = uploaded.json.data
    const deployed = await this.call("POST", `/v1/projects/${project}/builds/${build_id}/deploy`)
    assert.strictEqual(deployed.status, 200, deployed.text)
    return { project_id: created.json.data.project_id, build_id }
  }

  async close(): Promise<void> {
    await this.listening.close({ graceMs: 1000 })
    await this.weft.close()
  }
}

export const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

export const uploadForm = (module: string, more: Record<string, string> = {}): FormData => {
  const zip = trustedZip(module)
  const form = new FormData()
  form.set("file", new Blob([new Uint8Array(zip)]), "build.zip")
  form.set("hash", hashOf(zip))
  for (const [name, value] of Object.entries(more)) form.set(name, value)
  return form
}
