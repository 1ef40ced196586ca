/**
 * Tells the host of tenants that were made: at least once each, whatever happens to the node that made them.
 *
 * Whoever makes a tenant waits until the host has heard of it. What fails, or what a node takes with it when it dies, is
 * tried again by any node whose host wants to know.
 */
import { Cause, Context, Deferred, Effect, Fiber, Layer, type Scope } from "effect"
import { forkLasting } from "../errors/Lasting.ts"
import { EnvId, OrgId } from "../ids/Ids.ts"
import { now as currentTime } from "../ids/Timestamp.ts"
import { type Announcement, firstAnnouncement, nextAnnouncement, tellingMs } from "./Announcement.ts"
import type { Org, Tenant } from "./Tenant.ts"
import { TenantStore } from "./TenantStore.ts"

/** What a host does when tenants have been made. They stay, whatever comes of it; failures are logged. */
export interface TenantHooks<R = never> {
  readonly onOrgCreated?: (org: Org) => Effect.Effect<unknown, unknown, R>
  readonly onEnvCreated?: (tenant: Tenant) => Effect.Effect<unknown, unknown, R>
}

export interface Announcing {
  /** What is to be stored with a tenant that is made now; undefined where the host does not want to know. */
  readonly prepare: (kind: Announcement["kind"], tenantId: string) => Effect.Effect<Announcement | undefined>
  /**
   * Tells of what is stored now. Done when the host has heard of it, or has failed to in time. Goes on when it is
   * interrupted: whose request it was does not matter to the host.
   */
  readonly announceOrg: (announcement: Announcement | undefined, org: Org) => Effect.Effect<void>
  readonly announceEnv: (announcement: Announcement | undefined, tenant: Tenant) => Effect.Effect<void>
}

/** By default the host wants to know nothing: nothing is stored, and nobody waits. */
export const Announcer = Context.Reference<Announcing>("@weft/core/tenancy/Announcer", {
  defaultValue: () => ({
    prepare: () => Effect.undefined,
    announceOrg: () => Effect.void,
    announceEnv: () => Effect.void
  })
})

/** How often to look for what others have left, and how much of it to take up at once. */
const lookMs = 60_000
const lookLimit = 20

/** The hooks come last, because they may use everything that Weft offers. */
export class HookRunner extends Context.Service<
  HookRunner,
  {
    /** Runs hooks in the scope of this, those that wait for it too, and takes up from now on what others have left. */
    readonly begin: (hooks: TenantHooks) => Effect.Effect<void, never, Scope.Scope>
  }
>()("@weft/core/tenancy/HookRunner") {}

/** For a host that has these hooks. */
export const announcerLayer = <R>(hooks: TenantHooks<R>): Layer.Layer<HookRunner, never, TenantStore> =>
  Layer.effectContext(
    Effect.map(makeAnnouncer(kindsOf(hooks)), ({ announcing, begin }) =>
      Context.make(HookRunner, HookRunner.of({ begin })).pipe(Context.add(Announcer, announcing))
    )
  )

/** Gives the hooks what they use. To be built when all of it is there. */
export const hooksLayer = <R>({
  onOrgCreated,
  onEnvCreated
}: TenantHooks<R>): Layer.Layer<never, never, HookRunner | R> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const runner = yield* HookRunner
      const context = yield* Effect.context<R>()
      yield* runner.begin({
        ...(onOrgCreated === undefined ? {} : { onOrgCreated: (org) => Effect.provide(onOrgCreated(org), context) }),
        ...(onEnvCreated === undefined
          ? {}
          : { onEnvCreated: (tenant) => Effect.provide(onEnvCreated(tenant), context) })
      })
    })
  )

const kindsOf = <R>({ onOrgCreated, onEnvCreated }: TenantHooks<R>): ReadonlyArray<Announcement["kind"]> => [
  ...(onOrgCreated === undefined ? [] : ["org" as const]),
  ...(onEnvCreated === undefined ? [] : ["env" as const])
]

const makeAnnouncer = (kinds: ReadonlyArray<Announcement["kind"]>) =>
  Effect.gen(function* () {
    const store = yield* TenantStore
    const begun = yield* Deferred.make<{ readonly hooks: TenantHooks; readonly scope: Scope.Scope }>()

    const tell = ({ kind, tenant_id }: Announcement, hook: Effect.Effect<unknown, unknown>) =>
      Effect.andThen(Effect.timeout(hook, tellingMs), store.removeAnnouncement(tenant_id)).pipe(
        Effect.catchCause((cause) =>
          Cause.hasInterruptsOnly(cause)
            ? Effect.void
            : Effect.logError(`the host failed to take notice of ${kind} ${tenant_id} and will be told again`, cause)
        )
      )

    const announce = Effect.fnUntraced(function* (
      announcement: Announcement,
      hookOf: (hooks: TenantHooks) => Effect.Effect<unknown, unknown>
    ) {
      const { hooks, scope } = yield* Deferred.await(begun)
      const telling = Effect.suspend(() => hookOf(hooks))
      yield* Fiber.await(yield* Effect.forkIn(tell(announcement, telling), scope))
    })
    const announceOrg = (announcement: Announcement, org: Org) =>
      announce(announcement, ({ onOrgCreated }) => onOrgCreated?.(org) ?? Effect.void)
    const announceEnv = (announcement: Announcement, tenant: Tenant) =>
      announce(announcement, ({ onEnvCreated }) => onEnvCreated?.(tenant) ?? Effect.void)

    /** Makes the next attempt, unless somebody else does. */
    const takeUp = Effect.fnUntraced(function* (old: Announcement) {
      const announcement = nextAnnouncement(old, yield* currentTime)
      if (!(yield* store.updateAnnouncement(announcement))) return
      if (old.kind === "org") return yield* announceOrg(announcement, yield* store.getOrg(OrgId.make(old.tenant_id)))
      const env = yield* store.getEnv(EnvId.make(old.tenant_id))
      yield* announceEnv(announcement, { org: yield* store.getOrg(env.org_id), env })
    })

    const look = Effect.gen(function* () {
      const due = yield* store.dueAnnouncements(kinds, yield* currentTime, lookLimit)
      yield* Effect.forEach(due, takeUp, { concurrency: lookLimit, discard: true })
    }).pipe(Effect.catch((error) => Effect.logWarning(error.message)))

    const announcing: Announcing = {
      prepare: (kind, tenantId) =>
        kinds.includes(kind)
          ? Effect.map(currentTime, (now) => firstAnnouncement(kind, tenantId, now))
          : Effect.undefined,
      announceOrg: (announcement, org) => (announcement === undefined ? Effect.void : announceOrg(announcement, org)),
      announceEnv: (announcement, tenant) =>
        announcement === undefined ? Effect.void : announceEnv(announcement, tenant)
    }

    const begin = Effect.fnUntraced(function* (hooks: TenantHooks) {
      yield* Deferred.succeed(begun, { hooks, scope: yield* Effect.scope })
      if (kinds.length > 0) yield* forkLasting({ name: "The announcer" }, Effect.andThen(look, Effect.sleep(lookMs)))
    })

    return { announcing, begin }
  })
