/** Events about runs that failed for good, and the functions that `onFailure` names, with virtual time. */
import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Builds, type Env, Events, RunControl } from "@weft/core"
import { type TrustedFunction, type TrustedModule, trustedZip } from "@weft/core/testing"
import { Effect, type Layer } from "effect"
import { TestClock } from "effect/testing"
import { allRuns, asHost, deployed, publish, runsOf, settle, world } from "../../world.ts"

type Received = Readonly<Record<string, unknown>>

interface FailureEvent {
  readonly event_type: string
  readonly stream_id: string
  readonly event_data: Received
}

/** Data of events that functions received, by the name of the function. */
const received: Array<readonly [string, FailureEvent]> = []

const receives = (name: string, meta: object = {}): TrustedFunction =>
  Object.assign((event: FailureEvent) => void received.push([name, event]), { meta })

const fails = (meta: object, error: Error = new RangeError("declined")): TrustedFunction =>
  Object.assign(
    () => {
      throw error
    },
    { meta }
  )

/** A durable function whose second round fails. */
const rounds = (onFailure: string): TrustedFunction =>
  Object.assign(
    async (
      round: unknown,
      svc: {
        readonly sleep: (name: string, duration: string) => Promise<void>
        readonly continueAsNew: (args: ReadonlyArray<number>) => Promise<never>
      }
    ) => {
      if (round === 2) throw new RangeError("the second round")
      await svc.sleep("pause", "1h")
      return svc.continueAsNew([2])
    },
    { meta: { event: "rounds", durable: true, onFailure } }
  )

const twice = { attempts: 2, delay: "1s", jitter: false }

const shop: TrustedModule = {
  main: {
    pay: fails({ event: "pay", retry: twice, onFailure: "main/refund" }),
    refund: receives("refund"),
    mail: fails({ event: "mail", retry: twice }),
    alarm: receives("alarm", { event: "svc:run:failed", if: 'event.data.var != "quiet"' }),
    everything: receives("everything", { event: "*" }),
    quiet: fails({ event: "quiet" }),
    works: Object.assign(() => 1, { meta: { event: "works", onFailure: "main/refund" } }),
    rounds: rounds("main/refund"),
    late: Object.assign(() => 1, { meta: { event: "late", ttl: "1m", throttle: { limit: 1, period: "2m" } } })
  }
}

const modules = {
  shop,
  next: { main: { rounds: rounds("main/apology"), apology: receives("apology") } },
  bare: { main: { mail: fails({ event: "mail" }), everything: receives("everything", { event: "*" }) } },
  broken: {
    main: {
      mail: fails({ event: "mail" }),
      alarm: fails({ event: "svc:run:failed", retry: twice }),
      pay: fails({ event: "pay", onFailure: "main/refund" }),
      refund: fails({ onFailure: "main/alarm" })
    }
  },
  loop: {
    main: {
      mail: fails({ event: "mail" }),
      again: Object.assign(
        (_: unknown, svc: { readonly events: { readonly publish: (event: object) => Promise<unknown> } }) =>
          svc.events.publish({ type: "mail", data: null }),
        { meta: { event: "svc:run:failed" } }
      )
    }
  },
  waiting: {
    main: {
      mail: fails({ event: "mail" }),
      waits: Object.assign(
        (_: unknown, svc: { readonly waitForEvent: (name: string, wait: object) => Promise<unknown> }) =>
          svc.waitForEvent("failed", { event: "svc:run:failed", match: { var: "mail" } }),
        { meta: { event: "begin", durable: true } }
      )
    }
  }
}

type World = Layer.Success<ReturnType<typeof world>>

const check = <E>(claim: string, key: keyof typeof modules, body: (env: Env) => Effect.Effect<void, E, World>) =>
  it.effect(claim, () => {
    received.length = 0
    return Effect.provide(Effect.flatMap(deployed(key), body), world(modules))
  })

const failuresOf = (env: Env) =>
  Effect.map(
    asHost(
      env,
      Events.use((events) => events.list({ limit: 100, offset: 0 }))
    ),
    ({ items }) => items.filter(({ event_type }) => event_type === "svc:run:failed")
  )

const pass = (ms: number) => Effect.andThen(TestClock.adjust(ms), Effect.andThen(settle, settle))

/** Deploys a module in the project of the test. */
const deploy = (env: Env, key: keyof typeof modules) => {
  const zip = trustedZip(key)
  const hash = createHash("sha256").update(zip).digest("hex")
  return asHost(
    env,
    Effect.gen(function* () {
      const { build } = yield* Builds.use((builds) => builds.upload("shop", { zip, hash }))
      yield* Builds.use((builds) => builds.deploy("shop", build.build_id))
    })
  )
}

const names = () => received.map(([name]) => name)

