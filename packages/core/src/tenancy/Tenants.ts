/** Organizations and environments: what a host's dashboard, or the admin routes, do with them. No caller. */
import { Context, Effect, Layer, Schema } from "effect"
import type { SecureRandom } from "effect/crypto"
import { EnvDirectory } from "../access/EnvDirectory.ts"
import { Feed } from "../activity/Feed.ts"
import { listen } from "../activity/Listener.ts"
import { makeSnapshots } from "../activity/Snapshots.ts"
import { BadRequest, NotFound, type StoreUnavailable, type Taken } from "../errors/Errors.ts"
import { toIdOrName } from "../ids/IdOrName.ts"
import { EnvId, freshIds, isUuid, OrgId } from "../ids/Ids.ts"
import type { Page, PageRequest } from "../ids/Page.ts"
import { isStorable } from "../ids/StorableText.ts"
import { now } from "../ids/Timestamp.ts"
import { PlanName } from "./Plan.ts"
import { Plans } from "./Plans.ts"
import { Env, Org, Slug } from "./Tenant.ts"
import { TenantStore } from "./TenantStore.ts"

export interface NewOrg {
  /** 1 to 63 lowercase letters, digits and hyphens; stands in webhook URLs. */
  readonly slug: string
  /** 1 to 128 characters; the slug by default. */
  readonly name?: string
  /** The name of a plan; `Self-Host` by default. */
  readonly plan?: string
}

export interface OrgChange {
  readonly name?: string
  readonly plan?: string
  /** How many people the host counts as members, at least 0. */
  readonly members?: number
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
    /** The name has the shape of a slug and is unique in its organization. */
    readonly createEnv: (idOrSlug: string, input: { readonly name: string }) => Effect.Effect<Env, Refused | NotFound>
    /** Newest first. */
    readonly listEnvs: (idOrSlug: string, page: PageRequest) => Effect.Effect<Page<Env>, Missing>
    readonly getEnv: (envId: string) => Effect.Effect<Env, Missing>
    /** The active environment behind a webhook URL: a map look-up when it is warm. */
    readonly resolve: (orgSlug: string, envName: string) => Effect.Effect<Env, Missing>
  }
>()("@weft/core/tenancy/Tenants") {
  static readonly layer: Layer.Layer<
    Tenants | EnvDirectory,
    never,
    TenantStore | Feed | Plans | SecureRandom.SecureRandom
  > = Layer.effectContext(
    Effect.gen(function* () {
      const store = yield* TenantStore
      const feed = yield* Feed
      const plans = yield* Plans
      const freshId = yield* freshIds
      const envs = yield* makeSnapshots((key: string) => findEnv(store, key), {
        capacity: 10_000,
        ageLimit: "60 seconds"
      })
      yield* listen((message) => (message.type === "tenants:changed" ? envs.forgetAll : Effect.void), envs.forgetAll)

      const changed = Effect.all([envs.forgetAll, plans.forget, feed.tell([{ type: "tenants:changed" }])], {
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

      const tenants = Tenants.of({
        createOrg: Effect.fnUntraced(function* (input) {
          const slug = yield* checkSlug("slug", input.slug)
          if (isUuid(slug)) return yield* new BadRequest({ reason: "slug must not be shaped like a UUID" })
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
          yield* store.insertOrg(org).pipe(Effect.catchTag("Taken", refuse))
          yield* changed
          return org
        }),

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
          const { org_id } = yield* getOrg(idOrSlug)
          const env = new Env({ env_id: yield* freshId(EnvId), org_id, name, active: true, created_at: yield* now })
          yield* store.insertEnv(env).pipe(
            // Another node has made it, which was absent here a moment ago.
            Effect.tapErrorTag("Taken", () => envs.forgetAll),
            Effect.catchTag("Taken", refuse)
          )
          yield* changed
          return env
        }),

        listEnvs: (idOrSlug, page) => Effect.flatMap(getOrg(idOrSlug), (org) => store.listEnvs(org.org_id, page)),
        getEnv,
        resolve: (orgSlug, envName) => envs.get(`${orgSlug}/${envName}`)
      })
      const directory = EnvDirectory.of({ require: (envId) => Effect.asVoid(getEnv(envId)) })
      return Context.make(Tenants, tenants).pipe(Context.add(EnvDirectory, directory))
    })
  )
}

/** What cannot be a slug is not looked for, so that an odd key can never mean another environment. */
const findEnv = Effect.fnUntraced(function* (store: TenantStore["Service"], key: string) {
  const [org = "", name = "", ...more] = key.split("/")
  if (!isSlug(org) || !isSlug(name) || more.length > 0) return yield* noSuchEnv
  const env = yield* store.findEnv(org, name)
  return env.active ? env : yield* noSuchEnv
})

const nameLengthMax = 128

const isSlug = Schema.is(Slug)
const isPlanName = Schema.is(PlanName)
const isEnvId = Schema.is(EnvId)

const noSuchOrg = new NotFound({ resource: "organization" })
const noSuchEnv = new NotFound({ resource: "environment" })

const refuse = (taken: Taken) => Effect.fail(new BadRequest({ reason: taken.message }))

const checkSlug = (field: string, text: string): Effect.Effect<string, BadRequest> =>
  isSlug(text)
    ? Effect.succeed(text)
    : Effect.fail(new BadRequest({ reason: `${field} must be 1 to 63 lowercase letters, digits and inner hyphens` }))

/** The checked fields that the input has. */
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
