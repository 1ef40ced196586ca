/** The services of access, tenancy, projects and builds on stores in memory, for the tests beside this file. */
import { Effect, Layer, Redacted, Result } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { ApiKeys } from "../src/access/ApiKeys.ts"
import { Caller, hostIdentity } from "../src/access/Caller.ts"
import { Credentials } from "../src/access/Credentials.ts"
import { parsePermissions } from "../src/access/Permission.ts"
import { ServiceKeys } from "../src/access/ServiceKeys.ts"
import { Sessions } from "../src/access/Sessions.ts"
import { Artifacts } from "../src/builds/Artifacts.ts"
import * as BuildContents from "../src/builds/BuildContents.ts"
import { Builds } from "../src/builds/Builds.ts"
import { Deployments } from "../src/builds/Deployments.ts"
import { Keyring } from "../src/encryption/Keyring.ts"
import type { EnvId } from "../src/ids/Ids.ts"
import { MemoryStores } from "../src/memory/MemoryStores.ts"
import { type TrustedModule, trustedSandbox } from "../src/memory/TrustedSandbox.ts"
import { Projects } from "../src/projects/Projects.ts"
import { Plans } from "../src/tenancy/Plans.ts"
import { Tenants } from "../src/tenancy/Tenants.ts"

const masterKeys = [Redacted.make(new Uint8Array(32).fill(7))] as const

export const crypto = Keyring.layer(masterKeys).pipe(
  Layer.provideMerge(Layer.mergeAll(Digest.layerWebCrypto, SecureRandom.layerWebCrypto))
)

/** Every service on what is provided: stores, blobs, feed and sandbox. */
export const onStores = Layer.mergeAll(
  ApiKeys.layer,
  Sessions.layer,
  ServiceKeys.layer,
  Projects.layer,
  Artifacts.layer
).pipe(
  Layer.provideMerge(Layer.mergeAll(Credentials.layer, Tenants.layer, Builds.layer, BuildContents.layer)),
  Layer.provideMerge(Layer.mergeAll(Deployments.layer, Plans.layer())),
  Layer.provideMerge(crypto)
)

/** Every service on fresh stores and a sandbox of these modules. */
export const services = (modules: Readonly<Record<string, TrustedModule>> = {}) =>
  onStores.pipe(Layer.provideMerge(Layer.mergeAll(MemoryStores.layer, trustedSandbox(modules))))

/** A new environment of a new organization. */
export const newEnv = (slug: string) =>
  Effect.gen(function* () {
    const tenants = yield* Tenants
    const org = yield* tenants.createOrg({ slug })
    return yield* tenants.createEnv(org.slug, { name: "production" })
  })

/** As a credential of the environment that holds these permissions; as the host without them. */
export const as =
  (envId: EnvId, permissions?: unknown) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Caller>> =>
    Effect.provideService(effect, Caller, {
      ...hostIdentity(envId),
      ...(permissions === undefined ? {} : { permissions: Result.getOrThrow(parsePermissions(permissions)) })
    })

/** The tag of the error that an effect must fail with. */
export const failure = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => error._tag)
