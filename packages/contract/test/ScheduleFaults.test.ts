/** Stores of schedules with one fault each, which the contract must detect. */
import { scheduleStoreChecks } from "@weft/contract"
import { AdmissionStore, BuildStore, ProjectStore, ScheduleStore, type Tick, TickStore } from "@weft/core/adapter"
import { Effect } from "effect"
import { at, envId, everything } from "../src/Samples.ts"
import { detects, faulty } from "./Faults.ts"

detects("the contract of schedules", scheduleStoreChecks, {
  "lists the oldest first": faulty(ScheduleStore, (store) => ({
    list: (env, page, only) =>
      Effect.map(store.list(env, page, only), ({ items, total }) => ({ items: [...items].reverse(), total }))
  })),
  "returns the page size as the total": faulty(ScheduleStore, (store) => ({
    list: (env, page, only) => Effect.map(store.list(env, page, only), ({ items }) => ({ items, total: items.length }))
  })),
  "ignores the projects of a list": faulty(ScheduleStore, (store) => ({ list: (env, page) => store.list(env, page) })),
  "ignores the projects of a removal": faulty(ScheduleStore, (store) => ({
    remove: (env, id) => store.remove(env, id)
  })),
  "removes from other environments": faulty(ScheduleStore, (store) => ({
    remove: (_, id, only) => store.remove(envId(1), id, only)
  })),
  "accepts removals of missing schedules": faulty(ScheduleStore, (store) => ({
    remove: (env, id, only) => Effect.catchTag(store.remove(env, id, only), "NotFound", () => Effect.void)
  })),
  "returns schedules that are not due": faulty(ScheduleStore, (store) => ({
    due: (now, limit) => store.due(at(now - at(0) + 1), limit)
  })),
  "ignores the limit": faulty(ScheduleStore, (store) => ({ due: (now) => store.due(now, 1000) })),
  "returns due schedules in any order": faulty(ScheduleStore, (store) => ({
    due: (now, limit) => Effect.map(store.due(now, limit), (due) => [...due].reverse())
  })),
  "uses the next tick of postponed schedules": faulty(ScheduleStore, (store) => ({
    due: (now, limit) =>
      Effect.map(store.due(at(1_000_000_000_000), 1000), (all) =>
        all.filter(({ next_at }) => next_at <= now).slice(0, limit)
      )
  })),
  "never returns the next due time": faulty(ScheduleStore, () => ({ nextDueAt: Effect.succeed(null) })),

  "has no limit": faulty(AdmissionStore, (store) => ({
    admit: (admission) =>
      store.admit(
        admission.schedule?._tag === "Created"
          ? { ...admission, schedule: { ...admission.schedule, max: 1_000_000 } }
          : admission
      )
  })),
  "ignores the change of schedules": faulty(AdmissionStore, (store) => ({
    admit: ({ schedule, ...admission }) => store.admit(admission)
  })),
  "stores the event of a refused change": faulty(AdmissionStore, (store) => ({
    admit: (admission) =>
      Effect.tap(store.admit(admission), (admitted) => {
        const { schedule, ...rest } = admission
        return admitted._tag === "Refused" ? store.admit({ ...rest, request: null }) : Effect.void
      })
  })),
  "claims the key of a refused request": faulty(AdmissionStore, (store) => ({
    admit: (admission) =>
      Effect.tap(store.admit(admission), (admitted) => {
        const { schedule, ...rest } = admission
        return admitted._tag === "Refused" ? store.admit(rest) : Effect.void
      })
  })),
  "cancels in other environments": faulty(AdmissionStore, (store) => ({
    admit: (admission) =>
      store.admit(
        admission.schedule?._tag === "Cancelled"
          ? { ...admission, schedule: { ...admission.schedule, env_id: envId(1) } }
          : admission
      )
  })),

  "fires without a fence": faulty(TickStore, (store) => ({
    fire: (ticks) =>
      Effect.map(store.fire(ticks), (counted) =>
        counted.length === ticks.length ? counted : ticks.map(({ schedule }) => schedule.schedule_id)
      )
  })),
  "loses the event of a tick": faulty(TickStore, (store) => ({
    fire: (ticks) => store.fire(ticks.map((tick) => ({ ...tick, fired: null })))
  })),
  "does not advance schedules": faulty(TickStore, (store) => ({
    fire: (ticks) => store.fire(ticks.map((tick) => ({ ...tick, next: tick.next === null ? null : tick.schedule })))
  })),
  "keeps schedules after their last tick": faulty(TickStore, (store) => ({
    fire: (ticks) => store.fire(ticks.map((tick) => ({ ...tick, next: tick.next ?? tick.schedule })))
  })),
  "fires all or nothing": faulty(TickStore, (store) => {
    const seen = new Set<string>()
    const toName = ({ schedule }: Tick) => `${schedule.schedule_id} ${schedule.next_at}`
    return {
      fire: (ticks) => {
        const isStale = ticks.some((tick) => seen.has(toName(tick)))
        for (const tick of ticks) seen.add(toName(tick))
        return isStale ? Effect.succeed([]) : store.fire(ticks)
      }
    }
  }),
  "fires only some of many ticks": faulty(TickStore, (store) => ({ fire: (ticks) => store.fire(ticks.slice(0, 50)) })),

  "replaces unchanged schedules": faulty(BuildStore, (store) => ({
    deploy: (build, manifest, now) =>
      Effect.flatMap(store.deploy(build, { ...manifest, schedules: [] }, now), () => store.deploy(build, manifest, now))
  })),
  "deploys without schedules": faulty(BuildStore, (store) => ({
    deploy: (build, manifest, now) => store.deploy(build, { ...manifest, schedules: [] }, now)
  })),
  "changes schedules in a refused deployment": faulty(BuildStore, (store) => ({
    deploy: (build, manifest, now) =>
      Effect.tapError(store.deploy(build, manifest, now), () =>
        Effect.ignore(store.deploy(build, { ...manifest, endpoints: [] }, now))
      )
  })),
  "stores other ids in the manifest than in the schedules": faulty(BuildStore, (store) => {
    const declared = new Map<string, Parameters<typeof store.deploy>[1]>()
    return {
      deploy: (build, manifest, now) => {
        declared.set(build.project_id, manifest)
        return store.deploy(build, manifest, now)
      },
      deployed: (env, project) =>
        Effect.map(store.deployed(env, project), ({ build, manifest }) => ({
          build,
          manifest: declared.get(project) ?? manifest
        }))
    }
  }),
  "keeps the schedules of a removed project": faulty(ProjectStore, (store) => ({
    remove: (env, id) => Effect.andThen(store.list(env, everything), store.get(env, id)).pipe(Effect.asVoid)
  }))
})
