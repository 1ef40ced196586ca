/** Starts Weft in this process, with embedded defaults for what the host does not bring. */
import { join } from "node:path"
import { EnvId, type PlanOverrides, type RuntimeConfig, type StartOptions, start, type WeftInstance } from "@weft/core"
import { registerFace } from "@weft/core/internal"
import { Redacted } from "effect"
import { toAlertNotification } from "./alerts.ts"
import { toApiKey, toAuditEntry, toEnv, toOrg, toPage } from "./convert.ts"
import { toEnvHandle } from "./EnvHandle.ts"
import { rejecting } from "./errors.ts"
import { toCoreFunctions } from "./hostFunction.ts"
import { reveal, toAuditQuery, toPageRequest } from "./inputs.ts"
import { checkTokens, makeMounts } from "./mounts.ts"
import type { TenantHandle, TenantName, Weft } from "./Weft.ts"
import type { MasterKey, PlanLimits, PlanName, ProvisioningOptions, WeftOptions } from "./WeftOptions.ts"

const masterKeyBytes = 32

/**
 * Starts Weft and resolves when it runs deliveries. Rejects with an error that names the option if one is missing or
 * invalid, and if a store cannot be opened.
 */
export const createWeft = async (options: WeftOptions): Promise<Weft> => {
  checkTokens(options.http)
  const instance = await start(await toStartOptions(options))
  const mounts = makeMounts(instance, options.http, options.limits)
  const weft: Weft = {
    ...toRecords(instance),
    env: (envId) => toEnvHandle(instance.env(toEnvId(envId)), envId),
    ...mounts,
    drain: () => instance.drain(),
    close: async () => {
      await mounts.close()
      await instance.close()
    }
  }
  registerFace(weft, instance)
  return weft
}

const toStartOptions = async (options: WeftOptions): Promise<StartOptions> => {
  const { limits = {}, host, plans, onAlert, provisioning, publicUrl, domains, cluster, tracing } = options
  const masterKeys = await openMasterKeys(options)
  return {
    masterKeys,
    ...(options.newInstallation === undefined ? {} : { newInstallation: options.newInstallation }),
    ...(options.lostMasterKeys === undefined ? {} : { lostMasterKeys: options.lostMasterKeys }),
    database:
      options.database ?? (await import("@weft/sqlite")).database({ file: inDataDir(options, "database", "weft.db") }),
    blobs: options.blobs ?? (await import("@weft/filesystem")).blobs({ dir: inDataDir(options, "blobs", "blobs") }),
    sandbox: options.sandbox ?? (await openSandbox(masterKeys, limits.archiveBytes)),
    ...(options.egress === null ? {} : { egress: options.egress ?? (await import("@weft/egress")).egress() }),
    ...(cluster === undefined ? {} : { cluster: cluster }),
    ...(tracing === undefined ? {} : { tracing }),
    ...(limits.archiveBytes === undefined ? {} : { archiveBytes: limits.archiveBytes }),
    ...(limits.deliveries === undefined ? {} : { deliveries: limits.deliveries }),
    ...(limits.leaseMs === undefined ? {} : { leaseMs: limits.leaseMs }),
    ...(limits.scrubBytesPerSecond === undefined ? {} : { scrub: { bytesPerSecond: limits.scrubBytesPerSecond } }),
    ...(limits.retentionMs === undefined ? {} : { retentionMs: limits.retentionMs }),
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(domains === undefined ? {} : { domains }),
    ...(host === undefined ? {} : { host: toCoreFunctions(host) }),
    ...(plans === undefined ? {} : { plans: toPlanOverrides(plans) }),
    ...(onAlert === undefined ? {} : { onAlert: (alert) => onAlert(toAlertNotification(alert)) }),
    ...(provisioning === undefined ? {} : { provisioning: toProvisioning(provisioning) })
  }
}

/** Returns a path in `dataDir`, which must be given if the option is not. */
const inDataDir = ({ dataDir }: WeftOptions, option: string, name: string): string => {
  if (dataDir === undefined || dataDir === "") {
    throw new TypeError(`\`dataDir\` is missing: give createWeft a folder for its data, or \`${option}\``)
  }
  return join(dataDir, name)
}

const openMasterKeys = async (options: WeftOptions): Promise<RuntimeConfig["masterKeys"]> => {
  if (options.masterKeys === undefined) {
    const { masterKey } = await import("@weft/filesystem")
    return [masterKey({ file: inDataDir(options, "masterKeys", "master.key") })]
  }
  const [current, ...former] = options.masterKeys
  return [readMasterKey(current, 0), ...former.map((key, index) => readMasterKey(key, index + 1))]
}

