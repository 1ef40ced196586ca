/**
 * Tests of the contract: stores with one fault each, which the suite must detect.
 *
 * Each one wraps the in-memory store, which passes all checks without the fault (`memory.test.ts`).
 */
import {
  apiKeyStoreChecks,
  blobStoreChecks,
  buildStoreChecks,
  eventStoreChecks,
  journalStoreChecks,
  projectStoreChecks,
  runStoreChecks,
  tenantStoreChecks
} from "@weft/contract"
import { NotFound, type Page } from "@weft/core"
import {
  ApiKeyStore,
  BlobStore,
  BuildStore,
  type ClaimRequest,
  EventStore,
  JournalStore,
  ProjectStore,
  type RunFilter,
  RunStore,
  TenantStore
} from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { claimRequest } from "../src/Claims.ts"
import { at, emptyManifest, envId, nodeId } from "../src/Samples.ts"
import { type All, detects, faulty } from "./Faults.ts"

const short = <A, E>(page: Effect.Effect<Page<A>, E>) =>
  Effect.map(page, ({ items }) => ({ items, total: items.length }))

const backwards = <A, E>(page: Effect.Effect<Page<A>, E>) =>
  Effect.map(page, ({ items, total }) => ({ items: [...items].reverse(), total }))

/** A claim of all deliveries whose runs never end, so that the deliveries are lost. */
const claimEverything = (request: ClaimRequest): ClaimRequest => ({
  ...claimRequest(request.now),
  lease: request.lease
})

