/** Stores of usage and rates with one fault each, and journals that purge wrongly. */
import { journalStoreChecks, rateStoreChecks, runStoreChecks, usageStoreChecks } from "@weft/contract"
import { JournalStore, monthOf, RateStore, RunStore, UsageStore } from "@weft/core"
import { Effect } from "effect"
import { at, envId, nodeId, orgId, runId } from "../src/Samples.ts"
import { faulty, notices } from "./Faults.ts"

const beyond = runId(0xffff_ffff)

notices("the contract of usage", usageStoreChecks, {
  "takes all organizations for one": faulty(UsageStore, (store) => ({
    runs: (_, month) => store.runs(orgId(1), month)
  })),
  "counts in UTF-16": faulty(UsageStore, (store) => ({
    runs: (org, month) =>
      Effect.map(store.runs(org, month), (usage) => ({
        ...usage,
        call_storage_bytes: usage.call_storage_bytes - (usage.call_storage_bytes > 100 ? 1 : 0)
      }))
  })),
  "forgets runs that were removed": faulty(UsageStore, (store) => ({
    runs: (org, month) =>
      Effect.map(store.runs(org, month), (usage) => ({ ...usage, runs_this_period: usage.call_count }))
  })),
  "counts for the month that was": faulty(UsageStore, (store) => ({
    runs: (org) => store.runs(org, monthOf(at(0)))
  })),
  "keeps the room of what was removed": faulty(JournalStore, () => ({ purge: () => Effect.succeed(0) }))
})

notices("the contract of the journal's purge", journalStoreChecks({ exclusive: false }), {
  "never purges": faulty(JournalStore, () => ({ purge: () => Effect.succeed(0) })),
  "purges more at once than may go": faulty(JournalStore, (store) => ({
    purgeWhole: (before) =>
      Effect.map(
        Effect.forEach([...before.keys()], (env) => store.purge(env, beyond, 1000)),
        (counts) => counts.reduce((sum, count) => sum + count, 0)
      )
  })),
  "purges whatever the id": faulty(JournalStore, (store) => ({
    purge: (env, _, limit) => store.purge(env, beyond, limit)
  })),
  "purges other environments": faulty(JournalStore, (store) => ({
    purge: (env, before, limit) =>
      Effect.tap(store.purge(env, before, limit), () => store.purge(envId(2), before, limit))
  })),
  "ignores the limit of purge": faulty(JournalStore, (store) => ({
    purge: (env, before) => store.purge(env, before, 1000)
  })),
  "purges what has not ended": faulty(JournalStore, (store) => ({
    purge: (env, before, limit) =>
      Effect.andThen(store.reap(nodeId(404), at(1_000_000), 1000), store.purge(env, before, limit))
  }))
})

notices("the contract of runs", runStoreChecks, {
  "counts waiting deliveries without a limit": faulty(RunStore, (store) => ({ waiting: () => store.waiting(1000) })),
  "counts no waiting deliveries": faulty(RunStore, () => ({ waiting: () => Effect.succeed(0) }))
})

notices("the contract of rates", rateStoreChecks, {
  "never refuses": faulty(RateStore, () => ({ take: () => Effect.succeed(0) })),
  "always refuses": faulty(RateStore, () => ({ take: () => Effect.succeed(100) })),
  "shares one bucket among all": faulty(RateStore, (store) => ({
    take: (_, perSecond, now) => store.take(orgId(1), perSecond, now)
  })),
  "grants a request too many": faulty(RateStore, (store) => ({
    take: (org, perSecond, now) => store.take(org, perSecond + 1, now)
  })),
  "names too short a wait": faulty(RateStore, (store) => ({
    take: (org, perSecond, now) => Effect.map(store.take(org, perSecond, now), (wait) => Math.max(0, wait - 1))
  })),
  "names too long a wait": faulty(RateStore, (store) => ({
    take: (org, perSecond, now) => Effect.map(store.take(org, perSecond, now), (wait) => (wait === 0 ? 0 : wait + 1))
  })),
  "counts by the whole second": faulty(RateStore, (store) => ({
    take: (org, perSecond, now) => store.take(org, perSecond, at(Math.floor((now - at(0)) / 1000) * 1000))
  })),
  "takes what it refuses": faulty(RateStore, (store) => ({
    take: (org, perSecond, now) =>
      Effect.tap(store.take(org, perSecond, now), (wait) =>
        wait === 0 ? Effect.void : store.take(org, perSecond, at(now - at(0) + wait))
      )
  })),
  "trusts a clock that goes back": faulty(RateStore, (store) => {
    let last = at(0)
    let behind = 0
    return {
      take: (org, perSecond, now) => {
        if (now < last) behind += last - now
        last = now
        return store.take(org, perSecond, at(now - at(0) + behind + (behind > 0 ? 1000 : 0)))
      }
    }
  })
})
