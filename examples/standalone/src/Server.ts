/** Puts the server together from its settings and makes, at the first start, what it needs to be used. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { ApiKeys, Resealing, start, Tenants } from "@weft/core"
import { nodeDns } from "@weft/domains"
import { outbound } from "@weft/egress"
import * as Filesystem from "@weft/filesystem"
import * as Http from "@weft/http"
import * as Sandbox from "@weft/sandbox"
import { Effect, Redacted } from "effect"
import manifest from "../package.json" with { type: "json" }
import { backendOf, warningsOf } from "./Backend.ts"
import { asAddressError, asKeyError, asSettingError, foreignSecrets } from "./Fault.ts"
import { inDataDir, keepSecret, openDataDir, randomToken } from "./Secrets.ts"
import type { Settings } from "./Settings.ts"
import type { TracingSettings } from "./TracingSettings.ts"

export interface Server {
  /** Where it listens, as `http://HOST:PORT`. */
  readonly url: string
  /** What is to be said at this start: warnings, and secrets made just now. */
  readonly firstWords: ReadonlyArray<string>
  /** Sends clients to other nodes, lets requests and runs finish for up to 30 s, then ends everything. */
  readonly close: () => Promise<void>
}

/** Rejects with a `SettingError` where another value of a setting would help. */
export const openServer = (settings: Settings): Promise<Server> =>
  open(settings).catch((error: unknown) => {
    throw asSettingError(error, settings)
  })

const open = async (settings: Settings): Promise<Server> => {
  inDataDir(() => openDataDir(settings.dataDir))
  const { limits, runners, runnerBytes } = settings.sandbox
  const { key, made: isKeyMade } = masterKeyOf(settings)
  let url = settings.publicUrl
  const weft = await start({
    publicUrl: () => url,
    ...(await backendOf(settings)),
    sandbox: Sandbox.isolated({
      limits,
      key,
      ...(runners === null ? {} : { runners }),
      ...(runnerBytes === null ? {} : { rssBytes: runnerBytes })
    }),
    egress: outbound({ policy: { allow: settings.egressAllow, traceparent: settings.egressTraceparent } }),
    ...(settings.tracing === null ? {} : { tracing: await tracingOf(settings.tracing) }),
    masterKeys: [key, ...settings.previousMasterKeys],
    deliveries: settings.deliveries,
    ...(settings.leaseMs === null ? {} : { leaseMs: settings.leaseMs }),
    ...(settings.retentionMs === null ? {} : { retentionMs: settings.retentionMs }),
    streams: settings.streams,
    audit: settings.audit,
    domains: domainsOf(settings),
    ...(limits.archiveBytes === undefined ? {} : { archiveBytes: limits.archiveBytes })
  })
  try {
    if (isKeyMade) await weft.runtime.runPromise(refuseForeignSecrets)
    const adminToken = inDataDir(() => adminTokenOf(settings))
    const madeKey = await weft.runtime.runPromise(openTenant(settings))
    const listening = await Http.listen(weft, {
      host: settings.host,
      port: settings.port,
      adminToken: adminToken.token,
      ...(settings.metricsToken === null ? {} : { metricsToken: settings.metricsToken }),
      bodyBytes: settings.bodyBytes,
      heldBodyBytes: settings.heldBodyBytes,
      ...settings.connections,
      trustProxy: settings.trustProxy,
      version: manifest.version,
      ...(settings.gitSha === null ? {} : { gitSha: settings.gitSha }),
      ...(limits.archiveBytes === undefined ? {} : { archiveBytes: limits.archiveBytes })
    }).catch((error: unknown) => {
      throw asAddressError(error, settings)
    })
    url ??= listening.url
    return {
      url: listening.url,
      firstWords: [
        ...warningsOf(settings),
        ...(madeKey === null
          ? []
          : [`API key of ${settings.org}/${settings.env}, shown once: ${Redacted.value(madeKey)}`]),
        ...(adminToken.made ? [`admin token, shown once: ${Redacted.value(adminToken.token)}`] : [])
      ],
      close: async () => {
        // Both at once, or a node could take twice the time.
        await Promise.all([listening.drain({ lingerMs: settings.lingerMs }), weft.drain()])
        await listening.close()
        await weft.close()
      }
    }
  } catch (error) {
    await weft.close()
    throw error
  }
}

const tracingOf = async ({ intervalMs, ...options }: TracingSettings) => {
  const { otlp } = await import("@weft/opentelemetry")
  return otlp({ ...options, ...(intervalMs === null ? {} : { intervalMs }), serviceVersion: manifest.version })
}

/** TLS for custom domains is the matter of the proxy in front, which has certificates of its own. */
const domainsOf = ({ domains: { dnsServers, ...zones } }: Settings) => ({
  ...zones,
  dns: nodeDns(dnsServers === null ? {} : { servers: dnsServers })
})

const masterKeyOf = ({ masterKey, dataDir }: Settings) => {
  if (masterKey !== null) return { key: masterKey, made: false }
  const file = join(dataDir, "master.key")
  const made = !existsSync(file)
  return { key: inDataDir(() => Filesystem.masterKey({ file })), made }
}

/** With a key made just now, nobody could read what is sealed already, and more would be lost with every change. */
const refuseForeignSecrets = Effect.gen(function* () {
  if (yield* (yield* Resealing).opensOthers) return
  return yield* Effect.fail(foreignSecrets)
})

const adminTokenOf = ({ adminToken, dataDir }: Settings) => {
  if (adminToken !== null) return { token: adminToken, made: false }
  const { value, made } = keepSecret(dataDir, "admin.token", () => randomToken(32))
  return { token: Redacted.make(value), made }
}

/**
 * The default organization, environment and API key. Gives the key's token when it was made just now.
 *
 * Several nodes may do this at once: who comes second takes what the first has made.
 */
const openTenant = Effect.fnUntraced(function* (settings: Settings) {
  const tenants = yield* Tenants
  const apiKeys = yield* ApiKeys
  const { env } = yield* tenants.ensure({ org: settings.org, env: settings.env })
  if (settings.apiKey !== null) {
    yield* apiKeys.ensure(env.env_id, settings.apiKey).pipe(Effect.mapError(asKeyError))
    return null
  }
  const { total } = yield* apiKeys.list(env.env_id, { limit: 1, offset: 0 })
  if (total > 0) return null
  // Its id is that of the environment, so that there cannot be two.
  const token = Redacted.make(`svc_${env.env_id}_${randomToken(32)}`)
  return yield* apiKeys.ensure(env.env_id, token).pipe(
    Effect.as(token),
    Effect.catchTag("BadRequest", () => Effect.succeed(null))
  )
})