detects("the journal's contract", journalStoreChecks({ exclusive: false }), {
  "reports every entry as effective": faulty(JournalStore, (store) => ({
    commit: (entries, lease) => Effect.map(store.commit(entries, lease), (counted) => counted.map(() => true))
  })),
  "settles without a fence": faulty(JournalStore, (store) => ({
    commit: (entries, lease) =>
      store.commit(
        entries.map((entry) =>
          entry._tag === "Settled" ? { _tag: "Ended", run: entry.run, logs: entry.logs } : entry
        ),
        lease
      )
  })),
  "loses the next attempt": faulty(JournalStore, (store) => ({
    commit: (entries, lease) =>
      store.commit(
        entries.map((entry) => (entry._tag === "Settled" ? { ...entry, next: null } : entry)),
        lease
      )
  })),
  "loses trace contexts": faulty(JournalStore, (store) => ({
    commit: (entries, lease) =>
      store.commit(
        entries.map((entry) =>
          entry._tag === "Appended"
            ? {
                ...entry,
                deliveries: entry.deliveries.map(({ delivery: { traceparent: _, ...delivery }, run }) => ({
                  delivery,
                  run
                }))
              }
            : entry
        ),
        lease
      )
  })),
  "swaps two fields of a run": faulty(JournalStore, (store) => ({
    commit: (entries, lease) =>
      store.commit(
        entries.map((entry) =>
          entry._tag === "Ended" ? { ...entry, run: { ...entry.run, ns: entry.run.var, var: entry.run.ns } } : entry
        ),
        lease
      )
  })),
  "loses logs": faulty(JournalStore, (store) => ({
    commit: (entries, lease) =>
      store.commit(
        entries.map((entry) => ("logs" in entry ? { ...entry, logs: [] } : entry)),
        lease
      )
  })),
  "applies entries in reverse": faulty(JournalStore, (store) => ({
    commit: (entries, lease) => Effect.map(store.commit(entries.toReversed(), lease), (counted) => counted.toReversed())
  })),
  "ignores the lease of a commit": faulty(JournalStore, (store) => ({
    commit: (entries) => store.commit(entries, null)
  })),
  "loses a run that ended before it was stored": faulty(JournalStore, (store) => ({
    commit: (entries, lease) =>
      Effect.map(
        store.commit(
          entries.filter((entry) => entry._tag !== "Ended"),
          lease
        ),
        () => entries.map(() => true)
      )
  })),
  "keeps claimed deliveries pending": faulty(JournalStore, (store) => ({
    commit: (entries, lease) =>
      store.commit(
        entries.map((entry) =>
          entry._tag === "Appended"
            ? { ...entry, deliveries: entry.deliveries.map(({ delivery }) => ({ delivery, run: null })) }
            : entry
        ),
        lease
      )
  })),
  "claims twice": faulty(JournalStore, (store) => {
    let first: Effect.Success<ReturnType<typeof store.claim>> | undefined
    return {
      claim: (request) =>
        Effect.map(store.claim(request), (result) => {
          if (first === undefined && result.claims.length > 0) first = result
          return result.claims.length === 0 && first !== undefined ? first : result
        })
    }
  }),
  "claims records that are not due": faulty(JournalStore, (store) => ({
    claim: (request) =>
      Effect.map(store.claim({ ...request, now: at(10_000_000) }), ({ claims, ...others }) => ({
        claims: claims.map((claim) => ({ ...claim, run: { ...claim.run, start_time: request.now } })),
        ...others
      }))
  })),
  "loses claimed deliveries": faulty(JournalStore, (store) => ({
    claim: (request) => Effect.tap(store.claim(request), () => store.claim(claimEverything(request)))
  })),
  "ignores perEnv": faulty(JournalStore, (store) => ({
    claim: (request) => store.claim({ ...request, perEnv: 1000 })
  })),
  "ignores exclude": faulty(JournalStore, (store) => ({
    claim: (request) => store.claim({ ...request, exclude: [] })
  })),
  "always serves one environment first": faulty(JournalStore, (store) => {
    const others = Array.from({ length: 40 }, (_, index) => envId(index + 2))
    return {
      claim: (request) =>
        Effect.flatMap(store.claim({ ...request, exclude: [...request.exclude, ...others] }), (result) =>
          result.claims.length > 0 ? Effect.succeed(result) : store.claim(request)
        )
    }
  }),
  "never returns when the next is due": faulty(JournalStore, (store) => ({
    claim: (request) => Effect.map(store.claim(request), (result) => ({ ...result, next_due_at: null }))
  })),
  "reaps the node's own runs": faulty(JournalStore, (store) => ({
    reap: (_, now, limit) => store.reap(nodeId(99), now, limit)
  })),
  "reaps runs of living nodes": faulty(JournalStore, (store) => ({
    reap: (self, now, limit) =>
      Effect.map(store.reap(self, at(10_000_000), limit), (runs) => runs.map((run) => ({ ...run, stop_time: now })))
  })),
  "ignores the limit of reap": faulty(JournalStore, (store) => ({
    reap: (self, now) => store.reap(self, now, 1000)
  })),
  "reports the node's own runs as orphans": faulty(JournalStore, (store) => ({
    findPendingWork: (_, now) => store.findPendingWork(nodeId(99), now)
  })),
  "reports runs of living nodes as orphans": faulty(JournalStore, (store) => ({
    findPendingWork: (self) => store.findPendingWork(self, at(10_000_000))
  })),
  "does not report when the next delivery is due": faulty(JournalStore, (store) => ({
    findPendingWork: (self, now) =>
      Effect.map(store.findPendingWork(self, now), (sight) => ({ ...sight, next_due_at: null }))
  })),
  "does not report parked deliveries": faulty(JournalStore, (store) => ({
    findPendingWork: (self, now) =>
      Effect.map(store.findPendingWork(self, now), (sight) => ({ ...sight, parked: false }))
  })),
  "ignores leave": faulty(JournalStore, () => ({
    endLease: () => Effect.void
  })),
  "ignores groups": faulty(JournalStore, (store) => ({
    commit: (entries, lease) =>
      store.commit(
        entries.map((entry) =>
          entry._tag === "Appended"
            ? {
                ...entry,
                deliveries: entry.deliveries.map((one) => ({ ...one, delivery: { ...one.delivery, group: null } }))
              }
            : entry
        ),
        lease
      )
  })),
  "parks nothing": faulty(JournalStore, (store) => ({
    claim: (request) => Effect.map(store.claim(request), (result) => ({ ...result, parked: 0 }))
  })),
  "unparks nothing": faulty(JournalStore, () => ({ unpark: () => Effect.succeed(0) })),
  "unparks nothing with a claim": faulty(JournalStore, (store) => ({
    claim: (request) => store.claim({ ...request, freed: [] })
  })),
  "does not return the number of unparked deliveries": faulty(JournalStore, (store) => ({
    claim: (request) => Effect.map(store.claim(request), (result) => ({ ...result, unparked: 0 }))
  })),
  "unparks all groups with every claim": faulty(JournalStore, (store) => ({
    claim: (request) =>
      Effect.flatMap(store.parked(null, 100), (groups) =>
        Effect.andThen(store.unpark(groups, request.now), store.claim(request))
      )
  })),
  "ignores the environment of groups": faulty(JournalStore, (store) => ({
    unpark: (groups, now) =>
      store.unpark(
        groups.flatMap(({ key }) => [1, 2].map((n) => ({ env_id: envId(n), key }))),
        now
      )
  })),
  "returns more groups than the limit": faulty(JournalStore, (store) => ({
    parked: (after) => store.parked(after, 1000)
  })),
  "ignores the position in groups": faulty(JournalStore, (store) => ({
    parked: (_, limit) => store.parked(null, limit)
  })),
  "loses the deliveries of dead nodes": faulty(JournalStore, (store) => ({
    reap: (self, now, limit) => Effect.tap(store.reap(self, now, limit), () => store.claim(claimRequest(now)))
  }))
})