describe("a run whose last attempt failed", () => {
  check("publishes one event with its error, on its stream", "shop", (env) =>
    Effect.gen(function* () {
      const { event_id, stream_id } = yield* publish(env, "mail", { to: "ada" })
      yield* settle
      assert.deepStrictEqual(yield* failuresOf(env), [])
      yield* pass(1000)
      const [last] = yield* runsOf(env, event_id)
      const [[name, failure] = ["", null], ...others] = received.filter(([name]) => name !== "everything")
      assert.deepStrictEqual([name, others], ["alarm", []])
      assert.deepInclude(failure, { event_type: "svc:run:failed", stream_id })
      assert.deepInclude(failure?.event_data, {
        ...{ run_id: last?.run_id, project_name: "shop", build_id: last?.build_id, ns: "main", var: "mail" },
        ...{ run_type: "event", status: "failed", attempt: 2 },
        event: { event_id, event_type: "mail", stream_id }
      })
      assert.deepInclude(failure?.event_data.error, { name: "RangeError", message: "declined" })
      assert.lengthOf(yield* failuresOf(env), 1)
      const [handled] = (yield* allRuns(env)).filter((run) => run.var === "alarm")
      assert.strictEqual(handled?.origin_run_id, last?.run_id)
    })
  )

  check("calls the function of onFailure once, with the data of its event", "shop", (env) =>
    Effect.gen(function* () {
      const { event_id } = yield* publish(env, "pay", { order: "o-1" })
      yield* settle
      assert.deepStrictEqual(names(), ["everything"])
      yield* pass(1000)
      assert.deepStrictEqual(names().sort(), ["alarm", "everything", "refund"])
      const refund = received.find(([name]) => name === "refund")?.[1].event_data
      assert.deepInclude(refund?.event, { event_id, event_data: { order: "o-1" } })
      assert.deepInclude(refund?.error, { name: "RangeError" })
      yield* pass(3_600_000)
      assert.lengthOf(received, 3)
    })
  )

  check("calls the function of its own build after a deployment", "shop", (env) =>
    Effect.gen(function* () {
      yield* publish(env, "pay")
      yield* settle
      yield* deploy(env, "bare")
      yield* pass(1000)
      assert.deepStrictEqual(names(), ["everything", "refund"])
    })
  )

  check("calls the function of the build that its next run has", "shop", (env) =>
    Effect.gen(function* () {
      yield* publish(env, "rounds")
      yield* settle
      yield* deploy(env, "next")
      yield* pass(3_601_000)
      assert.deepStrictEqual(names(), ["everything", "apology"])
      const [apology] = (yield* allRuns(env)).filter((run) => run.var === "apology")
      assert.strictEqual(apology?.status, "succeeded")
    })
  )

  check("calls no function that the build of a replay lacks", "shop", (env) =>
    Effect.gen(function* () {
      yield* publish(env, "rounds")
      yield* pass(3_601_000)
      const [failed] = (yield* allRuns(env)).filter((run) => run.var === "rounds" && run.status === "failed")
      yield* deploy(env, "next")
      yield* asHost(
        env,
        RunControl.use((control) => control.replay(failed?.run_id ?? "", "same"))
      ).pipe(Effect.forkChild)
      yield* pass(2000)
      const rounds = (yield* allRuns(env)).filter((run) => run.var === "rounds" && run.status === "failed")
      assert.lengthOf(rounds, 2)
      assert.deepStrictEqual(
        names().filter((name) => name !== "everything" && name !== "alarm"),
        ["refund"]
      )
    })
  )

  check("publishes nothing if no function handles it", "bare", (env) =>
    Effect.gen(function* () {
      yield* publish(env, "mail")
      yield* pass(1000)
      assert.deepStrictEqual(yield* failuresOf(env), [])
      assert.deepStrictEqual(names(), ["everything"])
    })
  )

  check("publishes nothing if the conditions of all handlers are false, or if it succeeded", "shop", (env) =>
    Effect.gen(function* () {
      yield* publish(env, "quiet")
      yield* publish(env, "works")
      yield* pass(1000)
      assert.deepStrictEqual(yield* failuresOf(env), [])
      assert.deepStrictEqual(names(), ["everything", "everything"])
    })
  )

  check("publishes nothing about the failure of a function that handles failures", "broken", (env) =>
    Effect.gen(function* () {
      yield* publish(env, "mail")
      yield* publish(env, "pay")
      yield* pass(3_600_000)
      assert.lengthOf(yield* failuresOf(env), 2)
      const runs = (yield* allRuns(env)).map((run) => `${run.var} ${run.attempt}`).sort()
      assert.deepStrictEqual(runs, ["alarm 1", "alarm 1", "alarm 2", "alarm 2", "mail 1", "pay 1", "refund 1"])
    })
  )

  check("ends a loop of failures at the depth of the plan", "loop", (env) =>
    Effect.gen(function* () {
      yield* publish(env, "mail")
      for (let turn = 0; turn < 60; turn++) yield* pass(1000)
      const before = (yield* failuresOf(env)).length
      yield* pass(60_000)
      assert.lengthOf(yield* failuresOf(env), before)
      assert.isAbove(before, 1)
    })
  )

  check("is received by a run that waits for it", "waiting", (env) =>
    Effect.gen(function* () {
      const { event_id } = yield* publish(env, "begin")
      yield* pass(2000)
      yield* publish(env, "mail")
      yield* pass(2000)
      const [run] = yield* runsOf(env, event_id)
      assert.strictEqual(run?.status, "succeeded")
      assert.deepInclude(JSON.parse(run?.result ?? "null").event_data.error, { message: "declined" })
    })
  )
})

describe("a run that expired", () => {
  check("publishes an event", "shop", (env) =>
    Effect.gen(function* () {
      yield* publish(env, "late")
      yield* publish(env, "late")
      yield* pass(120_000)
      const alarm = received.find(([name]) => name === "alarm")?.[1].event_data
      assert.deepInclude(alarm, { var: "late", status: "cancelled" })
      assert.deepInclude(alarm?.error, { name: "Expired" })
    })
  )
})
