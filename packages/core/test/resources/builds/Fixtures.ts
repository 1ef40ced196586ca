/** Projects and builds for the tests in this folder. */
import { Effect, Layer } from "effect"
import { Digest } from "effect/crypto"
import type { EnvId } from "../../../src/foundation/Ids.ts"
import { MemoryStores } from "../../../src/memory/MemoryStores.ts"
import { type TrustedModule, trustedSandbox, trustedZip } from "../../../src/memory/TrustedSandbox.ts"
import { Sandbox } from "../../../src/platform/sandbox/Sandbox.ts"
import { Builds } from "../../../src/resources/builds/Builds.ts"
import { Deployments } from "../../../src/resources/builds/Deployments.ts"
import { Projects } from "../../../src/resources/projects/Projects.ts"
import type { Caller } from "../../../src/tenants/access/Caller.ts"
import { as, crypto, newEnv, onStores, services } from "../../Services.ts"

/** An operation that may fail. */
export type Attempt = Effect.Effect<unknown, { readonly _tag: string }, Builds | Caller>

const withMeta = (meta: unknown) => Object.assign(() => null, { meta })
const hook = (path: string) => withMeta({ webhook: { service: "shop", path } })

export const modules: Readonly<Record<string, TrustedModule>> = {
  one: {
    main: {
      zeta: withMeta({ event: ["b", "a"] }),
      alpha: withMeta({ event: "a", schedule: "0 3 * * *" }),
      hello: hook("/hello")
    },
    extra: { last: withMeta({ event: "c" }) }
  },
  two: { main: { zeta: withMeta({ event: "d" }), hello: hook("/hello") } },
  bad: { main: { broken: withMeta({ event: "a", retry: { attempts: 0 } }) } }
}

export const hashOf = (zip: Uint8Array) =>
  Effect.flatMap(Digest.Digest, (digest) => digest.digestHex(Digest.sha256, zip)).pipe(Effect.provide(crypto))

export const upload = Effect.fnUntraced(function* (project: string, key: string, build_id?: string) {
  const zip = trustedZip(key)
  const hash = yield* hashOf(zip)
  return yield* (yield* Builds).upload(project, { zip, hash, ...(build_id === undefined ? {} : { build_id }) })
})

export const deploy = Effect.fnUntraced(function* (project: string, key: string) {
  const { build } = yield* upload(project, key)
  return yield* (yield* Builds).deploy(project, build.build_id)
})

/** Creates an environment with the projects `alpha` and `beta`. */
export const setUp = Effect.gen(function* () {
  const env = yield* newEnv("acme")
  const projects = yield* Projects
  const alpha = yield* as(env.env_id)(projects.create({ name: "alpha" }))
  const beta = yield* as(env.env_id)(projects.create({ name: "beta" }))
  return { env, alpha, beta, builds: yield* Builds, host: as(env.env_id) }
})

export const run = <A, E>(body: Effect.Effect<A, E, Layer.Success<ReturnType<typeof services>>>) =>
  Effect.provide(body, services(modules))

export const servedBy = (envId: EnvId) =>
  Effect.gen(function* () {
    const found = yield* (yield* Deployments).of(envId)
    return found.endpoint("POST", "shop", "/hello")?.build.build_id
  })

/** The services with a changed sandbox. */
export const withSandbox = (change: (trusted: Sandbox["Service"]) => Sandbox["Service"]) => {
  const sandbox = Layer.effect(Sandbox, Effect.map(Sandbox, change)).pipe(Layer.provide(trustedSandbox(modules)))
  return onStores.pipe(Layer.provideMerge(Layer.mergeAll(MemoryStores.layer, sandbox)))
}