const without = (key: keyof RunFilter): Layer.Layer<All> =>
  faulty(RunStore, (store) => ({
    list: (env, page, { [key]: _, ...filter }) => store.list(env, page, filter)
  }))

detects("the contract of runs", runStoreChecks, {
  "reads other environments": faulty(RunStore, (store) => ({
    get: (env, id) => Effect.catchTag(store.get(env, id), "NotFound", () => store.get(envId(1), id))
  })),
  "reads logs of other environments": faulty(RunStore, (store) => ({
    logs: (_, id, page) => store.logs(envId(1), id, page)
  })),
  "lists other environments": faulty(RunStore, (store) => ({
    list: (_, page, filter) => store.list(envId(1), page, filter)
  })),
  "counts other environments": faulty(RunStore, (store) => ({ stats: (_, only) => store.stats(envId(1), only) })),
  "returns the page size as the total": faulty(RunStore, (store) => ({
    list: (env, page, filter) => short(store.list(env, page, filter))
  })),
  "lists the oldest first": faulty(RunStore, (store) => ({
    list: (env, page, filter) => backwards(store.list(env, page, filter))
  })),
  "ignores the offset": faulty(RunStore, (store) => ({
    list: (env, page, filter) => store.list(env, { ...page, offset: 0 }, filter)
  })),
  "ignores the status": without("status"),
  "ignores the type": without("type"),
  "ignores the start": without("since"),
  "ignores the event": without("eventId"),
  "ignores the projects": without("only"),
  "ignores the project": without("project"),
  "ignores the function": without("fn"),
  "ignores the text of errors": without("error"),
  "ignores the later runs": without("before"),
  "counts all projects": faulty(RunStore, (store) => ({ stats: (env) => store.stats(env) })),
  "counts no running runs in the total": faulty(RunStore, (store) => ({
    stats: (env, only) =>
      Effect.map(store.stats(env, only), (stats) => ({ ...stats, total_runs: stats.total_runs - stats.running }))
  })),
  "reverses logs": faulty(RunStore, (store) => ({ logs: (env, id, page) => backwards(store.logs(env, id, page)) })),
  "rounds usage": faulty(RunStore, (store) => ({
    get: (env, id) =>
      Effect.map(store.get(env, id), (run) => ({ ...run, cpu_ms: run.cpu_ms === null ? null : Math.round(run.cpu_ms) }))
  }))
})

detects("the contract of events", eventStoreChecks, {
  "reads other environments": faulty(EventStore, (store) => ({
    get: (env, id) => Effect.catchTag(store.get(env, id), "NotFound", () => store.get(envId(1), id))
  })),
  "returns the page size as the total": faulty(EventStore, (store) => ({
    list: (env, page, only) => short(store.list(env, page, only))
  })),
  "lists the oldest first": faulty(EventStore, (store) => ({
    list: (env, page, only) => backwards(store.list(env, page, only))
  })),
  "treats no types as all types": faulty(EventStore, (store) => ({
    list: (env, page, only) => (only?.length === 0 ? store.list(env, page) : store.list(env, page, only))
  }))
})

