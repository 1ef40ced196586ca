/** Puts the server together from its settings and makes, at the first start, what it needs to be used. */
import { join } from "node:path"
import { ApiKeys, type Env, start, Tenants } from "@weft/core"
import { nodeDns } from "@weft/domains"
import { outbound } from "@weft/egress"
import * as Filesystem from "@weft/filesystem"
import * as Http from "@weft/http"
import * as Sandbox from "@weft/sandbox"
import * as Sqlite from "@weft/sqlite"
import { Effect, Redacted } from "effect"
import manifest from "../package.json" with { type: "json" }
import { keepSecret, openDataDir, randomToken } from "./Secrets.ts"
import type { Settings } from "./Settings.ts"

export interface Server {
  readonly url: string
  /** What is to be said at this start and never again: secrets made just now. */
  readonly firstWords: ReadonlyArray<string>
  /** Stops accepting, lets requests and runs finish for up to 30 s. */
  readonly close: () => Promise<void>
}

export const openServer = async (settings: Settings): Promise<Server> => {
  openDataDir(settings.dataDir)
  const { limits, runners, runnerBytes } = settings.sandbox
  const key = settings.masterKey ?? Filesystem.masterKey({ file: join(settings.dataDir, "master.key") })
  let url = settings.publicUrl
  const weft = await start({
    publicUrl: () => url,
    stores: Sqlite.stores({ file: settings.databaseFile ?? join(settings.dataDir, "weft.db") }),
    blobs: Filesystem.blobs({ dir: settings.storageDir ?? join(settings.dataDir, "blobs") }),
    sandbox: Sandbox.isolated({
      limits,
      key,
      ...(runners === null ? {} : { runners }),
      ...(runnerBytes === null ? {} : { rssBytes: runnerBytes })
    }),
    egress: outbound({ policy: { allow: settings.egressAllow } }),
    masterKeys: [key, ...settings.previousMasterKeys],
    deliveries: settings.deliveries,
    streams: settings.streams,
    domains: domainsOf(settings),
    ...(limits.archiveBytes === undefined ? {} : { archiveBytes: limits.archiveBytes })
  })
  try {
    const adminToken = adminTokenOf(settings)
    const madeKey = await weft.runtime.runPromise(openTenant(settings))
    const listening = await Http.listen(weft, {
      host: settings.host,
      port: settings.port,
      adminToken: adminToken.token,
      ...(settings.metricsToken === null ? {} : { metricsToken: settings.metricsToken }),
      bodyBytes: settings.bodyBytes,
      trustProxy: settings.trustProxy,
      version: manifest.version,
      ...(limits.archiveBytes === undefined ? {} : { archiveBytes: limits.archiveBytes })
    })
    url ??= listening.url
    return {
      url,
      firstWords: [
        ...(madeKey === null
          ? []
          : [`API key of ${settings.org}/${settings.env}, shown once: ${Redacted.value(madeKey)}`]),
        ...(adminToken.made ? [`admin token, shown once: ${Redacted.value(adminToken.token)}`] : [])
      ],
      close: async () => {
        await listening.close()
        await weft.close()
      }
    }
  } catch (error) {
    await weft.close()
    throw error
  }
}

/** TLS for custom domains is the matter of the proxy in front, which has certificates of its own. */
const domainsOf = ({ domains: { dnsServers, ...zones } }: Settings) => ({
  ...zones,
  dns: nodeDns(dnsServers === null ? {} : { servers: dnsServers })
})

const adminTokenOf = (settings: Settings): { readonly token: Redacted.Redacted<string>; readonly made: boolean } => {
  if (settings.adminToken !== null) return { token: settings.adminToken, made: false }
  const kept = keepSecret(settings.dataDir, "admin.token", () => randomToken(32))
  return { token: Redacted.make(kept.value), made: kept.made }
}

/** The default organization, environment and API key. Gives the key's token when it was made just now. */
const openTenant = Effect.fnUntraced(function* (settings: Settings) {
  const tenants = yield* Tenants
  const apiKeys = yield* ApiKeys
  const org = yield* Effect.catchTag(tenants.getOrg(settings.org), "NotFound", () =>
    tenants.createOrg({ slug: settings.org })
  )
  const env: Env = yield* Effect.catchTag(tenants.resolve(org.slug, settings.env), "NotFound", () =>
    tenants.createEnv(org.org_id, { name: settings.env })
  )
  if (settings.apiKey !== null) {
    yield* apiKeys.ensure(env.env_id, settings.apiKey)
    return null
  }
  const { total } = yield* apiKeys.list(env.env_id, { limit: 1, offset: 0 })
  if (total > 0) return null
  const { token } = yield* apiKeys.create(env.env_id, { name: "first key" })
  return token
})
