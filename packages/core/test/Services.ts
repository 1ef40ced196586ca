/** The services of access, tenancy, projects and builds on in-memory stores, for the tests in this folder. */
import { Effect, Layer, Redacted, Result } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import type { EnvId } from "../src/foundation/Ids.ts"
import { NodeMetrics } from "../src/foundation/telemetry/NodeMetrics.ts"
import { MemoryStores } from "../src/memory/MemoryStores.ts"
import { type TrustedModule, trustedSandbox } from "../src/memory/TrustedSandbox.ts"
import { Keyring } from "../src/platform/encryption/Keyring.ts"
import { auditedQuarantines } from "../src/resources/audit/AuditedQuarantines.ts"
import * as DamageRecorder from "../src/resources/audit/DamageRecorder.ts"
import { Artifacts } from "../src/resources/builds/Artifacts.ts"
import * as BuildContents from "../src/resources/builds/BuildContents.ts"
import { Builds } from "../src/resources/builds/Builds.ts"
import { BuildZips } from "../src/resources/builds/BuildZips.ts"
import { Deployments } from "../src/resources/builds/Deployments.ts"
import { PreparationQueue } from "../src/resources/builds/PreparationQueue.ts"
import { Quarantines } from "../src/resources/builds/Quarantines.ts"
import { Projects } from "../src/resources/projects/Projects.ts"
import { ApiKeys } from "../src/tenants/access/ApiKeys.ts"
import { Caller, hostIdentity } from "../src/tenants/access/Caller.ts"
import { Credentials } from "../src/tenants/access/Credentials.ts"
import { parsePermissions } from "../src/tenants/access/Permission.ts"
import { ServiceKeys } from "../src/tenants/access/ServiceKeys.ts"
import { Sessions } from "../src/tenants/access/Sessions.ts"
import { Plans } from "../src/tenants/orgs/Plans.ts"
import { Tenants } from "../src/tenants/orgs/Tenants.ts"

const masterKeys = [Redacted.make(new Uint8Array(32).fill(7))] as const

export const crypto = Keyring.layer(masterKeys).pipe(
  Layer.provideMerge(Layer.mergeAll(Digest.layerWebCrypto, SecureRandom.layerWebCrypto))
)

/** Reports of damage, with the audit log. */
export const damageReports = Layer.provide(DamageRecorder.layer, NodeMetrics.layer)

/** All services, on the provided stores, blobs, cluster bus and sandbox. */
export const onStores = Layer.mergeAll(
  ApiKeys.layer,
  Sessions.layer,
  ServiceKeys.layer,
  Projects.layer,
  Artifacts.layer
).pipe(
  Layer.provideMerge(Layer.mergeAll(Credentials.layer, Tenants.layer, Builds.layer, BuildContents.layer)),
  Layer.provideMerge(
    Layer.mergeAll(
      Deployments.layer,
      Plans.layer(),
      PreparationQueue.layer,
      Layer.provide(BuildZips.layer, damageReports),
      Layer.provide(auditedQuarantines, Quarantines.layer)
    )
  ),
  Layer.provideMerge(crypto)
)

/** All services, on empty stores and a sandbox with these modules. */
export const services = (modules: Readonly<Record<string, TrustedModule>> = {}) =>
  onStores.pipe(Layer.provideMerge(Layer.mergeAll(MemoryStores.layer, trustedSandbox(modules))))

/** Creates an environment in a new organization. */
export const newEnv = (slug: string) =>
  Effect.gen(function* () {
    const tenants = yield* Tenants
    const org = yield* tenants.createOrg({ slug })
    return yield* tenants.createEnv(org.slug, { name: "production" })
  })

/** Runs an effect as a credential of the environment with these permissions; as the host if they are omitted. */
export const as =
  (envId: EnvId, permissions?: unknown) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Caller>> =>
    Effect.provideService(effect, Caller, {
      ...hostIdentity(envId),
      ...(permissions === undefined ? {} : { permissions: Result.getOrThrow(parsePermissions(permissions)) })
    })

/** Returns the tag of the error of an effect, which must fail. */
export const failure = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => error._tag)
