/**
 * Stores that add an entry to the audit log in the transaction of each audited change.
 *
 * The audit is in the stores and not in the services, because every change passes through the stores.
 */
import { Context, Effect, Layer } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import { iso } from "../../foundation/time/Timestamp.ts"
import { ApiKeyStore } from "../../tenants/access/ApiKeyStore.ts"
import { ServiceKeyStore } from "../../tenants/access/ServiceKeyStore.ts"
import { SessionStore } from "../../tenants/access/SessionStore.ts"
import { TenantStore } from "../../tenants/orgs/TenantStore.ts"
import type { Build } from "../builds/Build.ts"
import { BuildStore } from "../builds/BuildStore.ts"
import type { Canary } from "../builds/Canary.ts"
import { CanaryStore } from "../builds/CanaryStore.ts"
import { DomainStore } from "../domains/DomainStore.ts"
import type { Preview } from "../previews/Preview.ts"
import { PreviewStore } from "../previews/PreviewStore.ts"
import { ProjectStore } from "../projects/ProjectStore.ts"
import { ContextVariableStore } from "../secrets/ContextVariableStore.ts"
import { type AuditFacts, makeEntries } from "./AuditFacts.ts"
import { AuditStore } from "./AuditStore.ts"

type Audited =
  | ApiKeyStore
  | SessionStore
  | ServiceKeyStore
  | ContextVariableStore
  | DomainStore
  | BuildStore
  | CanaryStore
  | ProjectStore
  | PreviewStore
  | TenantStore

/** Runs a change with an audit entry. `facts` returns null if nothing was changed. */
type Audit = <A, E>(
  change: Effect.Effect<A, E>,
  facts: (result: A) => AuditFacts | null
) => Effect.Effect<A, E | StoreUnavailable>

export const auditedStores: Layer.Layer<Audited, never, Audited | AuditStore | SecureRandom.SecureRandom> =
  Layer.effectContext(
    Effect.gen(function* () {
      const store = yield* AuditStore
      const entries = yield* makeEntries
      const audit: Audit = (change, facts) =>
        Effect.flatMap(entries, (toEntry) =>
          store.within(change, (result) => {
            const audited = facts(result)
            return audited === null ? null : toEntry(audited)
          })
        )
      return Context.make(ApiKeyStore, apiKeys(yield* ApiKeyStore, audit)).pipe(
        Context.add(SessionStore, sessions(yield* SessionStore, audit)),
        Context.add(ServiceKeyStore, serviceKeys(yield* ServiceKeyStore, audit)),
        Context.add(ContextVariableStore, contextVariables(yield* ContextVariableStore, audit)),
        Context.add(DomainStore, domains(yield* DomainStore, audit)),
        Context.add(BuildStore, builds(yield* BuildStore, audit)),
        Context.add(CanaryStore, canaries(yield* CanaryStore, audit)),
        Context.add(ProjectStore, projects(yield* ProjectStore, audit)),
        Context.add(PreviewStore, previews(yield* PreviewStore, audit)),
        Context.add(TenantStore, tenants(yield* TenantStore, audit))
      )
    })
  )

const apiKeys = (store: ApiKeyStore["Service"], audit: Audit): ApiKeyStore["Service"] => {
  const insert = (key: Parameters<typeof store.insert>[0]) =>
    audit(store.insert(key), () => ({
      action: "api_key.create",
      env_id: key.env_id,
      object_id: key.api_key_id,
      object_name: key.name,
      details: { permissions: key.permissions }
    }))
  return {
    ...store,
    // An existing key is not changed, so there is no entry: a server inserts its configured key at every start.
    insert: (key) =>
      Effect.matchEffect(store.find(key.api_key_id), {
        onSuccess: () => store.insert(key),
        onFailure: (error) => (error._tag === "NotFound" ? insert(key) : Effect.fail(error))
      }),
    update: (key) =>
      audit(store.update(key), () => ({
        action: "api_key.update",
        env_id: key.env_id,
        object_id: key.api_key_id,
        object_name: key.name,
        details: { enabled: key.enabled, permissions: key.permissions }
      })),
    remove: (envId, id) =>
      audit(store.remove(envId, id), () => ({ action: "api_key.remove", env_id: envId, object_id: id }))
  }
}

const sessions = (store: SessionStore["Service"], audit: Audit): SessionStore["Service"] => ({
  ...store,
  insert: (session, now, activeMax) =>
    audit(store.insert(session, now, activeMax), (isStored) =>
      isStored
        ? {
            action: "session.create",
            env_id: session.env_id,
            object_id: session.session_id,
            details: { permissions: session.permissions, expires_at: iso(session.expires_at) }
          }
        : null
    ),
  remove: (apiKeyId, id, now) =>
    audit(store.remove(apiKeyId, id, now), () => ({ action: "session.revoke", object_id: id })),
  removeAll: (apiKeyId, now) =>
    audit(store.removeAll(apiKeyId, now), (ids) => ({
      action: "session.revoke_all",
      details: { revoked: ids.length }
    }))
})

const serviceKeys = (store: ServiceKeyStore["Service"], audit: Audit): ServiceKeyStore["Service"] => ({
  ...store,
  insert: (key) =>
    audit(store.insert(key), () => ({
      action: "service_key.create",
      env_id: key.env_id,
      object_id: key.service_key_id,
      object_name: key.name,
      details: { permissions: key.permissions, expires_at: key.expires_at === null ? null : iso(key.expires_at) }
    })),
  revoke: (apiKeyId, id, at) =>
    audit(store.revoke(apiKeyId, id, at), () => ({ action: "service_key.revoke", object_id: id })),
  revokeAll: (apiKeyId, at) =>
    audit(store.revokeAll(apiKeyId, at), (ids) => ({
      action: "service_key.revoke_all",
      details: { revoked: ids.length }
    }))
})

