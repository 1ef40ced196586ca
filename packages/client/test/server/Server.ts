/** A Weft behind a real HTTP server, with clients. */
import { type ClientOptions, createClient, type WeftClient } from "@weft/client"
import { start, type WeftInstance } from "@weft/core"
import { MemoryStores, trustedSandbox } from "@weft/core/testing"
import * as Http from "@weft/http"
import { Redacted } from "effect"
import { modules } from "./functions.ts"
import { Requests } from "./Requests.ts"

const adminToken = "admin-token-of-the-tests"

export class Server {
  readonly weft: WeftInstance
  readonly listening: Http.Listening
  readonly token: string
  readonly envId: string

  private constructor(weft: WeftInstance, listening: Http.Listening, envId: string, token: string) {
    this.weft = weft
    this.listening = listening
    this.envId = envId
    this.token = token
  }

  static async start(options: Http.ListenOptions = {}): Promise<Server> {
    const weft = await startWeft()
    const { envId, token } = await tenant(weft)
    const listening = await Http.listen(weft, { port: 0, adminToken: Redacted.make(adminToken), ...options })
    return new Server(weft, listening, envId, token)
  }

  /** Creates a client with short delays, and records its requests. */
  client(options: Partial<ClientOptions> = {}): { readonly weft: WeftClient; readonly requests: Requests } {
    const requests = new Requests()
    const weft = createClient({
      baseUrl: this.listening.url,
      token: this.token,
      adminToken,
      fetch: requests.fetch,
      retry: { baseMs: 5, maxMs: 2_000 },
      ...options
    })
    return { weft, requests }
  }

  async close(): Promise<void> {
    await this.listening.close({ graceMs: 1_000 })
    await this.weft.close()
  }
}

export const startWeft = (): Promise<WeftInstance> =>
  start({
    database: MemoryStores.database,
    blobs: MemoryStores.blobs,
    sandbox: trustedSandbox(modules),
    masterKeys: [Redacted.make(new Uint8Array(32).fill(7))],
    publicUrl: () => "https://weft.example.net"
  })

/** Creates an environment with an unrestricted API key. */
export const tenant = async (weft: WeftInstance): Promise<{ readonly envId: string; readonly token: string }> => {
  const org = await weft.orgs.create({ slug: "acme" })
  const env = await weft.envs.create(org.slug, { name: "prod" })
  const { token } = await weft.apiKeys.create(env.env_id, {})
  return { envId: env.env_id, token: Redacted.value(token) }
}

/** Creates a project `shop` with a deployed build. */
export const deploy = async (weft: WeftClient, zip: Uint8Array): Promise<{ readonly build_id: string }> => {
  await weft.projects.create({ name: "shop" })
  const { build_id } = await weft.builds.upload("shop", zip)
  return weft.builds.deploy("shop", build_id)
}
