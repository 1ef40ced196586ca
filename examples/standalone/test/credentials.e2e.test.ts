/** Sessions and service keys as functions in the real sandbox receive them. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { type ServerProcess, startServer } from "./ServerProcess.ts"

const dataDir = mkdtempSync(join(tmpdir(), "weft-credentials-"))
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

const source = `
const who = async (request, svc) => ({ auth: request.auth ?? null, caller: svc.caller, same: svc.request === request })
export const closed = (request, svc) => who(request, svc)
closed.meta = { webhook: { service: "desk", path: "/closed", method: "POST", auth: "required" } }
export const open = (request, svc) => who(request, svc)
open.meta = { webhook: { service: "desk", path: "/open", method: "POST" } }
`

const Session = z.object({ data: z.object({ session_id: z.string(), token: z.string() }) })
const ServiceKey = z.object({ data: z.object({ service_key_id: z.string(), token: z.string() }) })
const Runs = z.object({ data: z.array(z.object({ run_id: z.string() })) })

const hook = async ({ url }: ServerProcess, path: string, token: string) => {
  const response = await fetch(`${url}/webhook/default/production/desk${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` }
  })
  return { status: response.status, body: await response.json() }
}

const input = { permissions: { "webhook:desk": ["execute"] }, metadata: { customer: "c-17", tags: [1, null, "æ"] } }

describe("the reference server", () => {
  it("passes the caller to functions, also after a restart", async () => {
    let server = await startServer(dataDir)
    await server.upload("desk", source)
    const session = Session.parse(await server.call("POST", "/v1/sessions", input)).data
    const key = ServiceKey.parse(await server.call("POST", "/v1/service-keys", input)).data
    const callers = [
      ["session", session.session_id, session.token],
      ["service-key", key.service_key_id, key.token]
    ] as const
    const meta = input.metadata
    const check = async () => {
      for (const [type, id, token] of callers) {
        expect(await hook(server, "/closed", token)).toEqual({
          status: 200,
          body: { auth: { type, [type]: { id, meta } }, caller: { type, id, ...input }, same: true }
        })
        const { body } = await hook(server, "/open", token)
        expect(body).toEqual({ auth: null, caller: null, same: true })
      }
    }
    await check()
    expect(await server.stop()).toBe(0)
    server = await startServer(dataDir)
    try {
      await check()
      const [, latest] = Runs.parse(await server.call("GET", "/v1/runs?limit=2")).data
      const logs = JSON.stringify(await server.call("GET", `/v1/runs/${latest?.run_id}/logs`))
      expect(logs).toContain('"auth":{"type":"***","service-key":"***"}')
      expect(logs).toContain('"authorization":"***"')
      expect(logs).not.toContain("c-17")
      await server.call("DELETE", "/v1/service-keys")
      await server.call("DELETE", `/v1/sessions/${session.session_id}`)
      for (const [, , token] of callers) expect((await hook(server, "/closed", token)).status).toBe(401)
    } finally {
      await server.stop()
    }
  })
})
