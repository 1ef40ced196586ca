/** Assembles the server from its settings. The first start also creates a tenant and credentials. */
import { join } from "node:path"
import { ApiKeys, start, Tenants } from "@weft/core"
import { NodeDns } from "@weft/domains"
import { egress } from "@weft/egress"
import * as Filesystem from "@weft/filesystem"
import * as Http from "@weft/http"
import * as IsolatedVm from "@weft/sandbox"
import { Effect, Redacted } from "effect"
import manifest from "../package.json" with { type: "json" }
import { findWarnings, openBackend } from "./Backend.ts"
import { readHostChecks } from "./HostChecks.ts"
import { inDataDir, openDataDir, randomToken, readOrCreateSecret } from "./Secrets.ts"
import { toAddressError, toKeyError, toSettingError } from "./SettingErrors.ts"
import { hostToken, type Settings } from "./Settings.ts"
import type { TracingSettings } from "./TracingSettings.ts"

export interface Server {
  /** Address of the server, `http://HOST:PORT`. */
  readonly url: string
  /** Lines to print: warnings and new secrets. */
  readonly startupLines: ReadonlyArray<string>
  /** Disconnects clients, waits up to 30 s for requests and runs, then closes everything. */
  readonly close: () => Promise<void>
}

/** Starts the server. Rejects with a `SettingError` if the operator can correct a setting. */
export const openServer = (settings: Settings): Promise<Server> =>
  open(settings).catch((error: unknown) => {
    throw toSettingError(error, settings)
  })

const open = async (settings: Settings): Promise<Server> => {
  inDataDir(() => openDataDir(settings.dataDir))
  const { limits, runners, runnerBytes } = settings.sandbox
  const key = readMasterKey(settings)
  let url = settings.publicUrl
  const weft = await start({
    publicUrl: () => url,
    ...(await openBackend(settings)),
    sandbox: IsolatedVm.sandbox({
      limits,
      key,
      ...(runners === null ? {} : { runners }),
      ...(runnerBytes === null ? {} : { rssBytes: runnerBytes })
    }),
    plans: { "Self-Host": { tcp_sockets_per_run: settings.tcpSocketsPerRun } },
    egress: egress({ policy: { allow: settings.egressAllow, traceparent: settings.egressTraceparent } }),
    ...(settings.tracing === null ? {} : { tracing: await openTracing(settings.tracing) }),
    masterKeys: [key, ...settings.previousMasterKeys],
    lostMasterKeys: settings.lostMasterKeys,
    newInstallation: settings.newInstallation,
    deliveries: settings.deliveries,
    ...(settings.leaseMs === null ? {} : { leaseMs: settings.leaseMs }),
    ...(settings.retentionMs === null ? {} : { retentionMs: settings.retentionMs }),
    ...(settings.scrubBytesPerSecond === null ? {} : { scrub: { bytesPerSecond: settings.scrubBytesPerSecond } }),
    streams: settings.streams,
    audit: settings.audit,
    domains: domainOptions(settings),
    ...(limits.archiveBytes === undefined ? {} : { archiveBytes: limits.archiveBytes })
  })
  try {
    const adminToken = inDataDir(() => readAdminToken(settings))
    const newKey = await weft.runtime.runPromise(ensureTenant(settings))
    const listening = await Http.listen(weft, {
      host: settings.host,
      port: settings.port,
      adminToken: adminToken.token,
      ...(settings.metricsToken === null ? {} : { metricsToken: settings.metricsToken }),
      bodyBytes: settings.bodyBytes,
      bufferedBodyBytes: settings.bufferedBodyBytes,
      ...settings.connections,
      trustProxy: settings.trustProxy,
      mcp: settings.mcp,
      console: settings.console,
      consoleEmbeddedIn: settings.consoleEmbeddedIn,
      checks: () => readHostChecks(settings, adminToken.token),
      version: manifest.version,
      ...(settings.gitSha === null ? {} : { gitSha: settings.gitSha }),
      ...(limits.archiveBytes === undefined ? {} : { archiveBytes: limits.archiveBytes })
    }).catch((error: unknown) => {
      throw toAddressError(error, settings)
    })
    url ??= listening.url
    return {
      url: listening.url,
      startupLines: [
        ...findWarnings(settings),
        ...(newKey === null
          ? []
          : [`API key of ${settings.org}/${settings.env}, shown once: ${Redacted.value(newKey)}`]),
        ...(adminToken.isNew ? [`admin token, shown once: ${Redacted.value(adminToken.token)}`] : [])
      ],
      close: async () => {
        // In parallel, because both may take the full grace period.
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

const openTracing = async ({ intervalMs, ...options }: TracingSettings) => {
  const { tracing } = await import("@weft/opentelemetry")
  return tracing({ ...options, ...(intervalMs === null ? {} : { intervalMs }), serviceVersion: manifest.version })
}

/** Options of custom domains. The proxy in front of the server terminates TLS with its own certificates. */
const domainOptions = ({ domains: { dnsServers, ...zones } }: Settings) => ({
  ...zones,
  dns: NodeDns.dns(dnsServers === null ? {} : { servers: dnsServers })
})

const readMasterKey = ({ masterKey, dataDir }: Settings) =>
  masterKey ?? inDataDir(() => Filesystem.masterKey({ file: join(dataDir, "master.key") }))

const readAdminToken = ({ adminToken, dataDir }: Settings) => {
  if (adminToken !== null) return { token: adminToken, isNew: false }
  const { value, isNew } = readOrCreateSecret(dataDir, "admin.token", () => randomToken(32))
  return { token: hostToken("WEFT_ADMIN_TOKEN", value), isNew }
}

/**
 * Creates the default organization, environment and API key. Returns the token of a new key, otherwise null.
 *
 * Several nodes may do this concurrently: all use what the first one creates.
 */
const ensureTenant = Effect.fnUntraced(function* (settings: Settings) {
  const tenants = yield* Tenants
  const apiKeys = yield* ApiKeys
  const { env } = yield* tenants.ensure({ org: settings.org, env: settings.env })
  if (settings.apiKey !== null) {
    yield* apiKeys.ensure(env.env_id, settings.apiKey).pipe(Effect.mapError(toKeyError))
    return null
  }
  const { total } = yield* apiKeys.list(env.env_id, { limit: 1, offset: 0 })
  if (total > 0) return null
  // The id of the key is that of the environment, so that concurrent nodes cannot create two.
  const token = Redacted.make(`svc_${env.env_id}_${randomToken(32)}`)
  return yield* apiKeys.ensure(env.env_id, token).pipe(
    Effect.as(token),
    Effect.catchTag("BadRequest", () => Effect.succeed(null))
  )
})
