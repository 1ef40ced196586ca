/** A Restate server from npm, on free ports of the loopback interface. */
import { createRequire } from "node:module"
import { daemons, freePort } from "@weft/tooling/services"

export interface RestateServer {
  /** URL of the ingress that calls handlers: `http://127.0.0.1:PORT` */
  readonly ingress: string
  /** URL of the admin API, for deployments and queries. */
  readonly admin: string
  readonly remove: () => Promise<void>
}

const binary = (): string =>
  createRequire(import.meta.url).resolve(
    `@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`
  )

export const restateServer = async (partitions: number): Promise<RestateServer> => {
  const [node, ingress, admin] = await Promise.all([freePort(), freePort(), freePort()])
  const server = daemons("restate", {
    RESTATE_INGRESS__BIND_PORT: String(ingress),
    RESTATE_ADMIN__BIND_PORT: String(admin),
    RESTATE_DISABLE_TELEMETRY: "true",
    RESTATE_LOG_FILTER: "error"
  })
  const options = {
    "listen-mode": "tcp",
    "bind-ip": "127.0.0.1",
    "bind-port": node,
    "advertised-host": "127.0.0.1",
    "node-name": "bench",
    "base-dir": server.dir,
    "default-num-partitions": partitions
  }
  server.begin("restate", binary(), [
    "--no-logo",
    ...Object.entries(options).map(([name, value]) => `--${name}=${value}`)
  ])
  const [ingressUrl, adminUrl] = [`http://127.0.0.1:${ingress}`, `http://127.0.0.1:${admin}`]
  await server.answering("restate", `${adminUrl}/health`)
  await server.answering("restate", `${ingressUrl}/restate/health`)
  return { ingress: ingressUrl, admin: adminUrl, remove: server.remove }
}

/** Sends JSON and returns the text of the response. */
export const post = async (url: string, body: unknown): Promise<string> => {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify(body)
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${url} returned ${response.status}: ${text}`)
  return text
}

/** Registers the handlers that a server at `uri` serves. */
export const register = (admin: string, uri: string): Promise<string> => post(`${admin}/deployments`, { uri })
