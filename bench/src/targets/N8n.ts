/** n8n, with the function in a code node between `webhook` and `respond`. */
import { randomUUID } from "node:crypto"
import { daemons, freePort } from "@weft/tooling/services"
import { type HookServer, type HookTarget, indexes } from "./HookServer.ts"
import { peerFile, peerVersion } from "./Peers.ts"

const code = `const { body } = $input.first().json
return [{ json: { hello: "world", items: body?.items?.length ?? 0 } }]`

const buildWorkflow = (path: string): unknown => {
  const node = (name: string, type: string, typeVersion: number, parameters: unknown, more = {}) => ({
    ...{ id: `${path}-${name}`, name, type: `n8n-nodes-base.${type}`, typeVersion, position: [0, 0], parameters },
    ...more
  })
  const toCode = [{ node: "code", type: "main", index: 0 }]
  return {
    name: path,
    nodes: [
      node(
        "hook",
        "webhook",
        2,
        { multipleMethods: true, httpMethod: ["GET", "POST"], path, responseMode: "responseNode", options: {} },
        { webhookId: path }
      ),
      node("code", "code", 2, { mode: "runOnceForAllItems", language: "javaScript", jsCode: code }),
      node("respond", "respondToWebhook", 1.1, { respondWith: "firstIncomingItem", options: {} })
    ],
    // One output per method.
    connections: { hook: { main: [toCode, toCode] }, code: { main: [[{ ...toCode[0], node: "respond" }]] } },
    settings: { executionOrder: "v1" }
  }
}

const buildEnvironment = (dir: string, port: number, brokerPort: number): Readonly<Record<string, string>> => ({
  NODE_ENV: "production",
  N8N_USER_FOLDER: dir,
  N8N_LISTEN_ADDRESS: "127.0.0.1",
  N8N_PORT: String(port),
  N8N_RUNNERS_BROKER_PORT: String(brokerPort),
  N8N_LOG_LEVEL: "warn",
  N8N_DISABLE_UI: "true",
  N8N_PUBLIC_API_DISABLED: "true",
  // No requests to other hosts.
  N8N_DIAGNOSTICS_ENABLED: "false",
  N8N_VERSION_NOTIFICATIONS_ENABLED: "false",
  N8N_VERSION_NOTIFICATIONS_WHATS_NEW_ENABLED: "false",
  N8N_TEMPLATES_ENABLED: "false",
  N8N_PERSONALIZATION_ENABLED: "false",
  N8N_AI_ENABLED: "false"
})

/** Response to the creation or activation of a workflow. */
interface Answer {
  readonly data: { readonly id: string; readonly versionId: string }
}

/** Creates the owner account, and returns a function that sends requests to the API. */
const setUpOwner = async (origin: string): Promise<(path: string, body: unknown) => Promise<Answer>> => {
  const post = async (path: string, body: unknown, cookie = ""): Promise<Response> => {
    const headers = { "content-type": "application/json", cookie }
    const response = await fetch(`${origin}/rest${path}`, { method: "POST", headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`n8n: POST ${path} returned ${response.status}: ${await response.text()}`)
    return response
  }
  const owner = { email: "owner@example.com", firstName: "Bench", lastName: "Mark", password: `Aa1${randomUUID()}` }
  const cookie = (await post("/owner/setup", owner)).headers.get("set-cookie")?.split(";")[0]
  return async (path, body) => JSON.parse(await (await post(path, body, cookie)).text())
}

const startN8n = async (builds: number): Promise<HookServer> => {
  const server = daemons("n8n")
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const environment = Object.entries(buildEnvironment(server.dir, port, await freePort()))
  server.begin("n8n", "env", [
    ...environment.map(([name, value]) => `${name}=${value}`),
    ...[process.execPath, peerFile("n8n/bin/n8n", "n8n"), "start"]
  ])
  await server.answering("n8n", `${origin}/healthz/readiness`)
  const request = await setUpOwner(origin)
  const paths = ["hello", ...indexes(builds).map((index) => `b${index}`)]
  for (const path of paths) {
    const { data } = await request("/workflows", buildWorkflow(path))
    await request(`/workflows/${data.id}/activate`, { versionId: data.versionId })
  }
  const [url = "", ...manyUrls] = paths.map((path) => `${origin}/webhook/${path}`)
  return { url, manyUrls, close: server.remove }
}

export const n8n: HookTarget = {
  name: "n8n",
  needs: "n8n",
  settings: () =>
    `${peerVersion("n8n", "n8n")}; executions are saved with the data of all nodes (default), on SQLite with its default pool, WAL and synchronous=FULL; code in its JavaScript task runner (default); NODE_ENV=production, no user interface; webhook → code → respond, one workflow per build`,
  start: startN8n
}