detects("the contract of projects", projectStoreChecks, {
  "reads other environments": faulty(ProjectStore, (store) => ({
    get: (env, id) => Effect.catchTag(store.get(env, id), "NotFound", () => store.get(envId(1), id))
  })),
  "removes from other environments": faulty(ProjectStore, (store) => ({
    remove: (_, id, time) => store.remove(envId(1), id, time)
  })),
  "returns the page size as the total": faulty(ProjectStore, (store) => ({
    list: (env, page, only) => short(store.list(env, page, only))
  })),
  "accepts existing names": faulty(ProjectStore, (store) => ({
    insert: (project) => Effect.catchTag(store.insert(project), "Taken", () => Effect.void),
    update: (project) => Effect.catchTag(store.update(project), "Taken", () => Effect.void)
  }))
})

detects("the contract of builds", buildStoreChecks, {
  "reads other environments": faulty(BuildStore, (store) => ({
    get: (env, id) => Effect.catchTag(store.get(env, id), "NotFound", () => store.get(envId(1), id))
  })),
  "reads other projects": faulty(BuildStore, (store) => ({ get: (env, id) => store.get(env, id) })),
  "lists the oldest first": faulty(BuildStore, (store) => ({
    list: (env, page, filter) => backwards(store.list(env, page, filter))
  })),
  "accepts claimed endpoints": faulty(BuildStore, (store) => ({
    deploy: (build, manifest, now) => Effect.catchTag(store.deploy(build, manifest, now), "Taken", () => Effect.void)
  })),
  "deploys partially when an endpoint is claimed": faulty(BuildStore, (store) => ({
    deploy: (build, manifest, now) =>
      Effect.tapError(store.deploy(build, manifest, now), (error) =>
        error._tag === "Taken" ? store.deploy(build, emptyManifest, now) : Effect.void
      )
  }))
})

detects("the contract of tenants", tenantStoreChecks, {
  "accepts existing slugs": faulty(TenantStore, (store) => ({
    insertOrg: (org) => Effect.catchTag(store.insertOrg(org), "Taken", () => Effect.void)
  })),
  "finds an environment by its name alone": faulty(TenantStore, (store) => ({
    findEnv: (slug, name) => Effect.catchTag(store.findEnv(slug, name), "NotFound", () => store.findEnv("acme", name))
  })),
  "lists the oldest first": faulty(TenantStore, (store) => ({ listOrgs: (page) => backwards(store.listOrgs(page)) })),
  "returns the page size as the total": faulty(TenantStore, (store) => ({
    listEnvs: (org, page) => short(store.listEnvs(org, page))
  }))
})

detects("the contract of API keys", apiKeyStoreChecks, {
  "removes from other environments": faulty(ApiKeyStore, (store) => ({
    remove: (_, id) => store.remove(envId(1), id)
  })),
  "replaces an existing key": faulty(ApiKeyStore, (store) => ({
    insert: (key) =>
      Effect.andThen(
        Effect.catchTag(store.remove(envId(1), key.api_key_id), "NotFound", () => Effect.void),
        store.insert(key)
      )
  })),
  "does not disable keys": faulty(ApiKeyStore, (store) => ({
    update: (key) => store.update({ ...key, enabled: true })
  }))
})

detects("the contract of blobs", blobStoreChecks, {
  "keeps the caller's buffer": faulty(BlobStore, () => {
    const blobs = new Map<string, Uint8Array>()
    return {
      put: (key, bytes) => Effect.sync(() => void blobs.set(key, bytes)),
      get: (key) =>
        Effect.fromNullishOr(blobs.get(key)).pipe(Effect.mapError(() => new NotFound({ resource: "blob" }))),
      remove: (key) => Effect.sync(() => void blobs.delete(key))
    }
  }),
  "returns empty bytes for an unknown key": faulty(BlobStore, (store) => ({
    get: (key) => Effect.catchTag(store.get(key), "NotFound", () => Effect.succeed(new Uint8Array()))
  })),
  "never removes": faulty(BlobStore, () => ({ remove: () => Effect.void })),
  "never replaces": faulty(BlobStore, (store) => ({
    put: (key, bytes) => Effect.catchTag(Effect.asVoid(store.get(key)), "NotFound", () => store.put(key, bytes))
  }))
})
