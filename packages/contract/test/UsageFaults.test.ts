/** Stores of usage, rates and journals with one fault each, which the contracts must detect. */
import { journalStoreChecks, rateStoreChecks, runStoreChecks, usageStoreChecks } from "@weft/contract"
import { JournalStore, monthOf, RateStore, RunStore, UsageStore } from "@weft/core/adapter"
import { Effect } from "effect"
import { at, envId, nodeId, orgId, runId } from "../src/Samples.ts"
import { detects, faulty } from "./Faults.ts"

const beyond = runId(0xffff_ffff)

detects("the contract of usage", usageStoreChecks, {
  "mixes all organizations": faulty(UsageStore, (store) => ({
    runs: (_, month) => store.runs(orgId(1), month)
  })),
  "counts UTF-16 code units": faulty(UsageStore, (store) => ({
    runs: (org, month) =>
      Effect.map(store.runs(org, month), (usage) => ({
        ...usage,
        call_storage_bytes: usage.call_storage_bytes - (usage.call_storage_bytes > 100 ? 1 : 0)
      }))
  })),
  "does not count removed runs": faulty(UsageStore, (store) => ({
    runs: (org, month) =>
      Effect.map(store.runs(org, month), (usage) => ({ ...usage, runs_this_period: usage.call_count }))
  })),
  "counts the wrong month": faulty(UsageStore, (store) => ({
    runs: (org) => store.runs(org, monthOf(at(0)))
  })),
  "keeps the bytes of removed runs": faulty(JournalStore, () => ({ purge: () => Effect.succeed(0) }))
})

detects("the contract of the journal's purge", journalStoreChecks({ exclusive: false }), {
  "never purges": faulty(JournalStore, () => ({ purge: () => Effect.succeed(0) })),
  "purges more runs than the limit": faulty(JournalStore, (store) => ({
    purgeWhole: (before) =>
      Effect.map(
        Effect.forEach([...before.keys()], (env) => store.purge(env, beyond, 1000)),
        (counts) => counts.reduce((sum, count) => sum + count, 0)
      )
  })),
  "ignores the id of purge": faulty(JournalStore, (store) => ({
    purge: (env, _, limit) => store.purge(env, beyond, limit)
  })),
  "purges other environments": faulty(JournalStore, (store) => ({
    purge: (env, before, limit) =>
      Effect.tap(store.purge(env, before, limit), () => store.purge(envId(2), before, limit))
  })),
  "ignores the limit of purge": faulty(JournalStore, (store) => ({
    purge: (env, before) => store.purge(env, before, 1000)
  })),
  "purges running runs": faulty(JournalStore, (store) => ({
    purge: (env, before, limit) =>
      Effect.andThen(store.reap(nodeId(404), at(1_000_000), 1000), store.purge(env, before, limit))
  }))
})

detects("the contract of runs", runStoreChecks, {
  "ignores the limit of pending deliveries": faulty(RunStore, (store) => ({ waiting: () => store.waiting(1000) })),
  "counts no pending deliveries": faulty(RunStore, () => ({ waiting: () => Effect.succeed(0) }))
})

detects("the contract of rates", rateStoreChecks, {
  "never refuses": faulty(RateStore, () => ({ take: () => Effect.succeed(0) })),
  "always refuses": faulty(RateStore, () => ({ take: () => Effect.succeed(100) })),
  "shares one bucket among all organizations": faulty(RateStore, (store) => ({
    take: (_, perSecond, now) => store.take(orgId(1), perSecond, now)
  })),
  "grants one request too many": faulty(RateStore, (store) => ({
    take: (org, perSecond, now) => store.take(org, perSecond + 1, now)
  })),
  "returns too short a wait": faulty(RateStore, (store) => ({
    take: (org, perSecond, now) => Effect.map(store.take(org, perSecond, now), (wait) => Math.max(0, wait - 1))
  })),
  "returns too long a wait": faulty(RateStore, (store) => ({
    take: (org, perSecond, now) => Effect.map(store.take(org, perSecond, now), (wait) => (wait === 0 ? 0 : wait + 1))
  })),
  "counts in fixed seconds": faulty(RateStore, (store) => ({
    take: (org, perSecond, now) => store.take(org, perSecond, at(Math.floor((now - at(0)) / 1000) * 1000))
  })),
  "uses permits for refused requests": faulty(RateStore, (store) => ({
    take: (org, perSecond, now) =>
      Effect.tap(store.take(org, perSecond, now), (wait) =>
        wait === 0 ? Effect.void : store.take(org, perSecond, at(now - at(0) + wait))
      )
  })),
  "grants again when the clock goes back": faulty(RateStore, (store) => {
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
