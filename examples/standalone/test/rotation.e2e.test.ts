/** Rotation of the master key: no value is lost, and the former key can be removed. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, afterEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { adminToken, type ServerProcess, startServer } from "./ServerProcess.ts"

const dataDir = mkdtempSync(join(tmpdir(), "weft-rotation-"))
let running: ServerProcess | undefined
afterEach(() => running?.kill())
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

const [keyA, keyB, keyC] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte).toString("base64"))
const secret = "a very secret value"
const metadata = { tenant: "a very secret tenant" }

const source = `
export const read = async (request, svc) => ({ secret: await svc.context.get("TOKEN") })
read.meta = { webhook: { service: "vault", path: "/read", method: "POST" } }
export const who = (request) => request.auth
who.meta = { webhook: { service: "vault", path: "/who", method: "POST", auth: "required" } }
`

const start = async (key = "", previous = "", lost = ""): Promise<ServerProcess> => {
  const variables = { WEFT_MASTER_KEY: key, WEFT_MASTER_KEY_PREVIOUS: previous, WEFT_MASTER_KEY_LOST: lost }
  running = await startServer(dataDir, variables)
  return running
}

/** Starts a server that must fail, and returns its output. */
const failedStart = async (key: string): Promise<string> => {
  const lines: Array<string> = []
  const starting = startServer(dataDir, { WEFT_MASTER_KEY: key }, { onOutput: (text) => lines.push(text) })
  await expect(starting).rejects.toThrow("exited with code 1")
  return lines.join("")
}

const end = async (server: ServerProcess): Promise<void> => {
  expect(await server.stop()).toBe(0)
  running = undefined
}

const webhook = (server: ServerProcess, path: string, token = "") =>
  fetch(`${server.url}/webhook/default/production/vault${path}`, {
    method: "POST",
    headers: token === "" ? {} : { authorization: `Bearer ${token}` }
  })

const Token = z.object({ data: z.object({ token: z.string() }) })
const Rotated = z.object({
  data: z.object({ key_id: z.string(), resealed: z.number(), unreadable: z.number() })
})
const Runs = z.object({ data: z.array(z.object({ result: z.unknown() })) })

const tokens: Array<string> = []
/** The id of the second key, which encrypts all values after the rotation. */
let keyId = ""

const expectReadable = async (server: ServerProcess): Promise<void> => {
  expect(await (await webhook(server, "/read")).json()).toEqual({ secret })
  for (const token of tokens) {
    const answer = await webhook(server, "/who", token)
    expect(answer.status).toBe(200)
    expect(JSON.stringify(await answer.json())).toContain(JSON.stringify(metadata))
  }
}

const reseal = async (server: ServerProcess) => Rotated.parse(await server.call("POST", "/admin/secrets/reseal")).data

describe("rotation of the master key", () => {
  it("starts with values encrypted with the first key", async () => {
    const server = await start(keyA)
    await server.upload("vault", source)
    await server.call("POST", "/v1/projects/vault/context", { key: "TOKEN", value: secret })
    const permissions = { "webhook:*": ["execute"] }
    for (const path of ["/v1/sessions", "/v1/service-keys"]) {
      tokens.push(Token.parse(await server.call("POST", path, { name: "k", permissions, metadata })).data.token)
    }
    await expectReadable(server)
    await end(server)
  })

  it("works with both keys, and then with the second key alone", async () => {
    const both = await start(keyB, keyA)
    await expectReadable(both)
    const first = await reseal(both)
    expect(first).toMatchObject({ resealed: 3, unreadable: 0 })
    keyId = first.key_id
    expect(await reseal(both)).toEqual({ ...first, resealed: 0 })
    await expectReadable(both)
    await end(both)

    const alone = await start(keyB)
    await expectReadable(alone)
    await end(alone)
  })

  it.each([
    ["that encrypted no value", keyC],
    ["that is the former key", keyA]
  ])("fails with a clear error with a key %s, and loses no value", async (_, key = "") => {
    const refused = await failedStart(key)
    expect(refused).toMatch(
      /^weft: WEFT_MASTER_KEY has the id [0-9a-f]{16}, but stored secrets need the key with the id /
    )
    expect(refused).toContain(`need the key with the id ${keyId}: add that key to WEFT_MASTER_KEY_PREVIOUS`)
    expect(refused).not.toContain(key)

    const server = await start(key, "", keyId)
    const listed = JSON.stringify(await server.call("GET", "/v1/projects/vault/context"))
    expect(listed).toContain('"key":"TOKEN"')
    expect((await webhook(server, "/read")).status).toBe(500)
    const [run] = Runs.parse(await server.call("GET", "/v1/runs?limit=1")).data
    expect(run?.result).toMatchObject({
      error: { name: "SecretUnreadable", message: "The server cannot decrypt the context variable TOKEN" }
    })
    for (const token of tokens) expect((await webhook(server, "/who", token)).status).toBe(401)
    expect(await reseal(server)).toMatchObject({ resealed: 0, unreadable: 3 })
    expect(server.output()).toMatch(/context_variables [0-9a-f-]{36}\/TOKEN cannot be decrypted with the master keys/)
    expect(server.output()).toMatch(/service_keys [0-9a-f-]{36} cannot be decrypted with the master keys/)
    await end(server)
    for (const hidden of [secret, metadata.tenant, ...tokens, adminToken, key]) {
      expect(server.output()).not.toContain(hidden)
    }

    const again = await start(keyB)
    await expectReadable(again)
    await end(again)
  })
})
