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
import { Announcer } from "./Announcer.ts"
import { PlanName } from "./Plan.ts"
import { Plans } from "./Plans.ts"
import { Env, isSlug, Org, type Tenant } from "./Tenant.ts"
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

export interface WantedTenant {
  /** The slug of the organization. */
  readonly org: string
  /** The name of the environment. */
  readonly env: string
  /** Of an organization that is made now; one that is there keeps its own. The slug by default. */
  readonly name?: string
  /** Of an organization that is made now, like `name`; `Self-Host` by default. */
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
    /** The name has the shape of a slug and is unique in its organization. */
    readonly createEnv: (idOrSlug: string, input: { readonly name: string }) => Effect.Effect<Env, Refused | NotFound>
    /** The environment of this name, with its organization. Makes of both what is not there; may be repeated at will. */
    readonly ensure: (wanted: WantedTenant) => Effect.Effect<Tenant, Refused>
    /** Newest first. */
    readonly listEnvs: (idOrSlug: string, page: PageRequest) => Effect.Effect<Page<Env>, Missing>
    readonly getEnv: (envId: string) => Effect.Effect<Env, Missing>
    /** The active environment behind a webhook URL: a map look-up when it is warm. */
    readonly resolve: (orgSlug: string, envName: string) => Effect.Effect<Env, Missing>
    /** As `resolve`, where it is at hand. */
    readonly peek: (orgSlug: string, envName: string) => Env | undefined
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
      const announcer = yield* Announcer
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
        const announcement = yield* announcer.prepare("org", org.org_id)
        yield* store.insertOrg(org, announcement)
        yield* changed
        yield* announcer.announceOrg(announcement, org)
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
        const announcement = yield* announcer.prepare("env", env.env_id)
        // Another node may have made it, which was absent here a moment ago.
        yield* Effect.tapErrorTag(store.insertEnv(env, announcement), "Taken", () => envs.forgetAll)
        yield* changed
        yield* announcer.announceEnv(announcement, { org, env })
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
          const org = yield* findOrMake(store.getOrg(slug), insertOrg({ ...terms, slug }))
          return { org, env: yield* findOrMake(store.findEnv(slug, name), insertEnv(org, name)) }
        }),

        listEnvs: (idOrSlug, page) => Effect.flatMap(getOrg(idOrSlug), (org) => store.listEnvs(org.org_id, page)),
        getEnv,
        resolve: (orgSlug, envName) => envs.get(`${orgSlug}/${envName}`),
        peek: (orgSlug, envName) => envs.peek(`${orgSlug}/${envName}`)
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

/** What is there, else what is made now, else what somebody else has made meanwhile; nothing removes it. */
const findOrMake = <A>(
  find: Effect.Effect<A, NotFound | StoreUnavailable>,
  make: Effect.Effect<A, Taken | Refused>
): Effect.Effect<A, Refused> =>
  Effect.catchTag(find, "NotFound", () =>
    Effect.catchTag(make, "Taken", () => Effect.catchTag(find, "NotFound", Effect.die))
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