/** Audits context variables, whose identity is the project's id and the key. */
const contextVariables = (store: ContextVariableStore["Service"], audit: Audit): ContextVariableStore["Service"] => ({
  ...store,
  insert: (variable) =>
    audit(store.insert(variable), () => ({
      action: "context.create",
      env_id: variable.env_id,
      object_id: variable.project_id,
      object_name: variable.key
    })),
  update: (envId, projectId, key, change) =>
    audit(store.update(envId, projectId, key, change), () => ({
      action: "context.update",
      env_id: envId,
      object_id: projectId,
      object_name: key,
      details: { value_changed: change.value !== undefined }
    })),
  remove: (envId, projectId, key) =>
    audit(store.remove(envId, projectId, key), () => ({
      action: "context.remove",
      env_id: envId,
      object_id: projectId,
      object_name: key
    }))
})

const domains = (store: DomainStore["Service"], audit: Audit): DomainStore["Service"] => ({
  ...store,
  insert: (domain, limit) =>
    audit(store.insert(domain, limit), () => ({
      action: "domain.add",
      env_id: domain.env_id,
      object_id: domain.domain_id,
      object_name: domain.domain
    })),
  beginRemoval: (envId, id, now) =>
    audit(store.beginRemoval(envId, id, now), ({ domain }) => ({
      action: "domain.remove",
      env_id: envId,
      object_id: id,
      object_name: domain
    }))
})

const canaries = (store: CanaryStore["Service"], audit: Audit): CanaryStore["Service"] => {
  const toFacts = (action: AuditFacts["action"], canary: Canary, details: AuditFacts["details"]): AuditFacts => ({
    action,
    env_id: canary.env_id,
    object_id: canary.build_id,
    details: { project_id: canary.project_id, base_build_id: canary.base_build_id, ...details }
  })
  return {
    ...store,
    begin: (canary, manifest, replace) =>
      audit(store.begin(canary, manifest, replace), () =>
        toFacts("canary.start", canary, {
          share: canary.settings.share,
          window_ms: canary.settings.window_ms,
          promote: canary.settings.promote
        })
      ),
    // The deployment that replaces a canary has an entry of its own.
    end: (envId, id, end) =>
      audit(store.end(envId, id, end), (canary) =>
        end.state === "replaced"
          ? null
          : toFacts(end.state === "promoted" ? "canary.promote" : "canary.rollback", canary, { reason: end.reason })
      )
  }
}

const builds = (store: BuildStore["Service"], audit: Audit): BuildStore["Service"] => {
  const toFacts = (action: "build.deploy" | "build.go_live", build: Build): AuditFacts => ({
    action,
    env_id: build.env_id,
    object_id: build.build_id,
    details: { project_id: build.project_id, hash: build.hash }
  })
  return {
    ...store,
    deploy: (build, manifest, at) => audit(store.deploy(build, manifest, at), () => toFacts("build.deploy", build)),
    goLive: (build, manifest) => audit(store.goLive(build, manifest), () => toFacts("build.go_live", build)),
    endLive: (envId, projectId, at) =>
      audit(store.endLive(envId, projectId, at), () => ({
        action: "build.end_live",
        env_id: envId,
        details: { project_id: projectId }
      }))
  }
}

const projects = (store: ProjectStore["Service"], audit: Audit): ProjectStore["Service"] => ({
  ...store,
  remove: (envId, id, at) =>
    audit(store.remove(envId, id, at), () => ({ action: "project.remove", env_id: envId, object_id: id }))
})

/** Audits previews in the environment of their project. */
const previews = (store: PreviewStore["Service"], audit: Audit): PreviewStore["Service"] => {
  const toFacts = (action: AuditFacts["action"], preview: Preview): AuditFacts => ({
    action,
    env_id: preview.parent_env_id,
    object_id: preview.env_id,
    object_name: preview.name,
    details: {
      ...{ project_id: preview.project_id, build_id: preview.build_id, schedules: preview.schedules },
      ...{ copy_events: preview.copy_events, secrets: preview.secrets },
      ...{ expires_at: iso(preview.expires_at) }
    }
  })
  return {
    ...store,
    insert: (parts, limits) =>
      audit(store.insert(parts, limits), (insertion) =>
        insertion === "Stored" ? toFacts("preview.create", parts.preview) : null
      ),
    update: (preview) => audit(store.update(preview), () => toFacts("preview.update", preview)),
    remove: (preview, at, dueAt) =>
      audit(store.remove(preview, at, dueAt), () => ({
        action: "preview.remove",
        env_id: preview.parent_env_id,
        object_id: preview.env_id,
        object_name: preview.name
      }))
  }
}

const tenants = (store: TenantStore["Service"], audit: Audit): TenantStore["Service"] => ({
  ...store,
  insertOrg: (org, job) =>
    audit(store.insertOrg(org, job), () => ({
      action: "org.create",
      env_id: null,
      object_id: org.org_id,
      object_name: org.slug,
      details: { plan: org.plan }
    })),
  updateOrg: (org) =>
    audit(store.updateOrg(org), () => ({
      action: "org.update",
      env_id: null,
      object_id: org.org_id,
      object_name: org.slug,
      details: { plan: org.plan, members: org.members }
    })),
  insertEnv: (env, job) =>
    audit(store.insertEnv(env, job), () => ({
      action: "env.create",
      env_id: env.env_id,
      object_id: env.env_id,
      object_name: env.name,
      details: { org_id: env.org_id }
    }))
})
