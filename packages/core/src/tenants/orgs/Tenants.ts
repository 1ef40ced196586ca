/** Management of organizations and environments by the host and the admin routes. Checks no permissions. */
import { Context, Effect, Layer, Schema } from "effect"
import type { SecureRandom } from "effect/crypto"
import { BadRequest, NotFound, type StoreUnavailable, type Taken } from "../../foundation/Errors.ts"
import { toIdOrName } from "../../foundation/IdOrName.ts"
import { EnvId, freshIds, isUuid, OrgId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import { isStorable } from "../../foundation/StorableText.ts"
import { now } from "../../foundation/time/Timestamp.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { makeSnapshots } from "../../platform/cluster/Snapshots.ts"
import { subscribe } from "../../platform/cluster/subscribe.ts"
import { EnvDirectory } from "../access/EnvDirectory.ts"
import { PlanName } from "./Plan.ts"
import { Plans } from "./Plans.ts"
import { Env, isEnvName, isSlug, Org, type Tenant } from "./Tenant.ts"
import { TenantHookRunner } from "./TenantHookRunner.ts"
import { TenantStore } from "./TenantStore.ts"

export interface NewOrg {
  /** 1 to 63 lowercase letters, digits and inner hyphens; part of webhook URLs. */
  readonly slug: string
  /** 1 to 128 characters; the slug by default. */
  readonly name?: string
  /** The name of a plan; `Self-Host` by default. */
  readonly plan?: string
}

export interface OrgChange {
  readonly name?: string
  readonly plan?: string
  /** Number of members, as counted by the host, at least 0. */
  readonly members?: number
}

export interface TenantRequest {
  /** The slug of the organization. */
  readonly org: string
  /** The name of the environment. */
  readonly env: string
  /** Name of a new organization; the slug by default. An existing organization keeps its name. */
  readonly name?: string
  /** Plan of a new organization; `Self-Host` by default. An existing organization keeps its plan. */
  readonly plan?: string
}

type Refused = BadRequest | StoreUnavailable
type Missing = NotFound | StoreUnavailable

export class Tenants extends Context.Service<
  Tenants,
  {
    readonly createOrg: (input: NewOrg) => Effect.Effect<Org, Refused>
    /** Newest first. */
    readonly listOrgs: (page: PageRequest) => Effect.Effect<Page<Org>, StoreUnavailable>
    readonly getOrg: (idOrSlug: string) => Effect.Effect<Org, Missing>
    readonly updateOrg: (idOrSlug: string, change: OrgChange) => Effect.Effect<Org, Refused | NotFound>
    /** Creates an environment. The name has the format of a slug and is unique in the organization. */
    readonly createEnv: (idOrSlug: string, input: { readonly name: string }) => Effect.Effect<Env, Refused | NotFound>
    /** Returns the environment of this name with its organization, and creates either if it does not exist. Idempotent. */
    readonly ensure: (wanted: TenantRequest) => Effect.Effect<Tenant, Refused>
    /** Newest first, without previews. */
    readonly listEnvs: (idOrSlug: string, page: PageRequest) => Effect.Effect<Page<Env>, Missing>
    readonly getEnv: (envId: string) => Effect.Effect<Env, Missing>
    /** Clears the caches of environments on this node, and notifies the others. Call it after a change of previews. */
    readonly changed: Effect.Effect<void>
    /** Returns the active environment of a webhook URL: one map look-up when it is cached. */
    readonly resolve: (orgSlug: string, envName: string) => Effect.Effect<Env, Missing>
    /** Returns the cached result of `resolve`, or undefined. */
    readonly getCached: (orgSlug: string, envName: string) => Env | undefined
  }
>()("@weft/core/tenants/orgs/Tenants") {
  static readonly layer: Layer.Layer<
    Tenants | EnvDirectory,
    never,
    TenantStore | ClusterBus | Plans | SecureRandom.SecureRandom
  > = Layer.effectContext(
    Effect.gen(function* () {
      const store = yield* TenantStore
      const bus = yield* ClusterBus
      const plans = yield* Plans
      const hooks = yield* TenantHookRunner
      const freshId = yield* freshIds
      const envs = yield* makeSnapshots((key: string) => findEnv(store, key), {
        capacity: 10_000,
        ageLimit: "60 seconds"
      })
      yield* subscribe(
        (message) => (message.type === "tenants:changed" ? envs.invalidateAll : Effect.void),
        envs.invalidateAll
      )

      const changed = Effect.all([envs.invalidateAll, plans.forget, bus.sendControl([{ type: "tenants:changed" }])], {
        discard: true
      })
      const getOrg = (idOrSlug: string) => {
        const named = toIdOrName(idOrSlug)
        return isUuid(named) || isSlug(named) ? store.getOrg(named) : Effect.fail(noSuchOrg)
      }
      const getEnv = (id: string) => {
        const envId = toIdOrName(id)
        return isEnvId(envId) ? store.getEnv(envId) : Effect.fail(noSuchEnv)
      }

      const insertOrg = Effect.fnUntraced(function* (input: NewOrg) {
        const slug = yield* checkOrgSlug("slug", input.slug)
        const checked = yield* checkOrg(input)
        const instant = yield* now
        const org = new Org({
          org_id: yield* freshId(OrgId),
          slug,
          name: slug,
          plan: "Self-Host",
          members: 1,
          ...checked,
          created_at: instant,
          updated_at: instant
        })
        const job = yield* hooks.prepare("org", org.org_id)
        yield* store.insertOrg(org, job)
        yield* changed
        yield* hooks.runOrgHook(job, org)
        return org
      })

      const insertEnv = Effect.fnUntraced(function* (org: Org, name: string) {
        const env = new Env({
          env_id: yield* freshId(EnvId),
          org_id: org.org_id,
          name,
          active: true,
          created_at: yield* now
        })
        const job = yield* hooks.prepare("env", env.env_id)
        // `Taken`: another node has created it, while this node may have its absence in the cache.
        yield* Effect.tapErrorTag(store.insertEnv(env, job), "Taken", () => envs.invalidateAll)
        yield* changed
        yield* hooks.runEnvHook(job, { org, env })
        return env
      })

      const tenants = Tenants.of({
        createOrg: (input) => Effect.catchTag(insertOrg(input), "Taken", refuse),

        listOrgs: (page) => store.listOrgs(page),
        getOrg,

        updateOrg: Effect.fnUntraced(function* (idOrSlug, change) {
          const checked = yield* checkOrg(change)
          const old = yield* getOrg(idOrSlug)
          const org = new Org({ ...old, ...checked, updated_at: yield* now })
          yield* store.updateOrg(org)
          yield* changed
          return org
        }),

        createEnv: Effect.fnUntraced(function* (idOrSlug, input) {
          const name = yield* checkSlug("name", input.name)
          const org = yield* getOrg(idOrSlug)
          return yield* Effect.catchTag(insertEnv(org, name), "Taken", refuse)
        }),

        ensure: Effect.fnUntraced(function* (wanted) {
          const slug = yield* checkOrgSlug("org", wanted.org)
          const name = yield* checkSlug("env", wanted.env)
          const terms = yield* checkOrg(wanted)
          const org = yield* findOrCreate(store.getOrg(slug), insertOrg({ ...terms, slug }))
          return { org, env: yield* findOrCreate(store.findEnv(slug, name), insertEnv(org, name)) }
        }),

        listEnvs: (idOrSlug, page) =>
          Effect.flatMap(getOrg(idOrSlug), (org) => store.listEnvs(org.org_id, page, "standing")),
        getEnv,
        changed,
        resolve: (orgSlug, envName) => envs.get(`${orgSlug}/${envName}`),
        getCached: (orgSlug, envName) => envs.getCached(`${orgSlug}/${envName}`)
      })
      const directory = EnvDirectory.of({ require: (envId) => Effect.asVoid(getEnv(envId)) })
      return Context.make(Tenants, tenants).pipe(Context.add(EnvDirectory, directory))
    })
  )
}

/** Returns the active environment of a key `org/name`, which may be a preview. Does not look up invalid slugs, so that a key is unambiguous. */
const findEnv = Effect.fnUntraced(function* (store: TenantStore["Service"], key: string) {
  const [org = "", name = "", ...more] = key.split("/")
  if (!isSlug(org) || !isEnvName(name) || more.length > 0) return yield* noSuchEnv
  const env = yield* store.findEnv(org, name)
  return env.active ? env : yield* noSuchEnv
})

/** Finds a record or creates it. On `Taken`, finds the one that a concurrent request created: tenants are never removed. */
const findOrCreate = <A>(
  find: Effect.Effect<A, NotFound | StoreUnavailable>,
  create: Effect.Effect<A, Taken | Refused>
): Effect.Effect<A, Refused> =>
  Effect.catchTag(find, "NotFound", () =>
    Effect.catchTag(create, "Taken", () => Effect.catchTag(find, "NotFound", Effect.die))
  )

const nameLengthMax = 128

const isPlanName = Schema.is(PlanName)
const isEnvId = Schema.is(EnvId)

const noSuchOrg = new NotFound({ resource: "organization" })
const noSuchEnv = new NotFound({ resource: "environment" })

const refuse = (taken: Taken) => Effect.fail(new BadRequest({ reason: taken.message }))

const checkSlug = (field: string, text: string): Effect.Effect<string, BadRequest> =>
  isSlug(text)
    ? Effect.succeed(text)
    : Effect.fail(new BadRequest({ reason: `${field} must be 1 to 63 lowercase letters, digits and inner hyphens` }))

const checkOrgSlug = (field: string, text: string): Effect.Effect<string, BadRequest> =>
  Effect.flatMap(checkSlug(field, text), (slug) =>
    isUuid(slug)
      ? Effect.fail(new BadRequest({ reason: `${field} must not be shaped like a UUID` }))
      : Effect.succeed(slug)
  )

/** Returns the fields of the input after checks, without those that are undefined. */
const checkOrg = Effect.fnUntraced(function* ({ name, plan, members }: OrgChange) {
  if (name !== undefined && (name.length === 0 || name.length > nameLengthMax || !isStorable(name))) {
    return yield* new BadRequest({
      reason: `name must be valid Unicode of 1 to ${nameLengthMax} characters, without U+0000`
    })
  }
  if (plan !== undefined && !isPlanName(plan)) {
    return yield* new BadRequest({ reason: `plan must be one of ${PlanName.literals.join(", ")}` })
  }
  if (members !== undefined && !(Number.isSafeInteger(members) && members >= 0)) {
    return yield* new BadRequest({ reason: "members must be an integer, at least 0" })
  }
  return {
    ...(name === undefined ? {} : { name }),
    ...(plan === undefined ? {} : { plan }),
    ...(members === undefined ? {} : { members })
  }
})
