/**
 * The stores, with an entry in the audit log for each change that the log is about, in the change's own transaction.
 *
 * Here and not in the services: whatever way leads to a change, it passes here, and none can be forgotten.
 */
import { Context, Effect, Layer } from "effect"
import type { SecureRandom } from "effect/crypto"
import { ApiKeyStore } from "../access/ApiKeyStore.ts"
import { ServiceKeyStore } from "../access/ServiceKeyStore.ts"
import { SessionStore } from "../access/SessionStore.ts"
import type { Build } from "../builds/Build.ts"
import { BuildStore } from "../builds/BuildStore.ts"
import { DomainStore } from "../domains/DomainStore.ts"
import type { StoreUnavailable } from "../errors/Errors.ts"
import { iso } from "../ids/Timestamp.ts"
import { ProjectStore } from "../projects/ProjectStore.ts"
import { ContextVariableStore } from "../secrets/ContextVariableStore.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { type AuditFacts, makeEntries } from "./AuditFacts.ts"
import { AuditStore } from "./AuditStore.ts"

type Audited =
  | ApiKeyStore
  | SessionStore
  | ServiceKeyStore
  | ContextVariableStore
  | DomainStore
  | BuildStore
  | ProjectStore
  | TenantStore

/** Does the change, and notes what it was; null for what changed nothing. */
type Noting = <A, E>(
  change: Effect.Effect<A, E>,
  facts: (result: A) => AuditFacts | null
) => Effect.Effect<A, E | StoreUnavailable>

export const auditedStores: Layer.Layer<Audited, never, Audited | AuditStore | SecureRandom.SecureRandom> =
  Layer.effectContext(
    Effect.gen(function* () {
      const store = yield* AuditStore
      const entries = yield* makeEntries
      const noting: Noting = (change, facts) =>
        Effect.flatMap(entries, (entryOf) =>
          store.within(change, (result) => {
            const noted = facts(result)
            return noted === null ? null : entryOf(noted)
          })
        )
      return Context.make(ApiKeyStore, apiKeys(yield* ApiKeyStore, noting)).pipe(
        Context.add(SessionStore, sessions(yield* SessionStore, noting)),
        Context.add(ServiceKeyStore, serviceKeys(yield* ServiceKeyStore, noting)),
        Context.add(ContextVariableStore, contextVariables(yield* ContextVariableStore, noting)),
        Context.add(DomainStore, domains(yield* DomainStore, noting)),
        Context.add(BuildStore, builds(yield* BuildStore, noting)),
        Context.add(ProjectStore, projects(yield* ProjectStore, noting)),
        Context.add(TenantStore, tenants(yield* TenantStore, noting))
      )
    })
  )

const apiKeys = (store: ApiKeyStore["Service"], noting: Noting): ApiKeyStore["Service"] => {
  const insert = (key: Parameters<typeof store.insert>[0]) =>
    noting(store.insert(key), () => ({
      action: "api_key.create",
      env_id: key.env_id,
      object_id: key.api_key_id,
      object_name: key.name,
      details: { permissions: key.permissions }
    }))
  return {
    ...store,
    // A key that is there stays as it is: a server brings its own along at every start.
    insert: (key) =>
      Effect.matchEffect(store.find(key.api_key_id), {
        onSuccess: () => store.insert(key),
        onFailure: (error) => (error._tag === "NotFound" ? insert(key) : Effect.fail(error))
      }),
    update: (key) =>
      noting(store.update(key), () => ({
        action: "api_key.update",
        env_id: key.env_id,
        object_id: key.api_key_id,
        object_name: key.name,
        details: { enabled: key.enabled, permissions: key.permissions }
      })),
    remove: (envId, id) =>
      noting(store.remove(envId, id), () => ({ action: "api_key.remove", env_id: envId, object_id: id }))
  }
}