const readMasterKey = (key: MasterKey, index: number): Redacted.Redacted<Uint8Array> => {
  const bytes = typeof key === "string" ? new Uint8Array(Buffer.from(key.trim(), "base64url")) : key
  if (bytes.length !== masterKeyBytes) {
    throw new TypeError(`\`masterKeys[${index}]\` must have ${masterKeyBytes} bytes (got ${bytes.length})`)
  }
  return Redacted.make(bytes)
}

const openSandbox = async (
  [key]: RuntimeConfig["masterKeys"],
  archiveBytes: number | undefined
): Promise<StartOptions["sandbox"]> => {
  const { sandbox } = await import("@weft/sandbox")
  return sandbox({ key, ...(archiveBytes === undefined ? {} : { limits: { archiveBytes } }) })
}

const toPlanOverrides = (plans: { readonly [Name in PlanName]?: Partial<PlanLimits> }): PlanOverrides =>
  Object.fromEntries(Object.entries(plans).map(([name, limits]) => [name, toSnakeCase(limits)]))

/** Plans are flat records: only their names differ. */
const toSnakeCase = (limits: Partial<PlanLimits>): Record<string, number | string> =>
  Object.fromEntries(
    Object.entries(limits).map(([name, limit]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      limit
    ])
  )

const toProvisioning = ({
  admit,
  onOrgCreated,
  onEnvCreated
}: ProvisioningOptions): NonNullable<StartOptions["provisioning"]> => ({
  ...(admit === undefined ? {} : { admit: (request) => admit(request) }),
  ...(onOrgCreated === undefined ? {} : { onOrgCreated: (org) => onOrgCreated(toOrg(org)) }),
  ...(onEnvCreated === undefined ? {} : { onEnvCreated: (tenant) => onEnvCreated(toTenantHandle(tenant)) })
})

const toTenantHandle = (tenant: Awaited<ReturnType<WeftInstance["tenants"]["ensure"]>>): TenantHandle => ({
  ...toEnvHandle(tenant, tenant.env.env_id),
  org: toOrg(tenant.org),
  env: toEnv(tenant.env)
})

const toTenantRequest = (tenant: string | TenantName) => {
  const { env = "production", ...named } = typeof tenant === "string" ? { org: tenant } : tenant
  return { env, ...named }
}

/** Ids are checked where they are looked up: an unknown one is `not_found`. */
const toEnvId = (envId: string): EnvId => EnvId.make(envId, { disableChecks: true })

const toRecords = (
  instance: WeftInstance
): Pick<Weft, "orgs" | "envs" | "tenants" | "apiKeys" | "audit" | "secrets"> => {
  const { orgs, envs, tenants, apiKeys, audit, secrets } = instance
  return {
    orgs: {
      create: (input) => rejecting(async () => toOrg(await orgs.create(input))),
      list: (page) => rejecting(async () => toPage(toOrg)(await orgs.list(toPageRequest(page)))),
      get: (idOrSlug) => rejecting(async () => toOrg(await orgs.get(idOrSlug))),
      update: (idOrSlug, change) => rejecting(async () => toOrg(await orgs.update(idOrSlug, change)))
    },
    envs: {
      create: (org, input) => rejecting(async () => toEnv(await envs.create(org, input))),
      list: (org, page) => rejecting(async () => toPage(toEnv)(await envs.list(org, toPageRequest(page)))),
      get: (envId) => rejecting(async () => toEnv(await envs.get(envId)))
    },
    tenants: {
      ensure: (tenant) => rejecting(async () => toTenantHandle(await tenants.ensure(toTenantRequest(tenant))))
    },
    apiKeys: {
      create: (envId, input) =>
        rejecting(async () => {
          const { key, token } = await apiKeys.create(toEnvId(envId), input)
          return { key: toApiKey(key), token: reveal(token) }
        }),
      list: (envId, page) =>
        rejecting(async () => toPage(toApiKey)(await apiKeys.list(toEnvId(envId), toPageRequest(page)))),
      update: (envId, apiKeyId, change) =>
        rejecting(async () => toApiKey(await apiKeys.update(toEnvId(envId), apiKeyId, change))),
      remove: (envId, apiKeyId) => rejecting(() => apiKeys.remove(toEnvId(envId), apiKeyId))
    },
    audit: {
      list: ({ envId, ...query } = {}, page) =>
        rejecting(async () =>
          toPage(toAuditEntry)(
            await audit.list(
              { ...toAuditQuery(query), ...(envId === undefined ? {} : { env_id: toEnvId(envId) }) },
              toPageRequest(page)
            )
          )
        )
    },
    secrets: {
      rotateKeys: () =>
        rejecting(async () => {
          const { key_id, resealed, unreadable } = await secrets.reseal()
          return { keyId: key_id, rotated: resealed, unreadable }
        })
    }
  }
}