const sessions = (store: SessionStore["Service"], noting: Noting): SessionStore["Service"] => ({
  ...store,
  insert: (session, now, activeMax) =>
    noting(store.insert(session, now, activeMax), (isStored) =>
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
    noting(store.remove(apiKeyId, id, now), () => ({ action: "session.revoke", object_id: id })),
  removeAll: (apiKeyId, now) =>
    noting(store.removeAll(apiKeyId, now), (ids) => ({
      action: "session.revoke_all",
      details: { revoked: ids.length }
    }))
})

const serviceKeys = (store: ServiceKeyStore["Service"], noting: Noting): ServiceKeyStore["Service"] => ({
  ...store,
  insert: (key) =>
    noting(store.insert(key), () => ({
      action: "service_key.create",
      env_id: key.env_id,
      object_id: key.service_key_id,
      object_name: key.name,
      details: { permissions: key.permissions, expires_at: key.expires_at === null ? null : iso(key.expires_at) }
    })),
  revoke: (apiKeyId, id, at) =>
    noting(store.revoke(apiKeyId, id, at), () => ({ action: "service_key.revoke", object_id: id })),
  revokeAll: (apiKeyId, at) =>
    noting(store.revokeAll(apiKeyId, at), (ids) => ({
      action: "service_key.revoke_all",
      details: { revoked: ids.length }
    }))
})

/** A variable has no id but its project's and its key. */
const contextVariables = (store: ContextVariableStore["Service"], noting: Noting): ContextVariableStore["Service"] => ({
  ...store,
  insert: (variable) =>
    noting(store.insert(variable), () => ({
      action: "context.create",
      env_id: variable.env_id,
      object_id: variable.project_id,
      object_name: variable.key
    })),
  update: (envId, projectId, key, change) =>
    noting(store.update(envId, projectId, key, change), () => ({
      action: "context.update",
      env_id: envId,
      object_id: projectId,
      object_name: key,
      details: { value_changed: change.value !== undefined }
    })),
  remove: (envId, projectId, key) =>
    noting(store.remove(envId, projectId, key), () => ({
      action: "context.remove",
      env_id: envId,
      object_id: projectId,
      object_name: key
    }))
})

const domains = (store: DomainStore["Service"], noting: Noting): DomainStore["Service"] => ({
  ...store,
  insert: (domain, limit) =>
    noting(store.insert(domain, limit), () => ({
      action: "domain.add",
      env_id: domain.env_id,
      object_id: domain.domain_id,
      object_name: domain.domain
    })),
  beginRemoval: (envId, id, now) =>
    noting(store.beginRemoval(envId, id, now), ({ domain }) => ({
      action: "domain.remove",
      env_id: envId,
      object_id: id,
      object_name: domain
    }))
})

const builds = (store: BuildStore["Service"], noting: Noting): BuildStore["Service"] => {
  const deployed = (action: "build.deploy" | "build.go_live", build: Build): AuditFacts => ({
    action,
    env_id: build.env_id,
    object_id: build.build_id,
    details: { project_id: build.project_id, hash: build.hash }
  })
  return {
    ...store,
    deploy: (build, manifest, at) => noting(store.deploy(build, manifest, at), () => deployed("build.deploy", build)),
    goLive: (build, manifest) => noting(store.goLive(build, manifest), () => deployed("build.go_live", build)),
    endLive: (envId, projectId, at) =>
      noting(store.endLive(envId, projectId, at), () => ({
        action: "build.end_live",
        env_id: envId,
        details: { project_id: projectId }
      }))
  }
}

const projects = (store: ProjectStore["Service"], noting: Noting): ProjectStore["Service"] => ({
  ...store,
  remove: (envId, id) =>
    noting(store.remove(envId, id), () => ({ action: "project.remove", env_id: envId, object_id: id }))
})

const tenants = (store: TenantStore["Service"], noting: Noting): TenantStore["Service"] => ({
  ...store,
  insertOrg: (org, announcement) =>
    noting(store.insertOrg(org, announcement), () => ({
      action: "org.create",
      env_id: null,
      object_id: org.org_id,
      object_name: org.slug,
      details: { plan: org.plan }
    })),
  updateOrg: (org) =>
    noting(store.updateOrg(org), () => ({
      action: "org.update",
      env_id: null,
      object_id: org.org_id,
      object_name: org.slug,
      details: { plan: org.plan, members: org.members }
    })),
  insertEnv: (env, announcement) =>
    noting(store.insertEnv(env, announcement), () => ({
      action: "env.create",
      env_id: env.env_id,
      object_id: env.env_id,
      object_name: env.name,
      details: { org_id: env.org_id }
    }))
})
